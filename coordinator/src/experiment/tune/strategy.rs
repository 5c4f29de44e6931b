//! Which point is next. Pure: what was measured in, a point out; the same again for the same seed, so that a
//! search that was interrupted goes on as if it had not been.

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tpe::TpeOptimizer;
use tpe::density_estimation::DefaultEstimatorBuilder;

use super::question::{Question, Strategy};
use crate::experiment::stage::{Axis, size};

/// So many points by chance before the model has something to go on.
const BY_CHANCE: usize = 8;
/// How often a point that is known already is asked for again before any other is taken.
const TRIES: usize = 50;

/// A point that was tried: which value of each parameter, and how much worse it is than the baseline as a factor (below 1 it
/// is better); none where it could not be measured.
pub(super) type Tried = (Vec<usize>, Option<f64>);

/// The next point; none when all there are were tried, or enough.
#[must_use]
pub(super) fn next(question: &Question, tried: &[Tried]) -> Option<Vec<usize>> {
    if tried.len() >= question.trials || tried.len() >= question.points() {
        return None;
    }
    let fresh = |point: &Vec<usize>| !tried.iter().any(|(known, _)| known == point);
    let mut draw = StdRng::seed_from_u64(question.seed.wrapping_add(tried.len() as u64));
    let model = question.strategy == Strategy::Model && tried.len() >= BY_CHANCE;
    let mut models = if model { Some(Models::of(question, tried)) } else { None };
    for _ in 0..TRIES {
        let point = match (&mut models, question.strategy) {
            (Some(models), _) => models.ask(&mut draw),
            (None, Strategy::Grid) => break,
            (None, _) => {
                question.axes.iter().map(|axis| draw.random_range(0..axis.values.len())).collect()
            }
        };
        if fresh(&point) {
            return Some(point);
        }
    }
    grid(question).find(fresh)
}

/// All points in order, the last parameter varying fastest.
fn grid(question: &Question) -> impl Iterator<Item = Vec<usize>> {
    (0..question.points()).map(|number| {
        let mut rest = number;
        let mut point: Vec<usize> = question
            .axes
            .iter()
            .rev()
            .map(|axis| {
                let place = rest % axis.values.len();
                rest /= axis.values.len();
                place
            })
            .collect();
        point.reverse();
        point
    })
}

/// One model for each parameter.
struct Models(Vec<(TpeOptimizer<DefaultEstimatorBuilder>, usize)>);

impl Models {
    fn of(question: &Question, tried: &[Tried]) -> Self {
        // What could not be measured is worse than anything that could.
        let worst = tried.iter().filter_map(|(_, worse)| *worse).fold(1.0, f64::max) * 2.0;
        let models = question.axes.iter().enumerate().map(|(place, axis)| {
            let mut model = model(axis);
            for (point, worse) in tried {
                // Values lie within the range, and are numbers.
                let _ = model.tell(point[place] as f64 + 0.5, worse.unwrap_or(worst));
            }
            (model, axis.values.len())
        });
        Self(models.collect())
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range")]
    fn ask(&mut self, draw: &mut StdRng) -> Vec<usize> {
        let ask = |(model, values): &mut (TpeOptimizer<DefaultEstimatorBuilder>, usize)| {
            let place = model.ask(draw).map_or(0, |place| place as usize);
            place.min(*values - 1)
        };
        self.0.iter_mut().map(ask).collect()
    }
}

/// Values that have an order are close to their neighbours, others are not.
fn model(axis: &Axis) -> TpeOptimizer<DefaultEstimatorBuilder> {
    let range = tpe::categorical_range(axis.values.len()).expect("there are values");
    let sizes: Option<Vec<f64>> = axis.values.iter().map(|value| size(value)).collect();
    let ordered = sizes.is_some_and(|sizes| sizes.is_sorted());
    let estimator = if ordered { tpe::parzen_estimator() } else { tpe::histogram_estimator() };
    TpeOptimizer::new(estimator, range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::stage::Knob;

    fn question(strategy: Strategy, values: &[usize], trials: usize) -> Question {
        let axis = |(n, values): (usize, &usize)| Axis {
            knob: Knob::Setting(format!("p{n}")),
            values: (0..*values).map(|value| value.to_string()).collect(),
        };
        Question {
            axes: values.iter().enumerate().map(axis).collect(),
            objective: "tps".into(),
            strategy,
            seed: 7,
            trials,
            baseline_every: 5,
            seconds: 1,
            probe_seconds: 0,
            hopeless_percent: 25.0,
            confirmations: 6,
        }
    }

    /// Tries as long as there is a next point; returns all of them.
    fn tried(question: &Question, worse: impl Fn(&[usize]) -> Option<f64>) -> Vec<Tried> {
        let mut tried: Vec<Tried> = Vec::new();
        while let Some(point) = next(question, &tried) {
            let worse = worse(&point);
            tried.push((point, worse));
        }
        tried
    }

    #[test]
    fn a_grid_is_gone_through_in_order() {
        let points = tried(&question(Strategy::Grid, &[2, 3], 100), |_| Some(1.0));
        let points: Vec<Vec<usize>> = points.into_iter().map(|(point, _)| point).collect();
        assert_eq!(points, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
    }

    #[test]
    fn no_point_is_tried_twice_and_all_of_a_small_space_are() {
        for strategy in [Strategy::Random, Strategy::Model] {
            let mut points =
                tried(&question(strategy, &[3, 4], 100), |point| (point[0] != 1).then_some(1.0));
            assert_eq!(points.len(), 12, "{strategy:?}");
            points.sort_by(|a, b| a.0.cmp(&b.0));
            points.dedup_by(|a, b| a.0 == b.0);
            assert_eq!(points.len(), 12, "{strategy:?}");
        }
    }

    #[test]
    fn a_search_that_goes_on_later_takes_the_same_points() {
        for strategy in [Strategy::Random, Strategy::Model] {
            let question = question(strategy, &[16, 16], 30);
            let whole = tried(&question, |point| Some(1.0 + point[0] as f64));
            let next = next(&question, &whole[..20]).expect("there are more");
            assert_eq!(next, whole[20].0, "{strategy:?}");
        }
    }

    #[test]
    fn the_model_finds_better_points_than_chance() {
        // A bowl around (20, 5) with a ripple, 32 by 32 by 4 points; the mean of several seeds.
        let worse = |point: &[usize]| {
            let x = (point[0] as f64 - 20.0) / 32.0;
            let y = (point[1] as f64 - 5.0) / 32.0;
            let ripple = if point[2] == 2 { 0.0 } else { 0.2 };
            Some(0.5 + x * x + y * y + ripple)
        };
        let best = |strategy: Strategy| -> f64 {
            let best_of = |seed: u64| {
                let question = Question { seed, ..question(strategy, &[32, 32, 4], 60) };
                let tried = tried(&question, worse);
                tried.iter().filter_map(|(_, worse)| *worse).fold(f64::INFINITY, f64::min)
            };
            (0..20).map(best_of).sum::<f64>() / 20.0
        };
        let (chance, model) = (best(Strategy::Random), best(Strategy::Model));
        assert!(model < chance && model < 0.51, "model {model}, chance {chance}");
    }
}
