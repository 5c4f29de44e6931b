//! Numbers from a seed (SplitMix64): the same everywhere and for ever, which no crate promises.

/// A stream of numbers.
#[derive(Clone, Debug)]
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of `least` to `most`.
    pub(super) fn between(&mut self, least: u32, most: u32) -> u32 {
        let wide = u64::from(most - least) + 1;
        least + u32::try_from(self.next() % wide).expect("below a difference of two of them")
    }

    /// Holds so many times of a hundred.
    pub(super) fn percent(&mut self, share: u32) -> bool {
        self.between(0, 99) < share
    }

    /// One of these.
    pub(super) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        let last = u32::try_from(choices.len() - 1).expect("a few");
        choices[self.between(0, last) as usize]
    }
}
