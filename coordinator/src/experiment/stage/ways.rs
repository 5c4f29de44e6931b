//! How the server is restarted, and brought back when it does not start: by commands of the user's, or by `pg_ctl` where its
//! data directory is on this host.

use std::io::{self, Read as _, Seek as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::Command;

use super::commands::{run, shell};
use super::server::Original;

/// What the user offers.
#[derive(Clone, Debug)]
pub struct Ways {
    /// Restarts the server.
    pub restart: Option<String>,
    /// Brings back settings with which the server starts.
    pub recover: Option<String>,
    /// The server's, if it is on this host.
    pub data_directory: Option<PathBuf>,
    /// How long a restart may take.
    pub patience: Duration,
    /// Where commands print to.
    pub log: PathBuf,
    /// Where the server's standard error goes, if that is a file; `pg_ctl` would not keep it.
    pub server_log: Option<PathBuf>,
}

/// How much of a log is looked at.
const WORDS_MOST: u64 = 65_536;

/// The file that ALTER SYSTEM writes.
const FILE: &str = "postgresql.auto.conf";

impl Ways {
    /// Notes where the server's standard error goes.
    pub(super) fn note_log(&mut self) {
        let Some(data) = &self.data_directory else { return };
        let pid = std::fs::read_to_string(data.join("postmaster.pid")).ok();
        let pid = pid.and_then(|text| text.lines().next()?.trim().parse::<u32>().ok());
        let log = pid.and_then(|pid| std::fs::read_link(format!("/proc/{pid}/fd/2")).ok());
        self.server_log = log.filter(|log| log.is_file());
    }

    /// A restart is possible.
    #[must_use]
    pub fn can_restart(&self) -> bool {
        self.restart.is_some() || self.data_directory.is_some()
    }

    /// So is getting back from a setting that keeps the server from starting.
    #[must_use]
    pub fn can_recover(&self) -> bool {
        self.recover.is_some() || self.data_directory.is_some()
    }

    /// Restarts, or starts a server that is down.
    pub(super) async fn restart(&self) -> Result<(), String> {
        match (&self.restart, &self.data_directory) {
            (Some(command), _) => {
                let mut command = shell(command, &[]);
                let run = run(&mut command, &self.log, self.patience);
                run.await.map_err(|why| format!("--restart-cmd {why}"))
            }
            (None, Some(data)) => {
                let mut command = pg_ctl(data, self.patience)?;
                // What pg_ctl starts inherits where it prints to; its own -l would have to be writable to the owner.
                let log = self.server_log.as_ref().unwrap_or(&self.log);
                let told = std::fs::metadata(log).map_or(0, |log| log.len());
                let run = run(&mut command, log, self.patience + Duration::from_secs(10));
                run.await.map_err(|why| format!("pg_ctl restart {why}{}", last_words(log, told)))
            }
            (None, None) => Err("there is no way to restart the server".to_owned()),
        }
    }

    /// Puts back, from outside, what the server cannot be asked to put back.
    pub(super) async fn put_back(&self, originals: &[Original]) -> Result<(), String> {
        if let Some(data) = &self.data_directory {
            let path = data.join(FILE);
            return rewrite(&path, originals)
                .map_err(|error| format!("cannot rewrite {}: {error}", path.display()));
        }
        let Some(command) = &self.recover else {
            return Err("there is no --recover-cmd".to_owned());
        };
        let mut command = shell(command, &[]);
        let run = run(&mut command, &self.log, self.patience);
        run.await.map_err(|why| format!("--recover-cmd {why}"))
    }
}

/// What the server said of why it does not start, if it said so in this log since then.
fn last_words(log: &Path, told: u64) -> String {
    let mut text = Vec::new();
    let read = std::fs::File::open(log).and_then(|mut file| {
        file.seek(io::SeekFrom::Start(told))?;
        file.take(WORDS_MOST).read_to_end(&mut text)
    });
    let text = String::from_utf8_lossy(&text);
    let fatal = text.lines().rev().find_map(|line| Some(&line[line.find("FATAL: ")?..]));
    fatal.filter(|_| read.is_ok()).map_or(String::new(), |fatal| format!(": {fatal}"))
}

/// The `pg_ctl` beside the server that ran on this directory last, as the directory's owner.
fn pg_ctl(data: &Path, patience: Duration) -> Result<Command, String> {
    let opts = data.join("postmaster.opts");
    let unreadable = |error| format!("cannot read {}: {error}", opts.display());
    let text = std::fs::read_to_string(&opts).map_err(unreadable)?;
    let program = text.split_whitespace().next().unwrap_or_default();
    let pg_ctl = Path::new(program).with_file_name("pg_ctl");
    if !pg_ctl.is_file() {
        return Err(format!("there is no pg_ctl at {}", pg_ctl.display()));
    }
    let owner =
        std::fs::metadata(data).map_err(|e| format!("cannot look at {}: {e}", data.display()))?;
    let mut command = as_owner(&pg_ctl, (owner.uid(), owner.gid()));
    command.args(["restart", "-w", "-m", "fast", "-t", &patience.as_secs().to_string(), "-D"]);
    command.arg(data).current_dir(data);
    Ok(command)
}

/// As the owner with all its groups, where we may be anybody: a server may read its key by one of them.
fn as_owner(program: &Path, (user, group): (u32, u32)) -> Command {
    const SETPRIV: &str = "/usr/bin/setpriv";
    if !rustix::process::geteuid().is_root() || user == 0 {
        return Command::new(program);
    }
    if !Path::new(SETPRIV).is_file() {
        let mut command = Command::new(program);
        command.uid(user).gid(group);
        return command;
    }
    let mut command = Command::new(SETPRIV);
    command.arg(format!("--reuid={user}")).arg(format!("--regid={group}"));
    command.arg("--init-groups").arg(program);
    command
}

/// Takes what was changed out of the file, and puts what was there before back.
fn rewrite(path: &Path, originals: &[Original]) -> io::Result<()> {
    let text = std::fs::read_to_string(path)?;
    let before = std::fs::metadata(path)?;
    let beside = path.with_extension("conf.pgsurge");
    std::fs::write(&beside, with_originals(&text, originals))?;
    std::fs::set_permissions(&beside, before.permissions())?;
    std::os::unix::fs::chown(&beside, Some(before.uid()), Some(before.gid()))?;
    std::fs::rename(&beside, path)
}

fn with_originals(text: &str, originals: &[Original]) -> String {
    let changed = |line: &&str| {
        let name = line.split('=').next().unwrap_or_default().trim();
        originals.iter().any(|original| original.name.eq_ignore_ascii_case(name))
    };
    let mut lines: Vec<String> =
        text.lines().filter(|line| !changed(line)).map(str::to_owned).collect();
    lines.extend(originals.iter().filter_map(Original::line));
    lines.push(String::new());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_file_gets_back_what_it_had() {
        let text = "# Do not edit\nwork_mem = '1MB'\nshared_buffers = '9TB'\njit = 'off'\n";
        let original = |name: &str, value: Option<&str>| Original {
            name: name.into(),
            value: value.map(str::to_owned),
        };
        let originals = [original("shared_buffers", None), original("work_mem", Some("it's"))];
        assert_eq!(
            with_originals(text, &originals),
            "# Do not edit\njit = 'off'\nwork_mem = 'it''s'\n"
        );
    }
}
