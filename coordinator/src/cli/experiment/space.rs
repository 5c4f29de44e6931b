//! What an experiment varies, as users write it: `NAME=VALUE,VALUE`, ranges, and tables of a TOML file. Pure.

use serde::Deserialize;

use crate::cli::usage::UsageError;
use crate::experiment::stage::{Axis, Knob, SystemKnob};

/// Values of a range; more are a mistake.
const RANGE_MOST: usize = 1000;

/// A table of the file: names with values, in order.
type Table = toml::Table;

/// The parts of an experiment's file that say what is varied.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Space {
    /// Options of `run`.
    axes: Table,
    /// Settings of the server.
    settings: Table,
    /// Settings of the operating system, with the commands that get and set them.
    system: Table,
}

/// A range as a table of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    from: toml::Value,
    to: toml::Value,
    step: Option<f64>,
    factor: Option<f64>,
}

/// A system setting as a table of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SystemTable {
    get: String,
    set: String,
    values: toml::Value,
}

impl Space {
    /// The axes, in the file's order.
    pub fn axes(&self) -> Result<Vec<Axis>, UsageError> {
        let mut axes = Vec::new();
        for (name, value) in &self.axes {
            axes.push(Axis { knob: of_run(name)?, values: values(name, value)? });
        }
        for (name, value) in &self.settings {
            axes.push(Axis { knob: Knob::Setting(name.clone()), values: values(name, value)? });
        }
        for (name, table) in &self.system {
            let wrong = |error: toml::de::Error| wrong(name, error.message());
            let table: SystemTable = table.clone().try_into().map_err(wrong)?;
            let knob = SystemKnob { name: name.clone(), get: table.get, set: table.set };
            axes.push(Axis { knob: Knob::System(knob), values: values(name, &table.values)? });
        }
        Ok(axes)
    }
}

/// `--axis`.
pub fn axis(text: &str) -> Result<Axis, UsageError> {
    let (name, values) = named(text, "--axis")?;
    Ok(Axis { knob: of_run(name)?, values })
}

/// `--setting`.
pub fn setting(text: &str) -> Result<Axis, UsageError> {
    let (name, values) = named(text, "--setting")?;
    Ok(Axis { knob: Knob::Setting(name.to_owned()), values })
}

fn named<'a>(text: &'a str, option: &str) -> Result<(&'a str, Vec<String>), UsageError> {
    let (name, values) = text.split_once('=').unwrap_or((text, ""));
    if name.is_empty() || values.is_empty() {
        return Err(UsageError::new(format!("invalid value \"{text}\" for option {option}"))
            .detail(
                "expected NAME=VALUE,VALUE..., or NAME=FROM..TO*FACTOR or NAME=FROM..TO+STEP",
            ));
    }
    if let Some((from, rest)) = values.split_once("..") {
        return Ok((name, short_range(name, from, rest)?));
    }
    Ok((name, values.split(',').map(|value| value.trim().to_owned()).collect()))
}

fn of_run(name: &str) -> Result<Knob, UsageError> {
    Knob::of_run(name).ok_or_else(|| {
        UsageError::new(format!("there is no axis {name}"))
            .detail(format!("axes are {}; settings of the server have --setting", Knob::names()))
    })
}

fn values(name: &str, value: &toml::Value) -> Result<Vec<String>, UsageError> {
    match value {
        toml::Value::Array(values) => values.iter().map(|value| plain(name, value)).collect(),
        toml::Value::Table(_) => {
            let range: Range = value
                .clone()
                .try_into()
                .map_err(|error: toml::de::Error| wrong(name, error.message()))?;
            let (from, to) = (plain(name, &range.from)?, plain(name, &range.to)?);
            steps(name, (&from, &to), (range.step, range.factor))
        }
        _ => Err(wrong(name, "expected a list, or a table with from, to and step or factor")),
    }
}

fn plain(name: &str, value: &toml::Value) -> Result<String, UsageError> {
    match value {
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Boolean(true) => Ok("on".to_owned()),
        toml::Value::Boolean(false) => Ok("off".to_owned()),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(number.to_string()),
        _ => Err(wrong(name, "values are words, numbers, true or false")),
    }
}

fn wrong(name: &str, what: &str) -> UsageError {
    UsageError::new(format!("invalid values for {name}: {what}"))
}

