//! The generator: xoroshiro128** with the seeding and the derived draws that PostgreSQL uses.
//!
//! It knows no distribution beyond the three draws that consume raw output in a way of their own
//! (bounded integer, unit interval, normal). Invariant: the state is never all zero.

use std::f64::consts::TAU;

/// One stream of random numbers; copying it saves the state, assigning the copy restores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generator {
    s0: u64,
    s1: u64,
}

/// Increment of the splitmix64 sequence that spreads a seed over the state.
const SPLITMIX_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The polynomial that advances xoroshiro128 (24, 16, 37) by 2^64 outputs, low word first
/// (Blackman and Vigna, "Scrambled linear pseudorandom number generators").
const JUMP: [u64; 2] = [0xdf90_0294_d8f5_54a5, 0x1708_65df_4b32_01fc];

impl Generator {
    /// The stream of a 64-bit seed: two successive splitmix64 outputs make the state.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        let mut spread = seed;
        let s0 = splitmix64(&mut spread);
        let s1 = splitmix64(&mut spread);
        // No 64-bit seed yields an all-zero state: splitmix64 is a bijection of a counter, so its
        // two outputs differ.
        Self { s0, s1 }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let mix = self.s0 ^ self.s1;
        let output = self.s0.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        self.s0 = self.s0.rotate_left(24) ^ mix ^ (mix << 16);
        self.s1 = mix.rotate_left(37);
        output
    }

    /// Uniform in `0..=highest`; draws nothing if `highest` is 0.
    #[inline]
    pub fn bounded(&mut self, highest: u64) -> u64 {
        if highest == 0 {
            return 0;
        }
        let shift = highest.leading_zeros();
        loop {
            let value = self.next_u64() >> shift;
            if value <= highest {
                return value;
            }
        }
    }

    /// Uniform in `[0, 1)` with 52 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1u64 << 52) as f64;
        (self.next_u64() >> 12) as f64 * STEP
    }

    /// Standard normal by Box and Muller's sine branch; always two draws.
    pub fn normal(&mut self) -> f64 {
        let u1 = 1.0 - self.unit();
        let u2 = 1.0 - self.unit();
        (-2.0 * u1.ln()).sqrt() * (TAU * u2).sin()
    }

    /// Skips `count` outputs.
    pub fn skip(&mut self, count: u64) {
        for _ in 0..count {
            self.next_u64();
        }
    }

    /// This stream 2^64 outputs further on: far beyond anything that is ever drawn from `self`.
    #[must_use]
    pub fn jumped(&self) -> Self {
        let mut walker = *self;
        let mut sum = Self { s0: 0, s1: 0 };
        for word in JUMP {
            for bit in 0..64 {
                if word >> bit & 1 == 1 {
                    sum.s0 ^= walker.s0;
                    sum.s1 ^= walker.s1;
                }
                walker.next_u64();
            }
        }
        sum
    }
}

fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(SPLITMIX_GAMMA);
    let mut value = *state;
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_one_value_draws_nothing() {
        let mut generator = Generator::from_seed(7);
        let before = generator;
        assert_eq!(generator.bounded(0), 0);
        assert_eq!(generator, before);
    }

    #[test]
    fn bounded_draws_reach_both_ends_and_nothing_else() {
        let mut generator = Generator::from_seed(7);
        let mut seen = [0u32; 6];
        for _ in 0..6000 {
            seen[usize::try_from(generator.bounded(5)).expect("at most 5")] += 1;
        }
        assert!(seen.iter().all(|count| (850..1150).contains(count)), "{seen:?}");
    }

    #[test]
    fn the_unit_interval_is_half_open() {
        let mut generator = Generator::from_seed(7);
        assert!((0..10_000).map(|_| generator.unit()).all(|u| (0.0..1.0).contains(&u)));
    }

    /// Squares the transition matrix 64 times and compares with the jump polynomial.
    #[test]
    fn a_jump_equals_two_to_the_64_single_steps() {
        let step = |state: u128| {
            let mut generator = split(state);
            generator.next_u64();
            join(generator)
        };
        let mut columns: Vec<u128> = (0..128).map(|bit| step(1 << bit)).collect();
        let apply = |columns: &[u128], state: u128| {
            (0..128).filter(|bit| state >> bit & 1 == 1).fold(0, |sum, bit| sum ^ columns[bit])
        };
        for _ in 0..64 {
            columns = columns.iter().map(|&column| apply(&columns, column)).collect();
        }
        let generator = Generator::from_seed(42);
        assert_eq!(join(generator.jumped()), apply(&columns, join(generator)));
    }

    fn join(generator: Generator) -> u128 {
        u128::from(generator.s0) << 64 | u128::from(generator.s1)
    }

    #[allow(clippy::cast_possible_truncation)]
    fn split(state: u128) -> Generator {
        Generator { s0: (state >> 64) as u64, s1: state as u64 }
    }
}
