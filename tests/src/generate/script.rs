//! Whole runs: scripts, and the options that both programs get.

use proptest::prelude::*;
use proptest::sample::select;

use super::piece::pieces;
use super::statement::{comment, condition, query, statement, value};

/// One run.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its scripts, none of them empty.
    pub scripts: Vec<Script>,
    /// `simple`, `extended` or `prepared`.
    pub protocol: &'static str,
    /// Sessions.
    pub clients: u32,
    /// Transactions of each client.
    pub transactions: u32,
    /// `--max-tries`.
    pub tries: u32,
    /// `--verbose-errors`, `--failures-detailed` and `-r`.
    pub detailed: bool,
    /// `--random-seed`.
    pub seed: u64,
}

/// One script.
#[derive(Clone, Debug)]
pub struct Script {
    /// Its text.
    pub text: String,
    /// Its weight.
    pub weight: u32,
}

/// Options of a run without `-f` and `-D`.
impl Case {
    /// The options but for scripts and variables.
    #[must_use]
    pub fn options(&self) -> Vec<String> {
        let mut options = vec!["-n".to_owned()];
        let mut option = |name: &str, value: String| options.extend([name.to_owned(), value]);
        option("-M", self.protocol.to_owned());
        option("-c", self.clients.to_string());
        option("-t", self.transactions.to_string());
        option("--random-seed", self.seed.to_string());
        option("--max-tries", self.tries.to_string());
        if self.detailed {
            options.extend(["--verbose-errors", "--failures-detailed", "-r"].map(str::to_owned));
        }
        options
    }
}

/// Runs of pieces in any order, for a server that accepts everything.
pub fn of_pieces() -> BoxedStrategy<Case> {
    let script = || pieces().prop_map(|text| vec![Script { text, weight: 1 }]);
    let protocol = select(&["simple", "extended", "prepared"][..]);
    (script(), protocol, 1u32..3, any::<u64>())
        .prop_map(|(scripts, protocol, transactions, seed)| Case {
            scripts,
            protocol,
            clients: 1,
            transactions,
            tries: 1,
            detailed: false,
            seed,
        })
        .boxed()
}

/// Runs of statements that a server understands.
pub fn of_statements() -> BoxedStrategy<Case> {
    let run = |simple: bool, protocol: BoxedStrategy<&'static str>| {
        let script = (script(simple), 0u32..4).prop_map(|(text, weight)| Script { text, weight });
        let scripts = prop_oneof![
            4 => script.clone().prop_map(|script| vec![Script { weight: 1, ..script }]),
            1 => prop::collection::vec(script, 2..4),
        ];
        (scripts, protocol, 1u32..4, 1u32..4, 1u32..4, any::<bool>(), any::<u64>()).prop_map(
            |(mut scripts, protocol, clients, transactions, tries, detailed, seed)| {
                // Not all weights may be 0; and pgbench draws scripts for a thread, so that only a single
                // client's can be foretold.
                let clients = if scripts.len() > 1 { 1 } else { clients };
                scripts[0].weight += 1;
                Case { scripts, protocol, clients, transactions, tries, detailed, seed }
            },
        )
    };
    let more = select(&["extended", "prepared"][..]).boxed();
    prop_oneof![1 => run(true, Just("simple").boxed()), 1 => run(false, more)].boxed()
}

fn script(simple: bool) -> BoxedStrategy<String> {
    let items = prop::collection::vec(block(simple), 1..6);
    // The last statement needs no semicolon.
    let last = prop_oneof![3 => Just(String::new()), 1 => statement(simple)];
    (items, last).prop_map(|(items, last)| format!("\\set c 1\n{}{last}", items.concat())).boxed()
}

/// A command, or a conditional with commands in it.
fn block(simple: bool) -> BoxedStrategy<String> {
    let one = prop_oneof![
        14 => ended(simple),
        6 => meta(),
        if simple { 0 } else { 3 } => pipeline(),
    ];
    one.prop_recursive(3, 12, 3, |inner| {
        let some = || prop::collection::vec(inner.clone(), 0..3).prop_map(|items| items.concat());
        let elif = (condition(), some())
            .prop_map(|(condition, inner)| format!("\\elif {condition}\n{inner}"));
        let elifs = prop::collection::vec(elif, 0..3).prop_map(|elifs| elifs.concat());
        let otherwise = prop::option::of(some().prop_map(|inner| format!("\\else\n{inner}")));
        (condition(), some(), elifs, otherwise).prop_map(|(condition, then, elifs, otherwise)| {
            format!("\\if {condition}\n{then}{elifs}{}\\endif\n", otherwise.unwrap_or_default())
        })
    })
    .boxed()
}

/// A statement, or several in one, with what ends it.
fn ended(simple: bool) -> BoxedStrategy<String> {
    let plain = (comment(), statement(simple), comment())
        .prop_map(|(before, statement, after)| format!("{before}{statement} {after};\n"));
    let cut = (statement(simple), value())
        .prop_map(|(statement, value)| format!("{statement}\\set c {value}\n"));
    let text = select(&["a", "42", "", "x y"][..]).prop_map(str::to_owned);
    let stored =
        (query(text), select(&[";\n\\gset", " \\gset", "\\gset p_", " \\aset", ";\\aset p_"][..]))
            .prop_map(|(query, store)| format!("{query}{store}\n"));
    let any_stored = (statement(simple), select(&["\\gset", " ; \\aset"][..]))
        .prop_map(|(statement, store)| format!("{statement}{store}\n"));
    let compound = (
        prop::collection::vec(statement(simple), 2..4),
        select(&[";\n", "\\aset\n", "\n\\gset\n"][..]),
    )
        .prop_map(|(statements, end)| format!("{}{end}", statements.join(" \\; ")));
    prop_oneof![
        12 => plain,
        2 => cut,
        4 => stored,
        1 => any_stored,
        if simple { 2 } else { 0 } => compound,
    ]
    .boxed()
}

fn meta() -> BoxedStrategy<String> {
    let others = [
        "\\sleep 0\n",
        "\\sleep 1 us\n",
        "\\sleep 1ms\n",
        "\\sleep :v0 us\n",
        "\\setshell c echo 5\n",
        "\\shell true\n",
        "\\SET v0 :c\n",
        "\\set v1 \\\n  1.5 \\\n + :c\n",
        "\\\n",
        "  \\set v2 1 = 1\n",
        "\\set c debug(:p_c)\n",
    ];
    prop_oneof![
        5 => (select(&["c", "v0", "v1"][..]), value()).prop_map(|(name, value)| format!("\\set {name} {value}\n")),
        5 => select(others.to_vec()).prop_map(str::to_owned),
    ]
    .boxed()
}

fn pipeline() -> BoxedStrategy<String> {
    let inside = prop_oneof![
        6 => ended(false),
        1 => Just("\\syncpipeline\n".to_owned()),
        2 => value().prop_map(|value| format!("\\set c {value}\n")),
    ];
    let inside = prop::collection::vec(inside, 0..4).prop_map(|items| items.concat());
    let end = prop_oneof![12 => Just("\\endpipeline\n"), 1 => Just("")];
    (inside, end).prop_map(|(inside, end)| format!("\\startpipeline\n{inside}{end}")).boxed()
}
