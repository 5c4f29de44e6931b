//! What a sweep is to do. Pure.

use serde::{Deserialize, Serialize};

use super::order::{Order, Turn, turns};
use crate::experiment::stage::{Axis, Knob};

/// More points are a mistake.
const POINTS_MOST: usize = 1000;
/// Of the random order; it need not be another one each time.
const SEED: u64 = 20_261_201;

/// Axes and repeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What is varied; the first one slowest.
    pub axes: Vec<Axis>,
    /// Runs of each point.
    pub repeats: usize,
    /// How they follow each other.
    pub order: Order,
}

impl Plan {
    /// Checks it.
    ///
    /// # Errors
    /// An axis has no values or one twice, or there are too many points.
    pub fn check(&self) -> Result<(), String> {
        if self.axes.is_empty() {
            return Err("nothing is varied: --axis or --setting says what".to_owned());
        }
        for (place, axis) in self.axes.iter().enumerate() {
            let name = axis.knob.name();
            if axis.values.is_empty() {
                return Err(format!("{name} has no values"));
            }
            if self.axes[..place].iter().any(|other| other.knob.name() == name) {
                return Err(format!("{name} is varied twice"));
            }
            let again = |(n, value): (usize, &String)| axis.values[..n].contains(value);
            if let Some((_, value)) = axis.values.iter().enumerate().find(|one| again(*one)) {
                return Err(format!("{name} has the value {value} twice"));
            }
        }
        let mut counts = self.axes.iter().map(|axis| axis.values.len());
        let points = counts.try_fold(1, usize::checked_mul);
        if points.is_none_or(|points| points > POINTS_MOST) {
            return Err(format!("these are more than {POINTS_MOST} points"));
        }
        Ok(())
    }

    /// All points, the last axis varying fastest: the values of the axes in order.
    #[must_use]
    pub fn points(&self) -> Vec<Vec<String>> {
        self.axes.iter().fold(vec![Vec::new()], |points, axis| {
            let extended = points.iter().flat_map(|point: &Vec<String>| {
                axis.values.iter().map(move |value| {
                    let mut point = point.clone();
                    point.push(value.clone());
                    point
                })
            });
            extended.collect()
        })
    }

    /// All runs in order.
    #[must_use]
    pub(super) fn turns(&self) -> Vec<Turn> {
        turns(self.order, self.points().len(), self.repeats, SEED)
    }

    /// A point as a state to bring about.
    #[must_use]
    pub fn state(&self, point: &[String]) -> Vec<(Knob, String)> {
        self.axes
            .iter()
            .zip(point)
            .map(|(axis, value)| (axis.knob.clone(), value.clone()))
            .collect()
    }

    /// The point that another is measured against: the same question, and the first value of everything else.
    #[must_use]
    pub fn baseline(&self, point: &[String]) -> Vec<String> {
        let values = self.axes.iter().zip(point);
        let of = |(axis, value): (&Axis, &String)| {
            if axis.knob.is_another_question() { value.clone() } else { axis.values[0].clone() }
        };
        values.map(of).collect()
    }

    /// A point as people read it.
    #[must_use]
    pub fn shown(&self, point: &[String]) -> String {
        let values = self.axes.iter().zip(point);
        values
            .map(|(axis, value)| format!("{}={value}", axis.knob.name()))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(axes: &[(&str, &[&str])]) -> Plan {
        let of = |(name, values): &(&str, &[&str])| Axis {
            knob: Knob::of_run(name).unwrap_or_else(|| Knob::Setting((*name).to_owned())),
            values: values.iter().map(|&value| value.to_owned()).collect(),
        };
        Plan { axes: axes.iter().map(of).collect(), repeats: 2, order: Order::default() }
    }

    #[test]
    fn points_are_all_combinations_in_order() {
        let plan = plan(&[("workload", &["a", "b"]), ("clients", &["1", "2", "3"])]);
        let points: Vec<String> = plan.points().iter().map(|point| plan.shown(point)).collect();
        assert_eq!(points.len(), 6);
        assert_eq!(points[0], "workload=a clients=1");
        assert_eq!(points[1], "workload=a clients=2");
        assert_eq!(points[5], "workload=b clients=3");
        assert_eq!(plan.turns().len(), 12);
        let point = &plan.points()[5];
        assert_eq!(plan.baseline(point), ["b", "1"], "another workload is another question");
    }

    #[test]
    fn mistakes_are_named() {
        for (axes, said) in [
            (&[][..], "nothing is varied"),
            (&[("clients", &[][..])], "clients has no values"),
            (&[("clients", &["1", "1"][..])], "clients has the value 1 twice"),
            (&[("jit", &["on"][..]), ("jit", &["off"][..])], "jit is varied twice"),
        ] {
            let told = plan(axes).check().expect_err(said);
            assert!(told.starts_with(said), "{told}");
        }
        let many: Vec<String> = (0..1001).map(|n| n.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(plan(&[("clients", &many)]).check().is_err());
    }
}
