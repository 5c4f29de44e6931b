//! The pseudorandom permutation of `0..size`, chosen by a seed.
//!
//! Six rounds, each a multiply, xor and rotate of the lower power-of-two part of the range, the same
//! from the upper end, and a shift of the whole range; every step is a bijection, so the whole is.

use super::Generator;

const ROUNDS: u32 = 6;

/// Where `value` (taken modulo `size` as an unsigned number) goes in the permutation that `seed`
/// chooses; 0 for sizes below 2.
#[must_use]
pub fn permute(value: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let size = size.cast_unsigned();
    let bits = size.ilog2();
    let mut generator = Generator::from_seed(seed.cast_unsigned());
    let mut value = value.cast_unsigned() % size;
    for _ in 0..ROUNDS {
        value = scramble(value, bits, &mut generator);
        value = size - 1 - scramble(size - 1 - value, bits, &mut generator);
        // Both terms are below a size of at most 2^63, so the sum fits.
        value = (value + generator.bounded(size - 1)) % size;
    }
    value.cast_signed()
}

/// A bijection of `0..2^bits`; larger values stay. Draws in either case, so that the stream does not
/// depend on the value.
fn scramble(value: u64, bits: u32, generator: &mut Generator) -> u64 {
    let mask = (1 << bits) - 1;
    let multiplier = (generator.next_u64() & mask) | 1;
    let flip = generator.next_u64() & mask;
    if value > mask {
        return value;
    }
    let mixed = (value.wrapping_mul(multiplier) ^ flip) & mask;
    ((mixed << 1) & mask) | (mixed >> (bits - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        let ten: Vec<_> = (0..10).map(|i| permute(i, 10, 0)).collect();
        assert_eq!(ten, [0, 7, 1, 2, 6, 8, 3, 4, 9, 5]);
        assert_eq!(permute(-1, 10, 0), 8);
        assert_eq!(permute(25, 10, 0), 8);
    }

    #[test]
    fn every_size_and_seed_gives_a_permutation() {
        for size in (1..70).chain([255, 256, 257, 1000]) {
            for seed in [-1, 0, 1, 5432] {
                let mut image: Vec<_> = (0..size).map(|i| permute(i, size, seed)).collect();
                image.sort_unstable();
                assert!(image.into_iter().eq(0..size), "size {size}, seed {seed}");
            }
        }
    }

    #[test]
    fn the_largest_sizes_do_not_overflow() {
        for size in [i64::MAX, i64::MAX - 1, 1 << 62, (1 << 62) + 1] {
            for value in [0, 1, size - 1, -1, i64::MIN] {
                assert!((0..size).contains(&permute(value, size, 3)));
            }
        }
    }
}
