//! What is drawn, hashed, permuted and scheduled follows its formula: chi-square over ten cells at fixed seeds.

use pgsurge_common::random::{
    Generator, exponential, fnv1a, murmur2, permute, poisson_gap_us, uniform, zipfian,
};

const DRAWS: u32 = 100_000;

/// For nine degrees of freedom at alpha 0.001.
const CRITICAL: f64 = 27.88;

/// Draws cells 0 to 9 and compares them with weights of any sum.
fn check(name: &str, weight: impl Fn(f64) -> f64, mut draw: impl FnMut(u32) -> i64) {
    let mut seen = [0_u32; 10];
    for number in 0..DRAWS {
        let cell = usize::try_from(draw(number)).expect("cells are not negative");
        seen[cell.min(9)] += 1;
    }
    let weights: Vec<f64> = (0..10_u32).map(|cell| weight(f64::from(cell))).collect();
    let sum: f64 = weights.iter().sum();
    let cells = seen.iter().zip(&weights).map(|(&count, weight)| {
        let expected = weight / sum * f64::from(DRAWS);
        (f64::from(count) - expected).powi(2) / expected
    });
    let chi_square: f64 = cells.sum();
    assert!(chi_square < CRITICAL, "{name}: chi-square {chi_square}, cells {seen:?}");
}

#[test]
fn draws_follow_their_formulas_at_several_seeds_and_parameters() {
    for seed in [1, 42, 5432] {
        let mut g = Generator::from_seed(seed);
        check("uniform", |_| 1.0, |_| uniform(&mut g, 0, 9));
        for lambda in [0.5, 3.0, 7.0] {
            let formula = |k: f64| (-lambda * k / 10.0).exp();
            check("exponential", formula, |_| exponential(&mut g, (0, 9), lambda));
        }
        for s in [1.07, 1.5, 2.0] {
            check("zipfian", |k| (k + 1.0).powf(-s), |_| zipfian(&mut g, (0, 9), s));
        }
    }
}

#[test]
fn hashes_and_permutations_spread_evenly() {
    for seed in [1, 42, 5432] {
        let tenth = |hash: i64| i64::from(u8::try_from(hash.cast_unsigned() % 10).unwrap_or(0));
        check("murmur2", |_| 1.0, |n| tenth(murmur2(i64::from(n), seed)));
        check("fnv1a", |_| 1.0, |n| tenth(fnv1a(i64::from(n), seed)));
        check("permute", |_| 1.0, |n| permute(seed, 10, i64::from(n)));
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
        check("gaps", |_| 1.0, |_| tenth(poisson_gap_us(&mut g, MEAN_US)));
    }
}
