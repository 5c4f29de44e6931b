//! What is hashed, permuted and scheduled follows its formula: chi-square over ten cells at fixed seeds.

use pgsurge_common::random::{Generator, fnv1a, murmur2, permute, poisson_gap_us};

const DRAWS: u32 = 100_000;

/// For nine degrees of freedom at alpha 0.001.
const CRITICAL: f64 = 27.88;

/// Draws cells 0 to 9 and expects all of them to be equally likely.
fn check(name: &str, mut draw: impl FnMut(u32) -> i64) {
    let mut seen = [0_u32; 10];
    for number in 0..DRAWS {
        let cell = usize::try_from(draw(number)).expect("cells are not negative");
        seen[cell.min(9)] += 1;
    }
    let cells = seen.iter().map(|&count| {
        let expected = f64::from(DRAWS) / 10.0;
        (f64::from(count) - expected).powi(2) / expected
    });
    let chi_square: f64 = cells.sum();
    assert!(chi_square < CRITICAL, "{name}: chi-square {chi_square}, cells {seen:?}");
}

#[test]
fn hashes_and_permutations_spread_evenly() {
    for seed in [1, 42, 5432] {
        let tenth = |hash: i64| i64::from(u8::try_from(hash.cast_unsigned() % 10).unwrap_or(0));
        check("murmur2", |n| tenth(murmur2(i64::from(n), seed)));
        check("fnv1a", |n| tenth(fnv1a(i64::from(n), seed)));
        check("permute", |n| permute(seed, 10, i64::from(n)));
    }
}

#[test]
#[allow(clippy::cast_possible_truncation)]
fn the_gaps_of_a_schedule_are_those_of_a_poisson_process() {
    const MEAN_US: f64 = 1e6;
    for seed in [1, 42, 5432] {
        let mut g = Generator::from_seed(seed);
        // Each tenth of the distribution is as likely as the others.
        let tenth = |gap: i64| ((1.0 - (-(gap as f64) / MEAN_US).exp()) * 10.0) as i64;
        check("gaps", |_| tenth(poisson_gap_us(&mut g, MEAN_US)));
    }
}
