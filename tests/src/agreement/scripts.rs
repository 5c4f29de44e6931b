//! Whole runs: what both programs say, and what they send.
//!
//! Runs of statements go to a real server, whose log tells what arrived; runs of pieces go to one that accepts
//! everything and keeps every message to the byte.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::strategy::{BoxedStrategy, Strategy, ValueTree};
use proptest::test_runner::{TestCaseError, TestError, TestRunner};

use super::difference::{Difference, Tally};
use super::log::Log;
pub use super::log::logging_server;
use super::parallel;
use super::said::Said;
use super::tool::{Call, Tool, Tools, defines};
use crate::fake_server::{Behaviour, FakeServer, Keep, Reply, Rows, Rule, Value};
use crate::generate::{Case, Source, of_pieces, of_statements, quiet};
use crate::postgres::Version;

type Tree = <BoxedStrategy<Case> as Strategy>::Tree;

/// What one program did.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Deed {
    said: Said,
    /// For each session what it sent.
    sent: Vec<Vec<String>>,
}

/// Compares `count` runs of statements on a real server that [`logging_server`] has started.
#[must_use]
pub fn compare_statements(tools: Tools<'_>, seed: u64, count: usize) -> Tally {
    let log = Log::new(tools.server());
    compare(tools, &Place::Real(log), (seed, &of_statements()), count)
}

/// Compares `count` runs of pieces.
#[must_use]
pub fn compare_pieces(tools: Tools<'_>, seed: u64, count: usize) -> Tally {
    compare(tools, &Place::Accepting, (seed, &of_pieces()), count)
}

/// Compares these runs, which some generator once found, on a real server.
#[must_use]
pub fn compare_known(tools: Tools<'_>, cases: &[Case]) -> Tally {
    let place = Place::Real(Log::new(tools.server()));
    let mut tally = Tally { compared: cases.len(), ..Tally::default() };
    for case in cases {
        let [theirs, ours] = both(tools, &place, case);
        if !agree(&theirs, &ours) {
            tally.differences.push(difference(tools, case, &theirs, &ours));
        }
    }
    tally
}

fn compare(
    tools: Tools<'_>,
    place: &Place<'_>,
    (seed, cases): (u64, &BoxedStrategy<Case>),
    count: usize,
) -> Tally {
    let mut source = Source::new(seed);
    let trees: Vec<Tree> = (0..count).map(|_| source.draw(cases)).collect();
    let drawn: Vec<Case> = trees.iter().map(Tree::current).collect();
    let deeds = parallel::map(&drawn, |lane, case| {
        comparable(case, tools.version()).then(|| both(tools.lane(lane), place, case))
    });
    let mut tally = Tally::default();
    for (tree, deeds) in trees.into_iter().zip(deeds) {
        let Some([theirs, ours]) = deeds else { continue };
        tally.compared += 1;
        tally.refused += usize::from(theirs.said.code == Some(1));
        tally.failed += usize::from(theirs.said.code == Some(2));
        if !agree(&theirs, &ours) {
            let shrinks = tools.shrinks(tally.differences.len());
            tally.differences.push(shrink(tools, place, (tree, shrinks)));
        }
    }
    tally
}

/// Whether both programs did the same.
///
/// The one exception: what a client has put into a pipeline when it aborts pgbench still sends as it closes the
/// connection, without the end that would make it count; pgsurge does not.
fn agree(theirs: &Deed, ours: &Deed) -> bool {
    let begun = |ours: &Vec<String>| theirs.sent.iter().any(|theirs| theirs.starts_with(ours));
    let left_out = ours.said.code == Some(2) && ours.sent.len() <= theirs.sent.len();
    theirs == ours || (theirs.said == ours.said && left_out && ours.sent.iter().all(begun))
}

/// `\syncpipeline` came with version 17.
fn comparable(case: &Case, version: Version) -> bool {
    version != Version::V15
        || !case.scripts.iter().any(|script| script.text.contains("syncpipeline"))
}

fn shrink(tools: Tools<'_>, place: &Place<'_>, (tree, shrinks): (Tree, u32)) -> Difference {
    let differs = |case: Case| {
        let [theirs, ours] = both(tools, place, &case);
        if agree(&theirs, &ours) { Ok(()) } else { Err(TestCaseError::fail("the programs differ")) }
    };
    let first = tree.current();
    let smallest = match TestRunner::new(quiet(shrinks)).run_one(tree, differs) {
        Err(TestError::Fail(_, smallest)) => smallest,
        _ => first,
    };
    let [theirs, ours] = both(tools, place, &smallest);
    difference(tools, &smallest, &theirs, &ours)
}

