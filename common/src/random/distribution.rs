//! The distributions of pgbench's random functions and the gaps of its Poisson schedule.
//!
//! Callers check bounds and parameters first (the script language has its own messages for them);
//! here an odd parameter gives an odd value, never a panic. The formulas use the platform's libm in
//! the same order of operations as pgbench, because the last bit decides where a draw falls.

use super::Generator;

/// Uniform in `low..=high`; `high - low` must fit an `i64`.
#[inline]
pub fn uniform(generator: &mut Generator, low: i64, high: i64) -> i64 {
    low.wrapping_add_unsigned(generator.bounded(high.wrapping_sub(low).cast_unsigned()))
}

/// Truncated exponential: value k has the weight `exp(-lambda k / n)`; `lambda` above 0.
pub fn exponential(generator: &mut Generator, (low, high): (i64, i64), lambda: f64) -> i64 {
    let cut = (-lambda).exp();
    let uniform = 1.0 - generator.unit();
    let position = -(cut + (1.0 - cut) * uniform).ln() / lambda;
    low.wrapping_add(truncate(width(low, high) * position))
}

/// Truncated normal around the middle of the range, `parameter` standard deviations to either end;
/// `parameter` at least 2.
pub fn gaussian(generator: &mut Generator, (low, high): (i64, i64), parameter: f64) -> i64 {
    let deviation = loop {
        let draw = generator.normal();
        if !(draw < -parameter || draw >= parameter) {
            break draw;
        }
    };
    let position = (deviation + parameter) / (parameter * 2.0);
    low.wrapping_add(truncate(width(low, high) * position))
}

/// Zipf: value k counted from 1 has the weight `k^-s`; `s` from 1.001 to 1000. Rejection method of
/// Devroye, "Non-Uniform Random Variate Generation", chapter X.6.
pub fn zipfian(generator: &mut Generator, (low, high): (i64, i64), s: f64) -> i64 {
    let n = high.wrapping_sub(low).wrapping_add(1);
    if n <= 1 {
        return low;
    }
    let b = 2.0f64.powf(s - 1.0);
    loop {
        let inverse = generator.unit().powf(-1.0 / (s - 1.0)).floor();
        let accept = generator.unit();
        let ratio = (1.0 + 1.0 / inverse).powf(s - 1.0);
        if accept * inverse * (ratio - 1.0) / (b - 1.0) <= ratio / b && inverse <= n as f64 {
            return low.wrapping_sub(1).wrapping_add(truncate(inverse));
        }
    }
}

/// Microseconds to the next event of a Poisson process whose mean gap is `mean_us`.
pub fn poisson_gap_us(generator: &mut Generator, mean_us: f64) -> i64 {
    let uniform = 1.0 - generator.unit();
    truncate(-uniform.ln() * mean_us + 0.5)
}

fn width(low: i64, high: i64) -> f64 {
    high.wrapping_sub(low).wrapping_add(1) as f64
}

/// What C makes of the conversion on x86-64: towards zero; the smallest integer for what does not
/// fit and for NaN (Rust's `as` saturates).
#[allow(clippy::cast_possible_truncation)]
fn truncate(value: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&value) { value as i64 } else { i64::MIN }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First draws of seed 42's only client.
    fn client() -> Generator {
        super::super::Streams::new(42, 1, false).clients(0, 1).next().expect("one client").functions
    }

    #[test]
    fn successive_draws_match_pgbench() {
        let mut g = client();
        assert_eq!(uniform(&mut g, 1, 1000), 653);
        assert_eq!(exponential(&mut g, (1, 1000), 2.5), 553);
        assert_eq!(gaussian(&mut g, (1, 1000), 2.5), 398);
        assert_eq!(zipfian(&mut g, (1, 1000), 1.07), 134);
        assert_eq!(zipfian(&mut g, (1, 1000), 2.5), 1);
        assert_eq!(uniform(&mut g, -5000, 5000), 10);
    }

    #[test]
    fn the_first_ten_uniform_draws_of_seed_1_match_pgbench() {
        let streams = super::super::Streams::new(1, 1, false);
        let mut g = streams.clients(0, 1).next().expect("one client").functions;
        let draws: Vec<_> = (0..10).map(|_| uniform(&mut g, 1, 100_000)).collect();
        assert_eq!(draws, [83876, 1819, 77088, 67712, 86837, 5416, 24036, 5969, 37970, 24863]);
    }

    /// Cell probabilities by the formulas, 100 000 draws, 9 degrees of freedom, alpha 0.001.
    fn check(expected: [f64; 10], mut draw: impl FnMut(&mut Generator) -> i64) {
        const DRAWS: u32 = 100_000;
        const CRITICAL: f64 = 27.88;
        let mut generator = Generator::from_seed(2024);
        let mut seen = [0u32; 10];
        for _ in 0..DRAWS {
            seen[usize::try_from(draw(&mut generator) - 1).expect("within 1..=10")] += 1;
        }
        let total: f64 = expected.iter().sum();
        assert!((total - 1.0).abs() < 1e-5, "probabilities sum to {total}");
        let chi_square: f64 = seen
            .iter()
            .zip(expected)
            .map(|(&count, p)| {
                (f64::from(count) - p * f64::from(DRAWS)).powi(2) / (p * f64::from(DRAWS))
            })
            .sum();
        assert!(chi_square < CRITICAL, "chi-square {chi_square}, cells {seen:?}");
    }

    fn cells(probability: impl Fn(f64) -> f64) -> [f64; 10] {
        let mut cells = [0.0; 10];
        for (k, cell) in (0u32..).zip(&mut cells) {
            *cell = probability(f64::from(k));
        }
        let sum: f64 = cells.iter().sum();
        cells.map(|cell| cell / sum)
    }

    #[test]
    fn uniform_follows_its_formula() {
        check([0.1; 10], |g| uniform(g, 1, 10));
    }

    #[test]
    fn exponential_follows_its_formula() {
        check(cells(|k| (-3.0 * k / 10.0).exp()), |g| exponential(g, (1, 10), 3.0));
    }

    #[test]
    fn gaussian_follows_its_formula() {
        let expected = [
            0.016_748, 0.044_611, 0.093_003, 0.151_767, 0.193_870, //
            0.193_870, 0.151_767, 0.093_003, 0.044_611, 0.016_748,
        ];
        check(expected, |g| gaussian(g, (1, 10), 2.5));
    }

    #[test]
    fn zipfian_follows_its_formula() {
        check(cells(|k| (k + 1.0).powf(-1.5)), |g| zipfian(g, (1, 10), 1.5));
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_the_spread_of_an_exponential() {
        let mut g = Generator::from_seed(3);
        let gaps: Vec<f64> = (0..100_000).map(|_| poisson_gap_us(&mut g, 1000.0) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / 1e5;
        let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / 1e5).sqrt();
        assert!((990.0..1010.0).contains(&mean), "mean {mean}");
        assert!((985.0..1015.0).contains(&deviation), "deviation {deviation}");
    }

    #[test]
    fn odd_parameters_give_a_value_and_end() {
        let mut g = Generator::from_seed(3);
        assert_eq!(exponential(&mut g, (5, 9), f64::INFINITY), 5);
        gaussian(&mut g, (5, 9), f64::NAN);
        gaussian(&mut g, (i64::MIN + 1, 0), 2.0);
        assert_eq!(zipfian(&mut g, (5, 5), 1.5), 5);
    }
}
