//! The page of deliberate differences and the cases belong together: neither names what the other lacks.

use std::collections::BTreeMap;

use pgsurge_tests::sources::repository;

use super::cases;

/// Anchors of the page's sections, as GitHub makes them, with their text.
fn sections() -> BTreeMap<String, String> {
    let page = std::fs::read_to_string(repository().join("docs/pgbench-differences.md")).unwrap();
    let section = |text: &str| {
        let (title, text) = text.split_once('\n').unwrap();
        let text = text.split("\n## ").next().unwrap();
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-');
        let anchor: String = title.trim().to_lowercase().chars().filter(kept).collect();
        (anchor.replace(' ', "-"), text.to_owned())
    };
    page.split("\n### ").skip(1).map(section).collect()
}

#[test]
fn every_difference_of_a_case_has_its_reason_on_the_page() {
    let sections = sections();
    for case in cases() {
        for anchor in case.differs.iter().filter_map(|d| d.anchor.as_ref()) {
            assert!(sections.contains_key(anchor), "{}: no section #{anchor}", case.id);
        }
    }
}

#[test]
fn every_section_of_the_page_is_shown() {
    let cases = cases();
    let named: Vec<&String> =
        cases.iter().flat_map(|c| &c.differs).flat_map(|d| &d.anchor).collect();
    let sections = sections();
    assert!(sections.len() > 10, "the page was not read: {sections:?}");
    for (anchor, text) in &sections {
        // tidy.rs checks that the named file exists.
        let shown = named.contains(&anchor) || text.contains("Shown by `");
        assert!(shown, "#{anchor}: neither a case nor a test is named");
    }
}
