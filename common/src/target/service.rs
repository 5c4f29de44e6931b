//! Connection service files: `[name]` and the options below it.

use std::io;
use std::path::{Path, PathBuf};

use super::error::TargetError;
use super::keywords;
use super::options::Options;
use super::surroundings::Surroundings;

const WHAT: &str = "service file";

/// Sets what the service asked for defines, where it is not set yet.
pub(super) fn apply(
    options: &mut Options,
    surroundings: &dyn Surroundings,
) -> Result<(), TargetError> {
    let Some(service) = setting(options, surroundings, "service", "PGSERVICE") else {
        return Ok(());
    };
    let explicit =
        setting(options, surroundings, "servicefile", "PGSERVICEFILE").map(PathBuf::from);
    let own = match &explicit {
        Some(path) => Some(path.clone()),
        None => surroundings.home().map(|home| home.join(".pg_service.conf")),
    };
    if let Some(path) = own
        && let Some(text) = read(surroundings, &path, explicit.is_some())?
        && find(&text, &service, &path, options)?
    {
        return Ok(());
    }
    let directory = surroundings.env("PGSYSCONFDIR").map(PathBuf::from);
    let path = directory.unwrap_or_else(|| surroundings.system_directory()).join("pg_service.conf");
    match read(surroundings, &path, false)? {
        Some(text) if find(&text, &service, &path, options)? => Ok(()),
        _ => Err(TargetError::UnknownService(service)),
    }
}

fn setting(
    options: &Options,
    surroundings: &dyn Surroundings,
    name: &str,
    env: &str,
) -> Option<String> {
    options.get(name).map(str::to_owned).or_else(|| surroundings.env(env))
}

fn read(
    surroundings: &dyn Surroundings,
    path: &Path,
    required: bool,
) -> Result<Option<String>, TargetError> {
    match surroundings.read(path) {
        Ok(file) => Ok(Some(file.text)),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(TargetError::file(WHAT, path, format!("could not be read: {error}")))
        }
        Err(_) if required => Err(TargetError::file(WHAT, path, "not found")),
        Err(_) => Ok(None),
    }
}

/// Looks for a service in one file and takes its options over; whether it is there.
fn find(
    text: &str,
    service: &str,
    path: &Path,
    options: &mut Options,
) -> Result<bool, TargetError> {
    let mut inside = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_matches(|c: char| c.is_ascii_whitespace());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            if inside {
                return Ok(true);
            }
            inside = header.split_once(']').is_some_and(|(name, _)| name == service);
            continue;
        }
        if !inside {
            continue;
        }
        let wrong = |problem: &str| {
            Err(TargetError::file(WHAT, path, format!("has {problem} in line {number}")))
        };
        match line.split_once('=') {
            Some(("service" | "servicefile", _)) => {
                return wrong("a nested \"service\" specification");
            }
            Some((name, value)) if keywords::find(name).is_some() => {
                options.set_default(name, value.to_owned())?;
            }
            _ => return wrong("a syntax error"),
        }
    }
    Ok(inside)
}

#[cfg(test)]
mod tests {
    use super::super::surroundings::fake::Fake;
    use super::*;

    const FILE: &str =
        "# services\n[other]\nhost=wrong\n\n[mine]\n  host=db1  \nport=7\n[next]\nport=8\n";

    fn apply_to(given: &str, surroundings: &Fake) -> Result<Options, String> {
        let mut options = Options::parse(given).ok().flatten().unwrap_or_default();
        apply(&mut options, surroundings).map_err(|error| error.to_string())?;
        Ok(options)
    }

    #[test]
    fn a_service_fills_what_is_not_set() {
        let fake = Fake::default().file("/home/worker/.pg_service.conf", 0o644, FILE);
        let options = apply_to("service=mine port=9", &fake).unwrap_or_default();
        assert_eq!((options.get("host"), options.get("port")), (Some("db1"), Some("9")));
    }

    #[test]
    fn the_system_wide_file_is_the_second_choice() {
        let fake = Fake::default()
            .env("PGSERVICE", "mine")
            .file("/home/worker/.pg_service.conf", 0o644, "[other]\n")
            .file("/etc/postgresql-common/pg_service.conf", 0o644, FILE);
        let options = apply_to("", &fake).unwrap_or_default();
        assert_eq!(options.get("port"), Some("7"));
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let bad = Fake::default().env("PGSERVICEFILE", "/f").file("/f", 0o644, "[a]\nnope=1\n");
        let nested =
            Fake::default().env("PGSERVICEFILE", "/f").file("/f", 0o644, "[a]\nservice=b\n");
        let missing = Fake::default().env("PGSERVICEFILE", "/f");
        let cases = [
            (&Fake::default(), "definition of service \"a\" not found"),
            (&missing, "service file \"/f\" not found"),
            (&bad, "service file \"/f\" has a syntax error in line 2"),
            (&nested, "service file \"/f\" has a nested \"service\" specification in line 2"),
        ];
        for (surroundings, message) in cases {
            assert_eq!(apply_to("service=a", surroundings).err().as_deref(), Some(message));
        }
    }
}
