//! One setting of the server, as `pg_settings` knows it, and whether a value suits it. Pure: what would be refused is
//! told before anything is changed.

/// A row of `pg_settings`.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// In the server's spelling.
    pub name: String,
    /// Present value, in its unit.
    pub value: String,
    /// The same as SHOW has it, which can be given back.
    pub shown: String,
    /// `kB`, `8kB`, `ms` ...; none if it is a plain number or no number.
    pub unit: Option<String>,
    /// What it takes to change it.
    pub context: String,
    /// `bool`, `integer`, `real`, `enum`, `string`.
    pub kind: String,
    /// Least and greatest number.
    pub range: Option<(f64, f64)>,
    /// Words that it may be.
    pub words: Vec<String>,
    /// Where the present value is from.
    pub source: String,
}

/// Lists of quoted names: ALTER SYSTEM takes each as a value of its own.
const LISTS: [&str; 6] = [
    "local_preload_libraries",
    "search_path",
    "session_preload_libraries",
    "shared_preload_libraries",
    "temp_tablespaces",
    "unix_socket_directories",
];

/// Units of memory in bytes.
const MEMORY: [(&str, f64); 5] = [
    ("B", 1.0),
    ("kB", 1024.0),
    ("MB", 1_048_576.0),
    ("GB", 1_073_741_824.0),
    ("TB", 1.099_511_627_776e12),
];
/// Units of time in microseconds.
const TIME: [(&str, f64); 6] =
    [("us", 1.0), ("ms", 1e3), ("s", 1e6), ("min", 6e7), ("h", 3.6e9), ("d", 8.64e10)];

impl Setting {
    /// It changes only with a restart.
    #[must_use]
    pub fn needs_restart(&self) -> bool {
        self.context == "postmaster"
    }

    /// Why ALTER SYSTEM could not change it.
    #[must_use]
    pub fn unchangeable(&self) -> Option<String> {
        let name = &self.name;
        if self.context == "internal" {
            return Some(format!("setting {name} cannot be changed"));
        }
        if LISTS.contains(&name.as_str()) {
            return Some(format!("setting {name} is a list of names, which cannot be varied"));
        }
        if self.source == "command line" {
            return Some(format!(
                "setting {name} is given on the server's command line, which wins"
            ));
        }
        None
    }

    /// Why the server would refuse this value.
    #[must_use]
    pub fn refuses(&self, value: &str) -> Option<String> {
        let name = &self.name;
        let invalid =
            |why: &str| Some(format!("invalid value \"{value}\" for setting {name}: {why}"));
        match self.kind.as_str() {
            "bool" if truth(value).is_none() => invalid("it is on or off"),
            "enum" if !self.words.iter().any(|word| word.eq_ignore_ascii_case(value)) => {
                // Some take words of old, too, which the list does not have.
                if truth(value).is_some() {
                    return None;
                }
                invalid(&format!("it is one of {}", self.words.join(", ")))
            }
            "integer" | "real" => {
                let Some(number) = self.number(value) else {
                    let unit =
                        self.unit.as_deref().map_or(String::new(), |unit| format!(" ({unit})"));
                    return invalid(&format!("a number{unit} is expected"));
                };
                let (low, high) = self.range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
                if number < low || number > high {
                    let unit =
                        self.unit.as_deref().map_or(String::new(), |unit| format!(" x {unit}"));
                    return invalid(&format!("it is out of the range {low} to {high}{unit}"));
                }
                None
            }
            _ => None,
        }
    }

    /// Whether a value as the server has it (in its unit) is what a user wrote.
    #[must_use]
    pub fn is(&self, present: &str, wanted: &str) -> bool {
        match self.kind.as_str() {
            "bool" => truth(present) == truth(wanted),
            "integer" | "real" => match (present.parse::<f64>().ok(), self.number(wanted)) {
                (Some(present), Some(wanted)) => {
                    (present - wanted).abs() <= 1e-6 * wanted.abs().max(1.0)
                }
                _ => false,
            },
            "enum" => {
                present.eq_ignore_ascii_case(wanted)
                    || (truth(wanted).is_some() && truth(present) == truth(wanted))
            }
            _ => present == wanted,
        }
    }

    /// A number in the setting's own unit, rounded as the server rounds.
    #[must_use]
    pub fn number(&self, value: &str) -> Option<f64> {
        let value = value.trim();
        let end = value
            .char_indices()
            .find(|(place, c)| c.is_ascii_alphabetic() && !is_exponent(value, *place))
            .map_or(value.len(), |(place, _)| place);
        let (number, unit) = (value[..end].trim(), value[end..].trim());
        let number: f64 = number.parse().ok()?;
        let factor = if unit.is_empty() { 1.0 } else { self.factor(unit)? };
        let exact = number * factor;
        Some(if self.kind == "integer" { exact.round_ties_even() } else { exact })
    }

