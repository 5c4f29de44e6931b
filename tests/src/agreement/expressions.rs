//! Expressions, many in one run: those that should have a value one after the other in one script, those that
//! should fail one a client, those that cannot be read each alone.
//!
//! Which is which is only guessed, to put them together well; what they are is decided by both programs.

use std::fs;

use pgsurge_common::ids::ClientId;
use pgsurge_common::random::Streams;
use pgsurge_common::script::{ClientState, Program, Step};
use proptest::strategy::{BoxedStrategy, Strategy, ValueTree};
use proptest::test_runner::{TestCaseError, TestError, TestRunner};

use super::difference::{Difference, Tally};
use super::parallel;
use super::said::Said;
use super::tool::{Call, Tool, Tools, defines};
use crate::generate::{DEFINES, Source, broken, expression, quiet};
use crate::loading::Loading;

/// Expressions in one script, so few that not even nested `debug` reaches a bound on lines.
const IN_A_ROW: usize = 100;

/// Clients of a run whose expressions fail.
const CLIENTS: usize = 25;

type Tree = <BoxedStrategy<String> as Strategy>::Tree;

/// How expressions share a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// One client, one command after the other.
    Row,
    /// Each for a client of its own.
    Apart,
}

/// Expressions of one run.
#[derive(Debug)]
struct Batch {
    shape: Shape,
    seed: u64,
    /// Numbers of the expressions.
    indices: Vec<usize>,
}

/// Compares `count` generated expressions.
#[must_use]
pub fn compare(tools: Tools<'_>, seed: u64, count: usize) -> Tally {
    let mut source = Source::new(seed);
    let (sound, damaged) = (expression(), broken());
    let trees: Vec<Tree> = (0..count)
        .map(|number| source.draw(if number % 6 == 5 { &damaged } else { &sound }))
        .collect();
    let texts: Vec<String> = trees.iter().map(Tree::current).collect();
    let batches = batches(seed, &texts);
    let checked = parallel::map(&batches, |lane, batch| check(tools.lane(lane), batch, &texts));
    let mut tally = Tally { compared: count, ..Tally::default() };
    let mut trees: Vec<Option<Tree>> = trees.into_iter().map(Some).collect();
    for (mut part, differing) in checked {
        for (index, seed) in differing {
            let tree = trees[index].take().expect("every expression is in one batch");
            let shrinks = tools.shrinks(tally.differences.len() + part.differences.len());
            part.differences.push(shrink(tools, seed, (tree, shrinks)));
        }
        tally.add(part);
    }
    tally
}

/// What an expression probably is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guess {
    Value,
    Fails,
    Unreadable,
}

fn batches(seed: u64, texts: &[String]) -> Vec<Batch> {
    let of = |guess, size, shape| {
        let chosen: Vec<usize> =
            (0..texts.len()).filter(|index| guesses(&texts[*index]) == guess).collect();
        let chunks = chosen.chunks(size).map(|chunk| (shape, chunk.to_vec())).collect::<Vec<_>>();
        chunks.into_iter()
    };
    let all = of(Guess::Value, IN_A_ROW, Shape::Row)
        .chain(of(Guess::Fails, CLIENTS, Shape::Apart))
        .chain(of(Guess::Unreadable, 1, Shape::Row));
    let numbered = (0u64..).zip(all);
    numbered
        .map(|(number, (shape, indices))| Batch {
            shape,
            seed: seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            indices,
        })
        .collect()
}

fn guesses(text: &str) -> Guess {
    let mut workload = Loading::script(0, &format!("\\set v debug({text})\n")).plan.workload;
    let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    workload.defines = DEFINES.iter().map(owned).collect();
    let Ok(program) = Program::compile(&workload) else { return Guess::Unreadable };
    let streams = Streams::new(1, 1, false);
    let own = streams.clients(0, 1).next().expect("there is one client");
    let mut client = ClientState::new(&program, ClientId(0), own, &streams);
    client.begin(0);
    match client.next(&program) {
        Ok(Step::End) => Guess::Value,
        _ => Guess::Fails,
    }
}

