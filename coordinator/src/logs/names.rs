//! Names of agents as names of folders: whatever an agent calls itself, its folder lies where it should.

use std::collections::BTreeSet;

/// Longer names are cut; file systems allow 255 bytes.
const LONGEST: usize = 100;

/// One name for each agent, all different, also from each other's name while it is partial.
pub(super) fn folders<'a>(agents: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    agents
        .map(|agent| {
            let plain = plain(agent);
            let numbered = (2_u32..).map(|n| format!("{plain}-{n}"));
            let mut names = std::iter::once(plain.clone()).chain(numbered);
            // Some file systems take capital and small letters for the same.
            names.find(|name| taken.insert(name.to_lowercase())).unwrap_or(plain)
        })
        .collect()
}

fn plain(agent: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String =
        agent.chars().map(|c| if harmless(c) { c } else { '_' }).take(LONGEST).collect();
    let name = match name.strip_suffix(".partial") {
        Some(stem) => format!("{stem}_partial"),
        None => name,
    };
    match name.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None if name.is_empty() => "_".to_owned(),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::folders;

    #[test]
    fn names_are_kept_where_they_are_harmless_and_differ_where_they_must() {
        let agents = [
            "a1",
            "host-1.example.com",
            "../../etc/cron.d",
            "..",
            ".",
            "",
            "a/b",
            "a_b",
            "A1",
            "a1.partial",
            "schön",
        ];
        let expected = [
            "a1",
            "host-1.example.com",
            "_._.._etc_cron.d",
            "_.",
            "_",
            "_-2",
            "a_b",
            "a_b-2",
            "A1-2",
            "a1_partial",
            "sch_n",
        ];
        assert_eq!(folders(agents.into_iter()), expected);
    }

    proptest! {
        #[test]
        fn no_name_leads_anywhere(agents in prop::collection::vec(".*", 1..5)) {
            for name in folders(agents.iter().map(String::as_str)) {
                let path = std::path::Path::new(&name);
                prop_assert_eq!(path.components().count(), 1);
                prop_assert_eq!(path.file_name(), Some(path.as_os_str()), "{}", name);
                prop_assert!(!name.starts_with('.') && !name.ends_with(".partial"));
            }
        }
    }
}