    /// What a unit is in the setting's own.
    fn factor(&self, unit: &str) -> Option<f64> {
        let own = self.unit.as_deref()?;
        let digits = own.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        let times: f64 = if digits == 0 { 1.0 } else { own[..digits].parse().ok()? };
        [&MEMORY[..], &TIME[..]].into_iter().find_map(|units| {
            let of =
                |name: &str| units.iter().find(|(known, _)| *known == name).map(|(_, size)| *size);
            Some(of(unit)? / (times * of(&own[digits..])?))
        })
    }
}

/// A size that can be put in order with others: a number with or without a unit of memory or time.
#[must_use]
pub fn size(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let number: f64 = text[..end].trim().parse().ok()?;
    let unit = text[end..].trim();
    let known = MEMORY.iter().chain(&TIME).find(|(name, _)| *name == unit);
    if unit.is_empty() { Some(number) } else { known.map(|(_, size)| number * size) }
}

/// An `e` between digits.
fn is_exponent(value: &str, place: usize) -> bool {
    let after = value[place + 1..].trim_start_matches(['+', '-']);
    value[place..].starts_with(['e', 'E']) && after.starts_with(|c: char| c.is_ascii_digit())
}

/// The server's words for true and false, beginnings included.
fn truth(value: &str) -> Option<bool> {
    let value = value.to_ascii_lowercase();
    let begins = |word: &str, least: usize| value.len() >= least && word.starts_with(&value);
    if begins("true", 1) || begins("yes", 1) || begins("on", 2) || value == "1" {
        return Some(true);
    }
    (begins("false", 1) || begins("no", 1) || begins("off", 2) || value == "0").then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(kind: &str, unit: Option<&str>, range: (f64, f64)) -> Setting {
        Setting {
            name: "it".into(),
            value: String::new(),
            shown: String::new(),
            unit: unit.map(str::to_owned),
            context: "user".into(),
            kind: kind.into(),
            range: Some(range),
            words: vec!["minimal".into(), "replica".into(), "on".into()],
            source: "default".into(),
        }
    }

    #[test]
    fn numbers_are_read_with_their_units() {
        let blocks = setting("integer", Some("8kB"), (16.0, 1e9));
        for (value, number) in [
            ("128MB", Some(16384.0)),
            ("1GB", Some(131_072.0)),
            ("16384", Some(16384.0)),
            ("0.5GB", Some(65536.0)),
            (" 64 kB ", Some(8.0)),
            ("10s", None),
            ("128mb", None),
            ("much", None),
        ] {
            assert_eq!(blocks.number(value), number, "{value}");
        }
        let time = setting("integer", Some("ms"), (0.0, 1e9));
        assert_eq!(time.number("2min"), Some(120_000.0));
        assert_eq!(time.number("1500us"), Some(2.0));
        let real = setting("real", None, (0.0, 1.0));
        assert_eq!(real.number("1e-1"), Some(0.1));
        assert_eq!(real.number("5kB"), None);
    }

    #[test]
    fn sizes_can_be_put_in_order() {
        let sizes: Vec<Option<f64>> = ["64kB", "1MB", "0.5GB"].map(size).to_vec();
        assert!(sizes.is_sorted() && sizes.iter().all(Option::is_some), "{sizes:?}");
        assert_eq!((size("7"), size("on"), size("")), (Some(7.0), None, None));
    }

    #[test]
    fn values_that_the_server_would_refuse_are_known() {
        let blocks = setting("integer", Some("8kB"), (16.0, 1e9));
        assert_eq!(blocks.refuses("1MB"), None);
        let refused = blocks.refuses("8kB").expect("too little");
        assert_eq!(
            refused,
            "invalid value \"8kB\" for setting it: it is out of the range 16 to 1000000000 x 8kB"
        );
        assert!(blocks.refuses("lots").is_some());
        let truth = setting("bool", None, (0.0, 0.0));
        assert_eq!((truth.refuses("on"), truth.refuses("f")), (None, None));
        assert!(truth.refuses("maybe").is_some() && truth.refuses("o").is_some());
        let words = setting("enum", None, (0.0, 0.0));
        assert_eq!(words.refuses("Replica"), None);
        assert!(words.refuses("archive").is_some());
    }

    #[test]
    fn a_value_is_recognised_in_the_servers_spelling() {
        let blocks = setting("integer", Some("8kB"), (16.0, 1e9));
        assert!(blocks.is("16384", "128MB") && !blocks.is("16384", "129MB"));
        assert!(setting("bool", None, (0.0, 0.0)).is("on", "true"));
        assert!(setting("string", None, (0.0, 0.0)).is("a", "a"));
    }
}