/// Compares a batch; gives the tally and those that differ, with the seed that shows it.
fn check(tools: Tools<'_>, batch: &Batch, texts: &[String]) -> (Tally, Vec<(usize, u64)>) {
    let mut tally = Tally::default();
    let mut differing = Vec::new();
    let mut left = &batch.indices[..];
    while !left.is_empty() {
        let chosen: Vec<&str> = left.iter().map(|index| texts[*index].as_str()).collect();
        let run = Run { shape: batch.shape, seed: batch.seed, expressions: &chosen };
        let [theirs, ours] = run.answers(tools);
        tally.refused += usize::from(theirs.code == Some(1));
        tally.failed += theirs.messages.iter().filter(|line| aborted_at(line).is_some()).count();
        if theirs != ours {
            let alone = |text: &str| {
                Run { shape: Shape::Row, seed: batch.seed, expressions: &[text] }.differs(tools)
            };
            let found = left.iter().filter(|index| alone(&texts[**index]));
            let before = differing.len();
            differing.extend(found.map(|index| (*index, batch.seed)));
            if differing.len() == before {
                // Only together do they differ.
                tally.differences.push(run.difference(tools, &theirs, &ours));
            }
            break;
        }
        // What comes behind a failure has not been reached.
        let reached = match batch.shape {
            Shape::Apart => None,
            Shape::Row => theirs.messages.iter().find_map(|line| aborted_at(line)),
        };
        left = reached.and_then(|last| left.get(last + 1..)).unwrap_or_default();
    }
    (tally, differing)
}

/// The number in `client 0 aborted in command 7 (set) of script 0; ...`.
fn aborted_at(line: &str) -> Option<usize> {
    let (_, rest) = line.split_once(" aborted in command ")?;
    rest.split(' ').next()?.parse().ok()
}

fn shrink(tools: Tools<'_>, seed: u64, (tree, shrinks): (Tree, u32)) -> Difference {
    let differs = |text: String| {
        let run = Run { shape: Shape::Row, seed, expressions: &[&text] };
        if run.differs(tools) { Err(TestCaseError::fail("the programs differ")) } else { Ok(()) }
    };
    let first = tree.current();
    let smallest = match TestRunner::new(quiet(shrinks)).run_one(tree, differs) {
        Err(TestError::Fail(_, smallest)) => smallest,
        _ => first,
    };
    let run = Run { shape: Shape::Row, seed, expressions: &[&smallest] };
    let [theirs, ours] = run.answers(tools);
    run.difference(tools, &theirs, &ours)
}

/// One run of each program.
#[derive(Debug)]
struct Run<'a> {
    shape: Shape,
    seed: u64,
    expressions: &'a [&'a str],
}

impl Run<'_> {
    fn script(&self) -> String {
        let numbered = self.expressions.iter().enumerate();
        match self.shape {
            // Later ones find the variables as earlier ones have left them.
            Shape::Row => {
                let line = |(n, text)| format!("\\set v{} debug({text})\n", n % 4);
                numbered.map(line).collect::<Vec<_>>().concat()
            }
            Shape::Apart => {
                let branch = |(n, text): (usize, &&str)| {
                    let word = if n == 0 { "if" } else { "elif" };
                    format!("\\{word} :client_id = {n}\n\\set x debug({text})\n")
                };
                numbered.map(branch).collect::<Vec<_>>().concat() + "\\endif\n"
            }
        }
    }

    fn arguments(&self) -> Vec<String> {
        let clients = match self.shape {
            Shape::Row => 1,
            Shape::Apart => self.expressions.len(),
        };
        let options = ["-n", "-t", "1", "-c", &clients.to_string()].map(str::to_owned);
        let seed = ["--random-seed".to_owned(), self.seed.to_string()];
        let script = ["-f", SCRIPT].map(str::to_owned);
        options.into_iter().chain(seed).chain(defines()).chain(script).collect()
    }

    /// pgbench's and pgsurge's.
    fn answers(&self, tools: Tools<'_>) -> [Said; 2] {
        let folder = tempfile::tempdir().expect("there is room for a script");
        fs::write(folder.path().join(SCRIPT), self.script()).expect("there is room for a script");
        let arguments = self.arguments();
        let call =
            Call { folder: folder.path(), arguments: &arguments, name: "generated", port: None };
        [Tool::Pgbench, Tool::Pgsurge].map(|tool| {
            let said = tools.run(tool, &call);
            if self.shape == Shape::Apart { said.in_any_order() } else { said }
        })
    }

    fn differs(&self, tools: Tools<'_>) -> bool {
        let [theirs, ours] = self.answers(tools);
        theirs != ours
    }

    fn difference(&self, tools: Tools<'_>, theirs: &Said, ours: &Said) -> Difference {
        Difference {
            version: tools.version(),
            case: format!("{SCRIPT}:\n{}options: {}", self.script(), self.arguments().join(" ")),
            pgbench: theirs.to_string(),
            pgsurge: ours.to_string(),
        }
    }
}

/// Name of the script; messages show it.
const SCRIPT: &str = "generated.sql";
