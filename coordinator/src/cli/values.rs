//! Reads option values as the C library does for pgbench, with pgbench's messages.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::table::Opt;
use super::usage::UsageError;

/// A strict decimal integer within a range; trailing blanks are allowed, as in pgbench.
pub fn integer(opt: &Opt, value: &str, range: RangeInclusive<i64>) -> Result<i64, UsageError> {
    let digits = value.trim_start().trim_end();
    // Nothing at all is 0 for C's strtol.
    let digits = if value.is_empty() { "0" } else { digits };
    let number: i128 = digits.parse().map_err(|_| {
        UsageError::new(format!("invalid value \"{value}\" for option {}", opt.label()))
    })?;
    i64::try_from(number).ok().filter(|n| range.contains(n)).ok_or_else(|| {
        UsageError::new(format!(
            "{} must be in range {}..{}",
            opt.label(),
            range.start(),
            range.end()
        ))
    })
}

/// A positive 31-bit integer, the range of most of pgbench's counts.
pub fn count(opt: &Opt, value: &str) -> Result<u32, UsageError> {
    let number = integer(opt, value, 1..=i64::from(i32::MAX))?;
    Ok(u32::try_from(number).expect("the range was checked"))
}

/// The longest time that may be given, ten years. Keeps every instant computed from it far inside the range of
/// the clocks.
pub const LONGEST: Duration = Duration::from_secs(10 * 365 * 86400);

/// A number of seconds, fractions allowed; zero only where it makes sense.
pub fn seconds(opt: &Opt, value: &str, zero_allowed: bool) -> Result<Duration, UsageError> {
    seconds_of(value, zero_allowed).map_err(|expected| {
        UsageError::new(format!("invalid value \"{value}\" for option {}: {expected}", opt.label()))
    })
}

/// The same for options of any origin; the error says what was expected.
pub fn seconds_of(value: &str, zero_allowed: bool) -> Result<Duration, String> {
    let number = value.trim().parse::<f64>().ok();
    number
        .filter(|s| *s > 0.0 || (zero_allowed && *s == 0.0))
        .and_then(|s| Duration::try_from_secs_f64(s).ok())
        .filter(|d| *d <= LONGEST && (zero_allowed || !d.is_zero()))
        .ok_or_else(|| {
            let from = if zero_allowed { "from 0" } else { "above 0" };
            format!("expected seconds {from} up to {}", LONGEST.as_secs())
        })
}

/// The highest rate that can be asked for. Beyond it skipping what is late (`-L`) takes longer than it lasts.
const MOST_TPS: f64 = 10_000_000.0;

/// `-R`.
pub fn rate(value: &str) -> Result<f64, UsageError> {
    let rate = atof(value);
    let invalid = || UsageError::new(format!("invalid rate limit: \"{value}\""));
    if rate.is_nan() || rate <= 0.0 {
        return Err(invalid());
    }
    if rate > MOST_TPS {
        return Err(invalid().detail(format!("at most {MOST_TPS} per second are allowed")));
    }
    Ok(rate)
}

/// `-L`, in microseconds; none below one.
pub fn latency_limit_us(value: &str) -> Result<Option<u64>, UsageError> {
    let milliseconds = atof(value);
    let invalid = || UsageError::new(format!("invalid latency limit: \"{value}\""));
    if milliseconds.is_nan() || milliseconds <= 0.0 {
        return Err(invalid());
    }
    if milliseconds > LONGEST.as_secs_f64() * 1000.0 {
        let most = LONGEST.as_millis();
        return Err(invalid().detail(format!("at most {most} milliseconds are allowed")));
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked above
    let limit_us = (milliseconds * 1000.0) as u64;
    Ok((limit_us > 0).then_some(limit_us))
}

/// C's `atof`: the longest numeric prefix, 0 if there is none.
#[must_use]
pub fn atof(text: &str) -> f64 {
    let text = text.trim_start();
    let mut end = 0;
    let (mut digits, mut dot, mut exponent) = (false, false, false);
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(end) {
        match byte {
            b'0'..=b'9' => digits = true,
            b'+' | b'-' if end == 0 || (exponent && matches!(bytes[end - 1], b'e' | b'E')) => {}
            b'.' if !dot && !exponent => dot = true,
            b'e' | b'E' if digits && !exponent => exponent = true,
            _ => break,
        }
        end += 1;
    }
    while end > 0 {
        if let Ok(number) = text[..end].parse() {
            return number;
        }
        end -= 1;
    }
    0.0
}

/// C's `strtoul` for a whole string: a minus sign counts down from the highest number, and what is too high
/// is the highest.
#[must_use]
pub fn strtoul(text: &str) -> Option<u64> {
    let text = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    let negative = text.starts_with('-');
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    match digits.parse::<u64>() {
        Ok(number) if negative => Some(number.wrapping_neg()),
        Ok(number) => Some(number),
        Err(_) => Some(u64::MAX),
    }
}

/// C's `atoi`: the longest integer prefix, 0 if there is none; saturates.
#[must_use]
pub fn atoi(text: &str) -> i64 {
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['+', '-']));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    match text[..sign + digits].parse::<i64>() {
        Ok(number) => number,
        Err(_) if digits == 0 => 0,
        Err(_) if text.starts_with('-') => i64::MIN,
        Err(_) => i64::MAX,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::table;
    use super::*;

    #[test]
    fn integers_are_strict_and_bounded() {
        let opt = table::by_long("client").unwrap();
        assert_eq!(count(opt, "12 ").unwrap(), 12);
        for (value, message) in [
            ("three", "invalid value \"three\" for option -c/--client"),
            ("", "-c/--client must be in range 1..2147483647"),
            (" ", "invalid value \" \" for option -c/--client"),
            ("0", "-c/--client must be in range 1..2147483647"),
            ("99999999999999999999", "-c/--client must be in range 1..2147483647"),
        ] {
            assert_eq!(count(opt, value).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn c_numbers_ignore_what_follows() {
        for (text, number) in [
            ("1.5x", 1.5),
            ("x", 0.0),
            ("-2e1y", -20.0),
            ("1e", 1.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("", 0.0),
            ("-", 0.0),
        ] {
            assert!((atof(text) - number).abs() < f64::EPSILON, "{text}");
        }
        for (text, number) in [
            ("-1", Some(u64::MAX)),
            (" +7", Some(7)),
            ("18446744073709551616", Some(u64::MAX)),
            ("7 ", None),
            ("-", None),
            ("", None),
        ] {
            assert_eq!(strtoul(text), number, "{text}");
        }
        for (text, number) in [("12x", 12), ("-3", -3), ("x", 0), ("+", 0), ("", 0)] {
            assert_eq!(atoi(text), number, "{text}");
        }
        assert_eq!(atoi("99999999999999999999"), i64::MAX);
    }

    #[test]
    fn seconds_are_positive_and_finite() {
        let opt = table::by_long("warmup").unwrap();
        assert_eq!(seconds(opt, "1.5", true).unwrap(), Duration::from_millis(1500));
        assert_eq!(seconds(opt, "0", true).unwrap(), Duration::ZERO);
        for value in ["-1", "nan", "inf", "1e300", "soon", ""] {
            let error = seconds(opt, value, true).unwrap_err().to_string();
            assert!(error.ends_with("expected seconds from 0 up to 315360000"), "{error}");
        }
        for value in ["0", "1e-300"] {
            let error = seconds(opt, value, false).unwrap_err().to_string();
            assert!(error.ends_with("expected seconds above 0 up to 315360000"), "{error}");
        }
    }
}
