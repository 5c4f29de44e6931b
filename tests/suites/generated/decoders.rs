//! No decoder is harmed by its corpus or by mutations of it; what a fuzzer once found stands in the corpus.

use std::fs;
use std::path::PathBuf;

use pgsurge_tests::fuzz::{TARGETS, mutations};
use pgsurge_tests::sources::repository;

/// Mutations of each input of a corpus.
const MUTATIONS: usize = 300;

const SEED: u64 = 20_260_801;

fn corpus(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = repository().join("tests/fuzz/corpus").join(name);
    let files =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn every_decoder_survives_its_corpus_and_mutations_of_it() {
    for (name, decode) in TARGETS {
        let inputs = corpus(name);
        assert!(inputs.len() >= 2, "{name} has hardly a corpus");
        for (number, (path, input)) in inputs.iter().enumerate() {
            let survive = |bytes: &[u8]| {
                let survived = std::panic::catch_unwind(|| decode(bytes));
                assert!(
                    survived.is_ok(),
                    "{name} panics on {}, of {}",
                    bytes.escape_ascii(),
                    path.display()
                );
            };
            survive(input);
            let other = &inputs[(number + 1) % inputs.len()].1;
            mutations(SEED + number as u64, input, other, MUTATIONS)
                .for_each(|bytes| survive(&bytes));
        }
    }
}

#[test]
fn mutations_differ_from_their_input_and_are_the_same_for_the_same_seed() {
    let draw = |seed| mutations(seed, b"select 1", b"\\gset", 50).collect::<Vec<_>>();
    let first = draw(1);
    assert_eq!(first, draw(1));
    assert_ne!(first, draw(2));
    assert!(first.iter().filter(|bytes| *bytes != b"select 1").count() > 40);
}

#[test]
fn every_corpus_has_a_target() {
    let folders = fs::read_dir(repository().join("tests/fuzz/corpus")).unwrap();
    for folder in folders {
        let name = folder.unwrap().file_name().into_string().unwrap();
        assert!(TARGETS.iter().any(|(target, _)| *target == name), "{name}");
    }
}
