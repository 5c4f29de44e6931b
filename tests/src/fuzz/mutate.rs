//! Mutations of inputs, the same for the same seed: what a fuzzer does first, without one.

use pgsurge_common::random::Generator;

/// Bytes at the edges of their type, and those that mean something in most formats.
const EDGES: &[u8] = b"\x00\x01\x7f\x80\xff\n\\':;=,/%$({ ";

/// `count` mutations of an input, some of them with a piece of another.
pub fn mutations(
    seed: u64,
    input: &[u8],
    other: &[u8],
    count: usize,
) -> impl Iterator<Item = Vec<u8>> {
    let mut random = Generator::from_seed(seed);
    (0..count).map(move |_| {
        let mut bytes = input.to_vec();
        for _ in 0..=random.bounded(3) {
            mutate(&mut bytes, other, &mut random);
        }
        bytes
    })
}

fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut Generator) {
    let kind = random.bounded(7);
    let at = below(bytes.len() + 1, random);
    let end = (at + below(9, random)).min(bytes.len());
    match kind {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.bounded(7),
        1 if at < bytes.len() => bytes[at] = EDGES[below(EDGES.len(), random)],
        2 => drop(bytes.drain(at..end)),
        3 => {
            let piece = bytes[at..end].to_vec();
            bytes.splice(at..at, piece);
        }
        4 => {
            let from = below(other.len() + 1, random);
            let to = (from + below(17, random)).min(other.len());
            bytes.splice(at..at, other[from..to].iter().copied());
        }
        5 => bytes.truncate(at),
        6 => {
            // Lengths and counts are what decoders trust too easily.
            let number = [0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX][below(5, random)];
            bytes.splice(at..end.min(at + 4), number.to_be_bytes());
        }
        _ => bytes.insert(at, EDGES[below(EDGES.len(), random)]),
    }
}

/// A number below a bound.
fn below(bound: usize, random: &mut Generator) -> usize {
    usize::try_from(random.bounded(bound as u64 - 1)).expect("the bound is a usize")
}
