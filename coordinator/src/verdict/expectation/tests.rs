//! Expectations read, refused and checked.

#![allow(clippy::unwrap_used)]

use pgsurge_common::stats::{Counts, Histogram};

use super::{Expectation, Measured};

/// 1000 tps; 97 successful of 100 transactions in 1 to 97 ms, two failed, one skipped, ten late.
fn checked(text: &str) -> (bool, String) {
    let counts =
        Counts { transactions: 97, other_failures: 2, skipped: 1, late: 10, ..Counts::default() };
    let mut response = Histogram::new();
    (1..=97).for_each(|ms| response.record(ms * 1000));
    let measured =
        Measured { tps: 1000.0, counts: &counts, response: &response, service: None, lag: None };
    let checked = text.parse::<Expectation>().unwrap().check(&measured);
    assert_eq!(checked.expression, text.trim());
    (checked.missed, checked.shown)
}

#[test]
fn a_condition_that_holds_is_a_missed_expectation() {
    for (text, missed, shown) in [
        ("tps<1000", false, "1000.000 per second"),
        ("tps<=1000", true, "1000.000 per second"),
        ("tps < 1000.5", true, "1000.000 per second"),
        ("tps>=1000", true, "1000.000 per second"),
        ("tps>1000", false, "1000.000 per second"),
        ("failed>0", true, "2.000 %"),
        ("failed>2%", false, "2.000 %"),
        ("failed >= 2 %", true, "2.000 %"),
        ("skipped>1%", false, "1.000 %"),
        ("late>10%", true, "10.309 %"),
        ("max>97ms", false, "97.000 ms"),
        ("max>96.999", true, "97.000 ms"),
        ("max>96999us", true, "97.000 ms"),
        ("max>0.097s", false, "97.000 ms"),
        ("min<1ms", false, "1.000 ms"),
        ("mean>48", true, "49.000 ms"),
        ("stddev>27.9ms", true, "28.000 ms"),
        ("p50>48ms", true, "49.023 ms"),
        ("p99.9<1s", true, "97.000 ms"),
        ("response.max>97ms", false, "97.000 ms"),
    ] {
        assert_eq!(checked(text), (missed, shown.to_owned()), "{text}");
    }
}

#[test]
fn what_was_not_measured_meets_no_expectation() {
    for text in ["lag.p99>1s", "service.mean>1s"] {
        assert_eq!(checked(text), (true, "not measured".to_owned()), "{text}");
    }
    let (counts, response) = (Counts::default(), Histogram::new());
    let nothing =
        Measured { tps: 0.0, counts: &counts, response: &response, service: None, lag: None };
    for text in ["p99>1s", "failed>1%", "late>1%", "tps<1"] {
        assert!(text.parse::<Expectation>().unwrap().check(&nothing).missed, "{text}");
    }
}

#[test]
fn several_are_joined_by_commas() {
    let list = Expectation::list("p99>20ms, tps<1000,failed>0").unwrap();
    let texts: Vec<&str> = list.iter().map(Expectation::text).collect();
    assert_eq!(texts, ["p99>20ms", "tps<1000", "failed>0"]);
}

#[test]
fn mistakes_say_what_was_expected() {
    for (text, message) in [
        ("", "expected a figure, one of > >= < <=, and a bound"),
        ("p99", "expected a figure, one of > >= < <=, and a bound"),
        ("p99=20ms", "expected a figure, one of > >= < <=, and a bound"),
        ("p100>20ms", "unknown figure \"p100\""),
        ("p0>20ms", "unknown figure \"p0\""),
        ("pinf>20ms", "unknown figure \"pinf\""),
        ("p-1>20ms", "unknown figure \"p-1\""),
        ("latency>20ms", "unknown figure \"latency\""),
        ("lag.tps>20ms", "unknown figure \"lag.tps\""),
        ("p99>", "invalid bound \"\" for p99: expected a time"),
        ("p99>-1ms", "invalid bound \"-1ms\" for p99: expected a time"),
        ("p99>20m", "invalid bound \"20m\" for p99: expected a time"),
        ("p99>=1e3", "invalid bound \"1e3\" for p99: expected a time"),
        ("p99>1.2.3ms", "invalid bound \"1.2.3ms\" for p99: expected a time"),
        ("tps<10ms", "invalid bound \"10ms\" for tps: expected transactions per second"),
        ("failed>1", "invalid bound \"1\" for failed: expected a percentage, as in 0.1%"),
        ("failed>nan", "invalid bound \"nan\" for failed: expected a percentage"),
    ] {
        let error = Expectation::list(text).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}
