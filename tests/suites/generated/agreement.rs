//! A sample of what `tests/nightly differential` compares, and what it once found.

use pgsurge_tests::agreement::{Tools, expressions, scripts};
use pgsurge_tests::generate::{Case, Script};
use pgsurge_tests::postgres::Version;

const SEED: u64 = 20_260_801;

fn on_both_versions(check: impl Fn(Tools<'_>)) {
    for version in Version::ALL {
        let server = scripts::logging_server(version);
        check(Tools::new(&server));
    }
}

#[test]
fn pgbench_and_pgsurge_agree_on_generated_expressions() {
    on_both_versions(|tools| {
        let tally = expressions::compare(tools, SEED, 300);
        tally.expect_agreement();
        // The sample has something of each kind, and not too much of it.
        assert!((20..120).contains(&tally.refused), "{} refused", tally.refused);
        assert!((30..200).contains(&tally.failed), "{} failed", tally.failed);
    });
}

#[test]
fn pgbench_and_pgsurge_agree_on_generated_scripts() {
    on_both_versions(|tools| {
        let tally = scripts::compare_statements(tools, SEED, 16);
        tally.expect_agreement();
        assert!(tally.compared >= 8 && tally.failed <= 12, "{tally:?}");
        scripts::compare_pieces(tools, SEED, 16).expect_agreement();
    });
}

#[test]
fn pgbench_and_pgsurge_agree_on_what_a_generator_once_found() {
    let case = |protocol, text: &str| Case {
        scripts: vec![Script { text: text.to_owned(), weight: 1 }],
        protocol,
        clients: 1,
        transactions: 2,
        tries: 1,
        detailed: true,
        seed: SEED,
    };
    let cases = [
        // The end of an inner conditional before another branch of the outer one.
        case(
            "simple",
            "\\if 1\n\\if 0\n\\endif\n\\elif 1\nselect 1;\n\\else\nselect 2;\n\\endif\nselect 3;",
        ),
        // Temporary objects, whose removal commits once more.
        case("prepared", "create temp table if not exists t(a int);\nselect 1;"),
        // A statement of a pipeline behind an end that is not executed.
        case(
            "prepared",
            "\\startpipeline\nselect 1;\n\\if 0\n\\endpipeline\n\\endif\nselect 2;\n\\endpipeline",
        ),
    ];
    // The end of a part of a pipeline counts as a query; older ones have no such parts.
    let parts =
        case("extended", "\\startpipeline\nselect 1;\n\\syncpipeline\nselect 1/0;\n\\endpipeline");
    on_both_versions(|tools| {
        scripts::compare_known(tools, &cases).expect_agreement();
        if tools.version() == Version::V18 {
            scripts::compare_known(tools, std::slice::from_ref(&parts)).expect_agreement();
        }
    });
}
