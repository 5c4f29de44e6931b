//! The certificates of a fleet, as they lie on disk.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use jiff::Timestamp;
use pgsurge_proto::tls::Identity;

use super::{CertsError, Wanted, make};

fn wanted(folder: &Path, names: &[&str], agents: u32) -> Wanted {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Wanted { folder: folder.to_owned(), names, agents, days: 30, renew: false }
}

fn texts(folder: &Path) -> Vec<String> {
    let names = ["ca.crt", "tls.crt", "tls.key"];
    names.map(|name| fs::read_to_string(folder.join(name)).unwrap()).to_vec()
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string());
    let mut names: Vec<_> = entries.map(Result::unwrap).collect();
    names.sort();
    names
}

#[test]
fn each_holder_gets_a_folder_that_is_ready_for_use() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("deep/certs");
    let report = make(&wanted(&root, &["control", "10.0.0.1"], 2), Timestamp::now()).unwrap();
    assert!(report.authority.is_some_and(|until| until > report.until));
    assert_eq!(entries(&root), ["agent-1", "agent-2", "authority", "coordinator"]);
    for name in ["agent-1", "agent-2", "coordinator"] {
        let own = root.join(name);
        assert_eq!(entries(&own), ["ca.crt", "tls.crt", "tls.key"]);
        let [ca, cert, key] = ["ca.crt", "tls.crt", "tls.key"].map(|file| own.join(file));
        let identity = Identity::read(&ca, &cert, &key).unwrap();
        let fits = if name == "coordinator" {
            identity.server().map(drop)
        } else {
            identity.client().map(drop)
        };
        fits.unwrap();
    }
    assert_ne!(texts(&root.join("agent-1"))[2], texts(&root.join("agent-2"))[2]);
}

#[test]
fn only_the_owner_can_read_keys() {
    let folder = tempfile::tempdir().unwrap();
    make(&wanted(folder.path(), &["control"], 1), Timestamp::now()).unwrap();
    let mode =
        |path: &str| fs::metadata(folder.path().join(path)).unwrap().permissions().mode() & 0o777;
    for key in ["authority/ca.key", "coordinator/tls.key", "agent-1/tls.key"] {
        assert_eq!(mode(key), 0o600, "{key}");
    }
    for private in ["authority", "coordinator", "agent-1"] {
        assert_eq!(mode(private), 0o700, "{private}");
    }
}

#[test]
fn a_later_call_adds_agents_and_leaves_the_rest_alone() {
    let folder = tempfile::tempdir().unwrap();
    make(&wanted(folder.path(), &["control"], 2), Timestamp::now()).unwrap();
    let before = ["coordinator", "agent-1", "agent-2"].map(|name| texts(&folder.path().join(name)));
    let report = make(&wanted(folder.path(), &[], 2), Timestamp::now()).unwrap();
    assert_eq!(report.authority, None);
    assert_eq!(report.agents, ["agent-3", "agent-4"].map(|name| folder.path().join(name)));
    let after = ["coordinator", "agent-1", "agent-2"].map(|name| texts(&folder.path().join(name)));
    assert_eq!(before, after);
    assert_eq!(texts(&report.agents[0])[0], before[0][0], "the same authority");
}

#[test]
fn nothing_is_replaced_unless_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    make(&wanted(folder.path(), &["control"], 1), Timestamp::now()).unwrap();
    let before = texts(&folder.path().join("coordinator"));
    let refused = make(&wanted(folder.path(), &["control"], 1), Timestamp::now()).unwrap_err();
    assert!(matches!(refused, CertsError::Exists(_)), "{refused}");
    assert!(refused.to_string().contains("--renew"), "{refused}");
    assert_eq!(texts(&folder.path().join("coordinator")), before);
    assert!(!folder.path().join("agent-2").exists(), "half of what was refused was made");

    let renew = Wanted { renew: true, ..wanted(folder.path(), &["other"], 1) };
    make(&renew, Timestamp::now()).unwrap();
    let after = texts(&folder.path().join("coordinator"));
    assert_eq!(after[0], before[0], "the authority stays");
    assert_ne!(after[1], before[1]);
    assert_ne!(after[2], before[2]);
    assert_eq!(entries(&folder.path().join("coordinator")), ["ca.crt", "tls.crt", "tls.key"]);
    let too_many = Wanted { agents: 2, ..renew };
    assert!(matches!(make(&too_many, Timestamp::now()), Err(CertsError::NotThere(_))));
}

#[test]
fn an_authority_that_cannot_sign_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let none = make(&wanted(folder.path(), &[], 1), Timestamp::now()).unwrap_err();
    assert!(none.to_string().contains("give --coordinator"), "{none}");
    make(&wanted(folder.path(), &["control"], 1), Timestamp::now()).unwrap();
    let key = folder.path().join("authority/ca.key");
    fs::copy(folder.path().join("agent-1/tls.key"), &key).unwrap();
    let refused = make(&wanted(folder.path(), &[], 1), Timestamp::now()).unwrap_err().to_string();
    assert!(refused.contains("do not belong together"), "{refused}");
    fs::write(&key, "nonsense").unwrap();
    let refused = make(&wanted(folder.path(), &[], 1), Timestamp::now()).unwrap_err().to_string();
    assert!(refused.contains("holds no private key"), "{refused}");
}

#[test]
fn what_cannot_be_written_is_named_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let refused = make(&wanted(&file, &["control"], 1), Timestamp::now()).unwrap_err().to_string();
    assert!(refused.starts_with(&format!("cannot write {}", file.display())), "{refused}");
    let below = file.join("below");
    let refused = make(&wanted(&below, &["control"], 1), Timestamp::now()).unwrap_err().to_string();
    assert!(refused.starts_with(&format!("cannot write {}", below.display())), "{refused}");
    assert_eq!(entries(folder.path()), ["file"]);
}
