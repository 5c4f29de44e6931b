//! Where to look next for the highest rate that holds. Pure: answers in, rates out.
//!
//! First a bracket: doubled while it holds (or halved until it does), then halves of the bracket on a logarithmic
//! scale, until its ends are as close as wanted; then the lower end is confirmed by more runs. One that does not
//! hold then becomes the upper end, and the search goes on below.

/// Halving ends here: less is no load.
const LEAST: f64 = 1.0;
/// However answers contradict each other, the search ends after so many.
const STEPS_MOST: u32 = 60;

/// What bounds a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The first rate, in transactions per second.
    pub start: f64,
    /// Never above this.
    pub most: Option<f64>,
    /// The ends of the bracket differ by this share at the end.
    pub precision: f64,
    /// So many runs have to hold at the end, besides the one that found the rate.
    pub confirmations: u32,
}

/// A search in course.
#[derive(Clone, Debug)]
pub struct Search {
    bounds: Bounds,
    /// Rates that held, ascending.
    held: Vec<f64>,
    /// The lowest rate that did not.
    failed: Option<f64>,
    confirmed: u32,
    steps: u32,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Try this rate.
    Try(f64),
    /// Try it once more.
    Confirm(f64),
    /// The search is over.
    Over(Found),
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    /// This rate holds, and nothing above it was tried or allowed to be.
    AtLeast(f64),
    /// The first holds, the second does not.
    Between(f64, f64),
    /// Not even this rate holds.
    Nothing(f64),
    /// Answers contradicted each other for too long; this rate held at least once, if any did.
    Undecided(Option<f64>),
}

impl Search {
    /// Begins.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, held: Vec::new(), failed: None, confirmed: 0, steps: 0 }
    }

    /// What is next.
    #[must_use]
    pub fn next(&self) -> Next {
        let highest = self.held.last().copied();
        if self.steps >= STEPS_MOST {
            return Next::Over(Found::Undecided(highest));
        }
        match (highest, self.failed) {
            (None, None) => Next::Try(self.within(self.bounds.start)),
            (None, Some(failed)) if failed <= LEAST => Next::Over(Found::Nothing(failed)),
            (None, Some(failed)) => Next::Try((failed / 2.0).max(LEAST)),
            (Some(held), None) if self.within(held * 2.0) > held => {
                Next::Try(self.within(held * 2.0))
            }
            (Some(held), Some(failed)) if failed > held * (1.0 + self.bounds.precision) => {
                Next::Try((held * failed).sqrt())
            }
            (Some(held), _) if self.confirmed < self.bounds.confirmations => Next::Confirm(held),
            (Some(held), None) => Next::Over(Found::AtLeast(held)),
            (Some(held), Some(failed)) => Next::Over(Found::Between(held, failed)),
        }
    }

    /// Takes the answer to [`Search::next`].
    pub fn tell(&mut self, holds: bool) {
        self.steps += 1;
        match (self.next_rate(), holds) {
            (Some(Next::Try(rate)), true) => self.held.push(rate),
            (Some(Next::Try(rate)), false) => self.failed = Some(rate),
            (Some(Next::Confirm(_)), true) => self.confirmed += 1,
            (Some(Next::Confirm(rate)), false) => {
                self.held.pop();
                self.failed = Some(rate);
                self.confirmed = 0;
            }
            (Some(Next::Over(_)) | None, _) => {}
        }
    }

    /// The question that an answer belongs to, the number of steps left aside.
    fn next_rate(&self) -> Option<Next> {
        let before = Self { steps: 0, ..self.clone() };
        Some(before.next()).filter(|next| !matches!(next, Next::Over(_)))
    }

    fn within(&self, rate: f64) -> f64 {
        self.bounds.most.map_or(rate, |most| rate.min(most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { start: 100.0, most: None, precision: 0.05, confirmations: 2 };

    /// Searches on a server that answers so; returns the end and the rates that were tried.
    fn search(bounds: Bounds, mut holds: impl FnMut(f64) -> bool) -> (Found, Vec<f64>) {
        let (mut search, mut tried) = (Search::new(bounds), Vec::new());
        loop {
            match search.next() {
                Next::Over(found) => return (found, tried),
                Next::Try(rate) | Next::Confirm(rate) => {
                    tried.push(rate);
                    search.tell(holds(rate));
                }
            }
        }
    }

    #[test]
    fn a_sharp_limit_is_found_to_the_precision_from_above_and_below() {
        for limit in [1.5, 37.0, 99.0, 100.0, 101.0, 6400.0, 123_456.0] {
            let (found, tried) = search(BOUNDS, |rate| rate <= limit);
            let Found::Between(held, failed) = found else { panic!("{limit}: {found:?}") };
            assert!(held <= limit && limit < failed, "{limit}: {found:?}");
            assert!(failed <= held * 1.05 + 1e-9, "{limit}: {found:?}");
            assert!(tried.len() < 30, "{limit}: {tried:?}");
            assert_eq!(tried[tried.len() - 2..], [held, held], "confirmed twice");
        }
    }

    #[test]
    fn a_server_that_holds_everything_is_confirmed_at_the_most() {
        let bounds = Bounds { most: Some(700.0), ..BOUNDS };
        let (found, tried) = search(bounds, |_| true);
        assert_eq!(found, Found::AtLeast(700.0));
        assert_eq!(tried, [100.0, 200.0, 400.0, 700.0, 700.0, 700.0]);
        let start_above = Bounds { most: Some(50.0), ..BOUNDS };
        assert_eq!(search(start_above, |_| true).0, Found::AtLeast(50.0));
    }

    #[test]
    fn a_server_that_holds_nothing_is_found_out() {
        let (found, tried) = search(BOUNDS, |_| false);
        assert_eq!(found, Found::Nothing(1.0));
        assert_eq!(tried, [100.0, 50.0, 25.0, 12.5, 6.25, 3.125, 1.5625, 1.0]);
    }

    #[test]
    fn a_rate_that_does_not_hold_again_is_left_for_a_lower_one() {
        // Around 900 it holds the first time only.
        let mut seen = false;
        let (found, _) = search(BOUNDS, |rate| {
            rate < 700.0 || (rate < 950.0 && !std::mem::replace(&mut seen, true))
        });
        let Found::Between(held, failed) = found else { panic!("{found:?}") };
        assert!(held < 700.0 && failed <= held * 1.05 + 1e-9, "{found:?}");
    }

    #[test]
    fn a_server_that_contradicts_itself_does_not_hold_us_for_ever() {
        let mut flip = 0u32;
        let (_, tried) = search(BOUNDS, |_| {
            flip = flip.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            flip >> 31 == 0
        });
        assert!(tried.len() <= 60, "{}", tried.len());
    }
}
