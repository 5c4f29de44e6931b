//! What `docs/operating.md` tells to type, typed.

mod as_root {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::Path;

    use pgsurge_tests::cluster::prepare;
    use pgsurge_tests::hosts::Network;
    use pgsurge_tests::postgres::{Postgres, Settings, Version};
    use pgsurge_tests::process::Running;
    use pgsurge_tests::sources::repository;
    use pgsurge_tests::{program, turn};

    use super::super::fixture::PATIENCE;

    const NAMES: [&str; 4] = ["control", "load1", "load2", "db"];

    /// Copies to the "home" of another host, which is a folder beside one's own.
    const SCP: &str = "#!/bin/sh\nset -e\n[ \"$1\" = -r ]\ncp -r \"$2\" \"../${3%%:*}/${3#*:}\"\n";

    /// The hosts, each with a folder to be at home in.
    struct Site {
        network: Network,
        homes: tempfile::TempDir,
    }

    impl Site {
        fn new() -> Self {
            let homes = tempfile::tempdir().unwrap();
            for name in NAMES {
                fs::create_dir(homes.path().join(name)).unwrap();
            }
            let bin = homes.path().join("bin");
            fs::create_dir(&bin).unwrap();
            symlink(program::pgsurge(), bin.join("pgsurge")).unwrap();
            fs::write(bin.join("scp"), SCP).unwrap();
            fs::set_permissions(bin.join("scp"), fs::Permissions::from_mode(0o755)).unwrap();
            Self { network: Network::named(&NAMES), homes }
        }

        fn home(&self, name: &str) -> std::path::PathBuf {
            self.homes.path().join(name)
        }

        /// Types a line at a host's shell.
        fn types(&self, host: &str, line: &str) -> Running {
            let index = NAMES.iter().position(|name| *name == host).unwrap();
            let mut shell = prepare::<&str>(self.network.host(index).command("sh"), &[]);
            let path = std::env::var("PATH").unwrap_or_default();
            let bin = self.homes.path().join("bin");
            shell.args(["-c", &format!("exec {line}")]).current_dir(self.home(host));
            shell.env("PATH", format!("{}:{path}", bin.display()));
            Running::start(format!("{host}$ {line}"), &mut shell)
        }
    }

    /// The lines of the first block below a heading: hosts, and what is typed there.
    fn commands(page: &str, heading: &str) -> Vec<(Vec<String>, String)> {
        let section = page.split(heading).nth(1).expect("the heading is there");
        let block = section.split("```").nth(1).expect("a block follows");
        let lines = block.lines().filter(|line| !line.trim().is_empty());
        let split = lines.map(|line| {
            let (hosts, command) = line.rsplit_once("$ ").expect("a prompt");
            let hosts = hosts.split_whitespace().map(|host| host.trim_end_matches('$').to_owned());
            (hosts.collect(), command.trim().to_owned())
        });
        split.collect()
    }

    fn page() -> String {
        fs::read_to_string(repository().join("docs/operating.md")).unwrap()
    }

    #[test]
    fn tls_over_three_hosts_takes_the_five_commands_of_the_page() {
        let _turn = turn::take();
        let site = Site::new();
        let settings = Settings::new()
            .set("listen_addresses", "*")
            .hba(&["host all all samenet trust"])
            .port(5432);
        let server = site.network.host(3).within(|| Postgres::start(Version::V15, &settings));
        server.execute("create database bench");
        let page = page();
        let init = page.split('`').find(|code| code.starts_with("pgsurge init")).unwrap();
        let _ = site.types("control", init).wait(PATIENCE).expect_code(0);

        let commands = commands(&page, "TLS over three hosts in five commands");
        assert_eq!(commands.len(), 5, "{commands:?}");
        let mut agents = Vec::new();
        let mut last = None;
        for (hosts, command) in &commands {
            for host in hosts {
                let typed = site.types(host, command);
                if command.starts_with("pgsurge agent") {
                    agents.push(typed);
                } else {
                    last = Some(typed.wait(PATIENCE).expect_code(0));
                }
            }
        }
        let report = last.unwrap();
        assert_eq!(agents.len(), 2);
        assert!(report.stdout.contains("number of clients: 20"), "{report}");
        assert!(report.stdout.contains("20 of 20"), "{report}");
        assert!(!report.stderr.contains("without TLS"), "{report}");
        let kept = site.home("control").join("pgsurge-results");
        assert!(kept.is_dir(), "no results in {}", kept.display());
    }

    /// A folder of so many bytes on which nothing else lies, or one that cannot be written; only the command sees it.
    fn certs_in(options: &str) -> pgsurge_tests::process::Finished {
        let folder = tempfile::tempdir().unwrap();
        let script = format!(
            "mount -t tmpfs -o {options} none {folder} && exec {pgsurge} certs {folder}/certs \
             --coordinator control --agents 1",
            folder = folder.path().display(),
            pgsurge = Path::new(&program::pgsurge()).display(),
        );
        let mut command = pgsurge_tests::process::command("unshare");
        command.args(["--mount", "sh", "-c", &script]);
        Running::run("certs", &mut command, PATIENCE)
    }

    #[test]
    fn certificates_that_do_not_fit_on_the_disk_are_told() {
        // Room for the folders and one file.
        let full = certs_in("size=4k").expect_code(1);
        assert!(full.stderr.contains("No space left on device"), "{full}");
        assert!(full.stderr.contains("cannot write") && full.stdout.is_empty(), "{full}");
        let read_only = certs_in("ro").expect_code(1);
        assert!(read_only.stderr.contains("Read-only file system"), "{read_only}");
    }
}
