//! Tables of numbers and their texts.

use super::*;

fn written(value: f64) -> String {
    let mut text = Vec::new();
    write_double(value, &mut text);
    String::from_utf8(text).expect("ASCII")
}

#[test]
fn doubles_are_written_with_15_significant_digits() {
    let table = [
        (0.0, "0"),
        (-0.0, "-0"),
        (3.0, "3"),
        (-1.5, "-1.5"),
        (0.1 + 0.2, "0.3"),
        (1.0 / 3.0, "0.333333333333333"),
        (1e14, "100000000000000"),
        (1e15, "1e+15"),
        (999_999_999_999_999.4, "999999999999999"),
        (999_999_999_999_999.9, "1e+15"),
        (1e-4, "0.0001"),
        (1e-5, "1e-05"),
        (1.234e-5, "1.234e-05"),
        (1.5e300, "1.5e+300"),
        (f64::MIN_POSITIVE, "2.2250738585072e-308"),
        (5e-324, "4.94065645841247e-324"),
        (f64::MAX, "1.79769313486232e+308"),
        (f64::INFINITY, "Infinity"),
        (f64::NEG_INFINITY, "-Infinity"),
        (f64::NAN, "NaN"),
    ];
    for (value, text) in table {
        assert_eq!(written(value), text);
    }
}

#[test]
fn doubles_are_read_as_c_reads_them() {
    let table = [
        ("1", Some(1.0)),
        (" \t\n-1.5e1", Some(-15.0)),
        (".5", Some(0.5)),
        ("5.", Some(5.0)),
        ("+1E+2", Some(100.0)),
        ("inf", Some(f64::INFINITY)),
        ("-Infinity", Some(f64::NEG_INFINITY)),
        ("0x10", Some(16.0)),
        ("-0X.8p-1", Some(-0.25)),
        ("0x1.fffffffffffff8p0", Some(2.0)),
        ("0x10000000000000000000000000p-100", Some(1.0)),
        ("0x1p-1022", Some(f64::MIN_POSITIVE)),
        ("0e-999", Some(0.0)),
        ("0x0p9999", Some(0.0)),
        ("", None),
        (".", None),
        ("-", None),
        ("1e", None),
        ("1 ", None),
        ("1x", None),
        ("e5", None),
        ("0x", None),
        ("0x.p1", None),
        ("0x1p", None),
        ("infi", None),
        ("1e999", None),
        ("1e-310", None),
        ("0x1p9999", None),
        ("nan(", None),
        ("nan(a-b)", None),
        ("\u{e9}", None),
    ];
    for (text, value) in table {
        assert_eq!(parse_double(text.as_bytes()), value, "{text:?}");
    }
    for text in ["nan", "-NaN", "nan()", "nan(x_1)"] {
        assert!(parse_double(text.as_bytes()).expect(text).is_nan());
    }
}

#[test]
fn atoi_stops_at_what_is_no_digit_and_cuts_to_32_bits() {
    let table: [(&str, i32); 9] = [
        ("12", 12),
        (" -3x", -3),
        ("+7.9", 7),
        ("x", 0),
        ("", 0),
        ("-", 0),
        ("4294967297", 1),
        ("99999999999999999999", -1),
        ("-99999999999999999999", 0),
    ];
    for (text, value) in table {
        assert_eq!(atoi(text.as_bytes()), value, "{text:?}");
    }
}

#[test]
fn a_sign_alone_looks_like_an_integer_but_is_none() {
    for (text, looks, value) in [
        ("", true, None),
        ("+", true, None),
        (" -12", true, Some(-12)),
        ("- 1", false, None),
        ("12 ", false, None),
        ("9223372036854775808", true, None),
        ("-9223372036854775808", true, Some(i64::MIN)),
    ] {
        assert_eq!(looks_like_int(text.as_bytes()), looks, "{text:?}");
        assert_eq!(parse_int(text.as_bytes()), value, "{text:?}");
    }
}
