//! The password file: lines of `host:port:database:user:password`.

use std::path::PathBuf;

use super::Secret;
use super::surroundings::Surroundings;

/// The password file's contents, ready for look-ups.
pub(super) struct PassFile {
    text: String,
}

/// What a password is looked up for.
pub(super) struct Entry<'a> {
    /// Host name, address, or `localhost` for the default unix socket.
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) database: &'a str,
    pub(super) user: &'a str,
}

impl PassFile {
    /// Reads the file named by `given`, or the one in the home directory. A file that is not there is an
    /// empty one; one that others can read is not used, with a warning.
    pub(super) fn open(
        given: Option<&str>,
        surroundings: &dyn Surroundings,
        warnings: &mut Vec<String>,
    ) -> Self {
        let home = || surroundings.home().map(|home| home.join(".pgpass"));
        let path = given.map(PathBuf::from).or_else(home);
        let file = path.as_deref().and_then(|path| surroundings.read(path).ok());
        let (Some(path), Some(file)) = (path, file) else {
            return Self { text: String::new() };
        };
        let name = path.display();
        if !file.plain {
            warnings.push(format!("password file \"{name}\" is not a plain file"));
        } else if file.mode & 0o077 != 0 {
            warnings.push(format!(
                "password file \"{name}\" has group or world access; permissions should be \
                 u=rw (0600) or less"
            ));
        } else {
            return Self { text: file.text };
        }
        Self { text: String::new() }
    }

    /// The password of the first line that matches.
    pub(super) fn find(&self, entry: &Entry<'_>) -> Option<Secret> {
        let port = entry.port.to_string();
        let wanted = [entry.host, &port, entry.database, entry.user];
        self.text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
            let mut rest = line;
            for wanted in wanted {
                rest = match_field(rest, wanted)?;
            }
            let (password, _) = take_field(rest);
            Some(Secret::new(password))
        })
    }
}

/// What follows the first field of `line`, if that field is `*` or stands for `wanted`.
fn match_field<'a>(line: &'a str, wanted: &str) -> Option<&'a str> {
    if let Some(rest) = line.strip_prefix("*:") {
        return Some(rest);
    }
    let (field, rest) = take_field(line);
    rest.filter(|_| field == wanted)
}

/// The first field, its escapes taken apart, and what follows its colon.
fn take_field(line: &str) -> (String, Option<&str>) {
    let mut field = String::new();
    let mut chars = line.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            ':' => return (field, Some(&line[at + 1..])),
            '\\' => field.push(chars.next().map_or('\\', |(_, c)| c)),
            c => field.push(c),
        }
    }
    (field, None)
}

#[cfg(test)]
mod tests {
    use super::super::surroundings::fake::Fake;
    use super::*;

    fn look_up(text: &str, host: &str, database: &str) -> Option<String> {
        let file = PassFile { text: text.to_owned() };
        let found = file.find(&Entry { host, port: 5432, database, user: "u" });
        found.map(|secret| secret.expose().to_owned())
    }

    #[test]
    fn the_first_matching_line_counts() {
        let text = "# h:5432:db:u:comment\nh:5433:db:u:port\nh:5432:db:x:user\n\
                    h:5432:db:u:right\n*:*:*:*:any\n";
        assert_eq!(look_up(text, "h", "db").as_deref(), Some("right"));
        assert_eq!(look_up(text, "other", "db").as_deref(), Some("any"));
    }

    #[test]
    fn colons_and_backslashes_are_escaped() {
        let text = "\\:\\:1:5432:a\\\\b:u:p\\:w\\\\:rest\nshort:line\n";
        assert_eq!(look_up(text, "::1", "a\\b").as_deref(), Some("p:w\\"));
        assert_eq!(look_up(text, "short", "line"), None);
    }

    #[test]
    fn a_file_that_others_can_read_is_not_used() {
        let fake = Fake::default().file("/home/worker/.pgpass", 0o640, "*:*:*:*:secret");
        let mut warnings = Vec::new();
        let file = PassFile::open(None, &fake, &mut warnings);
        assert!(file.text.is_empty());
        assert_eq!(
            warnings,
            [
                "password file \"/home/worker/.pgpass\" has group or world access; permissions should \
              be u=rw (0600) or less"
            ]
        );
    }
}
