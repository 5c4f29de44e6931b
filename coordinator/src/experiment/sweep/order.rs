//! In which order the points of a sweep are measured. Pure.

use pgsurge_common::random::{Generator, uniform};
use serde::{Deserialize, Serialize};

/// How repeats of all points follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Rounds over all points, forwards and backwards in turn, so that a drift hits all of them alike.
    #[default]
    Interleaved,
    /// All repeats of a point, then those of the next: least often anything is changed, and any drift is taken for a
    /// difference.
    Sequential,
    /// Rounds in an order drawn anew for each; always the same for a seed.
    Random,
}

/// A point by its number, and the number of its repeat.
pub(super) type Turn = (usize, usize);

/// All runs in order.
#[must_use]
pub(super) fn turns(order: Order, points: usize, repeats: usize, seed: u64) -> Vec<Turn> {
    let mut draw = Generator::from_seed(seed);
    let round = |repeat: usize, draw: &mut Generator| -> Vec<Turn> {
        let mut places: Vec<usize> = (0..points).collect();
        match order {
            Order::Interleaved if repeat % 2 == 1 => places.reverse(),
            Order::Random => shuffle(&mut places, draw),
            _ => {}
        }
        places.into_iter().map(|place| (place, repeat)).collect()
    };
    match order {
        Order::Sequential => {
            (0..points).flat_map(|point| (0..repeats).map(move |repeat| (point, repeat))).collect()
        }
        _ => (0..repeats).flat_map(|repeat| round(repeat, &mut draw)).collect(),
    }
}

/// Fisher and Yates.
fn shuffle(places: &mut [usize], draw: &mut Generator) {
    for last in (1..places.len()).rev() {
        let most = i64::try_from(last).expect("there are few");
        let other = usize::try_from(uniform(draw, 0, most)).expect("within the slice");
        places.swap(last, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_go_forwards_and_backwards() {
        let turns = turns(Order::Interleaved, 3, 3, 0);
        let points: Vec<usize> = turns.iter().map(|turn| turn.0).collect();
        assert_eq!(points, [0, 1, 2, 2, 1, 0, 0, 1, 2]);
    }

    #[test]
    fn every_order_has_each_repeat_of_each_point_once() {
        for order in [Order::Interleaved, Order::Sequential, Order::Random] {
            let mut all = turns(order, 5, 4, 7);
            assert_eq!(all, turns(order, 5, 4, 7), "the same again");
            all.sort_unstable();
            let every: Vec<Turn> = (0..5).flat_map(|p| (0..4).map(move |r| (p, r))).collect();
            assert_eq!(all, every, "{order:?}");
        }
        assert_ne!(turns(Order::Random, 9, 1, 1), turns(Order::Random, 9, 1, 2));
    }
}