fn difference(tools: Tools<'_>, case: &Case, theirs: &Deed, ours: &Deed) -> Difference {
    let scripts = case.scripts.iter().zip(0..);
    let scripts = scripts.map(|(script, number)| format!("{}:\n{}\n", file(number), script.text));
    Difference {
        version: tools.version(),
        case: format!(
            "{}options: {}",
            scripts.collect::<Vec<_>>().concat(),
            arguments(case).join(" ")
        ),
        pgbench: theirs.to_string(),
        pgsurge: ours.to_string(),
    }
}

fn file(number: u32) -> String {
    format!("script{number}.sql")
}

fn arguments(case: &Case) -> Vec<String> {
    let named = |(script, number): (&crate::generate::Script, u32)| {
        ["-f".to_owned(), format!("{}@{}", file(number), script.weight)]
    };
    let files = case.scripts.iter().zip(0..).flat_map(named);
    case.options().into_iter().chain(defines()).chain(files).collect()
}

/// Runs a case through pgbench and pgsurge.
fn both(tools: Tools<'_>, place: &Place<'_>, case: &Case) -> [Deed; 2] {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let folder = tempfile::tempdir().expect("there is room for scripts");
    for (script, number) in case.scripts.iter().zip(0..) {
        let path = folder.path().join(file(number));
        fs::write(path, &script.text).expect("there is room for scripts");
    }
    let arguments = arguments(case);
    [Tool::Pgbench, Tool::Pgsurge].map(|tool| {
        let name = format!("run {}", RUNS.fetch_add(1, Ordering::Relaxed));
        let call = Call { folder: folder.path(), arguments: &arguments, name: &name, port: None };
        let deed = place.run(tools, tool, &call);
        if case.clients > 1 { Deed { said: deed.said.in_any_order(), ..deed } } else { deed }
    })
}

/// Where a run goes.
enum Place<'a> {
    /// A real server with its log.
    Real(Log<'a>),
    /// A fake one, fresh for each run.
    Accepting,
}

impl Place<'_> {
    fn run(&self, tools: Tools<'_>, tool: Tool, call: &Call<'_>) -> Deed {
        match self {
            Self::Real(log) => {
                let said = tools.run(tool, call);
                Deed { said, sent: log.sessions_of(call.name) }
            }
            Self::Accepting => {
                let server = FakeServer::start(accepting());
                let said = tools.run(tool, &Call { port: Some(server.port()), ..*call });
                Deed { said, sent: frames(&server) }
            }
        }
    }
}

fn accepting() -> Behaviour {
    let mut behaviour =
        Behaviour { keep: Keep { frames: true, ..Keep::default() }, ..Behaviour::default() };
    let text = |text: &str| Value::Text(text.to_owned());
    let row = Reply::Rows(Rows::one(&[("a", Value::Int4(5)), ("b", text("x y"))]));
    let last = Reply::Rows(Rows::one(&[("a", text("-3")), ("c", Value::Null)]));
    behaviour.rules.extend([Rule::new("one_row", row), Rule::new("two_rows", last)]);
    behaviour
}

/// The messages of every session that had any for its scripts.
fn frames(server: &FakeServer) -> Vec<Vec<String>> {
    let own = |frame: &&Vec<u8>| {
        let text = String::from_utf8_lossy(frame);
        text.contains("pg_catalog.") || text.contains("current_setting(") || text.starts_with('X')
    };
    let sessions = server.connections().into_iter().map(|connection| {
        let theirs = connection.frames.iter().filter(|frame| !own(frame));
        theirs.map(|frame| shown(frame).escape_ascii().to_string()).collect::<Vec<_>>()
    });
    let mut sessions: Vec<_> = sessions.filter(|frames| !frames.is_empty()).collect();
    sessions.sort();
    sessions
}

/// A message without its length. A Bind asks for results as text, which can be said with one format for all
/// columns, as libpq does, or by naming none.
fn shown(frame: &[u8]) -> Vec<u8> {
    let mut shown = frame.to_vec();
    if frame.first() == Some(&b'B') {
        let text = [&b"\0\x01\0\0"[..], b"\0\0"].into_iter().find(|end| frame.ends_with(end));
        shown.truncate(frame.len() - text.map_or(0, <[u8]>::len));
    }
    shown.drain(1..5.min(frame.len()));
    shown
}

impl std::fmt::Display for Deed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.said.fmt(f)?;
        for session in &self.sent {
            writeln!(f, "sent:")?;
            for message in session {
                writeln!(f, "  {message}")?;
            }
        }
        Ok(())
    }
}