fn short_range(name: &str, from: &str, rest: &str) -> Result<Vec<String>, UsageError> {
    let by = |mark: char| rest.split_once(mark).map(|(to, by)| (to, by.parse::<f64>().ok()));
    match (by('*'), by('+')) {
        (Some((to, Some(factor))), _) => steps(name, (from, to), (None, Some(factor))),
        (_, Some((to, Some(step)))) => steps(name, (from, to), (Some(step), None)),
        _ => Err(wrong(name, "a range is FROM..TO*FACTOR or FROM..TO+STEP")),
    }
}

/// Values from the first on, as long as they are not beyond the last; a unit must be the same at both ends.
fn steps(
    name: &str,
    (from, to): (&str, &str),
    (step, factor): (Option<f64>, Option<f64>),
) -> Result<Vec<String>, UsageError> {
    let (Some((first, unit)), Some((last, unit_of_last))) = (number(from), number(to)) else {
        return Err(wrong(name, "the ends of a range are numbers, with a unit or without"));
    };
    if unit != unit_of_last {
        return Err(wrong(name, "both ends of a range have the same unit"));
    }
    let next: Box<dyn Fn(f64) -> f64> = match (step, factor) {
        (Some(step), None) if step > 0.0 => Box::new(move |value| value + step),
        (None, Some(factor)) if factor > 1.0 && first > 0.0 => {
            Box::new(move |value| value * factor)
        }
        _ => return Err(wrong(name, "a range has either a step above 0 or a factor above 1")),
    };
    let (mut values, mut value) = (Vec::new(), first);
    while value <= last * (1.0 + 1e-9) {
        if values.len() == RANGE_MOST {
            return Err(wrong(name, "a range has at most 1000 values"));
        }
        // Ten digits hide what binary fractions add.
        let shown = format!("{value:.10}");
        values.push(format!("{}{unit}", shown.trim_end_matches('0').trim_end_matches('.')));
        value = next(value);
    }
    Ok(values)
}

fn number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let number = text[..end].trim().parse::<f64>().ok().filter(|number| number.is_finite())?;
    Some((number, text[end..].trim()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn shown(axes: &[Axis]) -> Vec<String> {
        axes.iter().map(|axis| format!("{}={}", axis.knob.name(), axis.values.join(","))).collect()
    }

    #[test]
    fn a_file_says_what_is_varied_in_its_order() {
        let space: Space = toml::from_str(
            r#"
            [axes]
            workload = ["tpcb-like", "select-only"]
            clients = [50, 100]
            [settings]
            work_mem = { from = "4MB", to = "64MB", factor = 4 }
            jit = [true, false]
            random_page_cost = { from = 1, to = 1.3, step = 0.1 }
            [system.swappiness]
            get = "cat it"
            set = "echo $VALUE > it"
            values = [10, 60]
            "#,
        )
        .unwrap();
        assert_eq!(
            shown(&space.axes().unwrap()),
            [
                "workload=tpcb-like,select-only",
                "clients=50,100",
                "work_mem=4MB,16MB,64MB",
                "jit=on,off",
                "random_page_cost=1,1.1,1.2,1.3",
                "swappiness=10,60"
            ]
        );
    }

    #[test]
    fn options_say_the_same_in_short() {
        let axes = [
            axis("clients=1,2").unwrap(),
            setting("shared_buffers=128MB..1024MB*2").unwrap(),
            setting("max_parallel_workers=0..4+2").unwrap(),
        ];
        assert_eq!(
            shown(&axes),
            [
                "clients=1,2",
                "shared_buffers=128MB,256MB,512MB,1024MB",
                "max_parallel_workers=0,2,4"
            ]
        );
    }

    #[test]
    fn mistakes_are_named() {
        for (text, said) in [
            ("clients", "invalid value \"clients\""),
            ("clients=", "invalid value"),
            ("users=1", "there is no axis users"),
            ("clients=1..", "a range is"),
            ("clients=1..9*1", "a factor above 1"),
            ("clients=a..9*2", "ends of a range"),
            ("clients=1..1000000+1", "at most 1000"),
            ("clients=1kB..9MB*2", "the same unit"),
        ] {
            let told = axis(text).unwrap_err().to_string();
            assert!(told.contains(said), "{text}: {told}");
        }
    }
}
