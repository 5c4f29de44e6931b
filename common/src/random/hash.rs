//! The two 64-bit hashes of the script language, each over one 64-bit value and a seed.

/// FNV-1a over the eight bytes of `value`, least significant first, its offset basis mixed with
/// `seed`.
#[must_use]
pub fn fnv1a(value: i64, seed: i64) -> i64 {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let start = OFFSET_BASIS ^ seed.cast_unsigned();
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    value.to_le_bytes().into_iter().fold(start, step).cast_signed()
}

/// `MurmurHash2` in its 64-bit form (`MurmurHash64A`) of one eight-byte block.
#[must_use]
pub fn murmur2(value: i64, seed: i64) -> i64 {
    const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
    const BLOCK_LENGTH: u64 = 8;
    let mut block = value.cast_unsigned().wrapping_mul(MULTIPLIER);
    block = (block ^ (block >> 47)).wrapping_mul(MULTIPLIER);
    let mut hash = seed.cast_unsigned() ^ BLOCK_LENGTH.wrapping_mul(MULTIPLIER);
    hash = (hash ^ block).wrapping_mul(MULTIPLIER);
    hash = (hash ^ (hash >> 47)).wrapping_mul(MULTIPLIER);
    (hash ^ (hash >> 47)).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        let table = [
            (10, 5432, -5_817_877_081_768_721_676, -7_793_829_335_365_542_153),
            (0, 0, 8_217_090_173_679_840_641, -6_284_781_860_667_377_211),
            (-1, 1, 1_123_455_060_992_376_216, -280_853_605_209_635_300),
            (1_234_567_890_123, 42, -5_580_451_424_739_457_475, 4_327_205_024_196_830_860),
        ];
        for (value, seed, murmur, fnv) in table {
            assert_eq!(murmur2(value, seed), murmur, "murmur2({value}, {seed})");
            assert_eq!(fnv1a(value, seed), fnv, "fnv1a({value}, {seed})");
        }
    }
}
