//! Command lines of a benchmark: what is accepted, and with which words the rest is refused.

#![allow(clippy::unwrap_used)]

use super::*;

fn fold(args: &str) -> Result<BenchArgs, String> {
    let args = args.split_terminator(' ').map(std::ffi::OsString::from);
    BenchArgs::fold(&CommandLine::read(args, |_| None), |_| None).map_err(|e| e.to_string())
}

#[test]
fn scripts_are_numbered_by_their_order_over_all_options() {
    let args = fold("-S -b tpcb@3 -N").unwrap();
    let names = args.scripts.iter().map(|s| (s.name.as_str(), s.weight)).collect::<Vec<_>>();
    assert_eq!(
        names,
        [
            ("<builtin: select only>", 1),
            ("<builtin: TPC-B (sort of)>", 3),
            ("<builtin: simple update>", 1)
        ]
    );
}

#[test]
fn the_variable_behind_a_wrong_value_is_named() {
    for (variable, value, detail) in [
        ("PGSURGE_TIME", "ten", "detail: the value is that of the variable PGSURGE_TIME"),
        ("PGSURGE_LEASE", "1", "detail: values of variables took part: PGSURGE_LEASE"),
    ] {
        let lookup = |name: &str| (name == variable).then(|| value.to_owned());
        let line = CommandLine::read([], lookup);
        let error = BenchArgs::fold(&line, lookup).unwrap_err().to_string();
        assert!(error.contains(detail), "{error}");
    }
    assert!(!fold("--lease 1").unwrap_err().contains("variable"));
}

#[test]
fn defaults_are_those_of_pgbench() {
    let args = fold("").unwrap();
    assert_eq!((args.clients, args.end), (1, End::Transactions(10)));
    assert_eq!(args.scripts[0].name, "<builtin: TPC-B (sort of)>");
    assert_eq!(args.max_tries, Some(1));
    assert_eq!(fold("-T 60").unwrap().end, End::Duration(Duration::from_secs(60)));
    assert_eq!(fold("-L 0.0001").unwrap().latency_limit_us, None);
    assert_eq!(fold("-L 20ms").unwrap().latency_limit_us, Some(20_000));
}

/// Cases of pgbench's own suite, by their gist.
#[test]
fn mistakes_have_the_messages_of_pgbench() {
    let too_many = "-S ".repeat(129);
    for (args, message) in [
        ("-f /nonexistent/file", "could not open file \"/nonexistent/file\": No such file"),
        ("-b no-such-builtin", "no builtin script found for name \"no-such-builtin\""),
        ("-b si@one", "invalid weight specification: @one"),
        ("-b si@-1", "weight specification out of range (0 .. 2147483647): -1"),
        (too_many.trim(), "at most 128 SQL scripts"),
        ("-b si@0", "total script weight must not be zero"),
        ("-c three", "invalid value \"three\" for option -c/--client"),
        ("-j eleven", "invalid value \"eleven\" for option -j/--jobs"),
        ("-t zil", "invalid value \"zil\" for option -t/--transactions"),
        ("-T ten", "invalid value \"ten\" for option -T/--time"),
        ("-t 3 -T 3", "specify either a number of transactions (-t) or a duration (-T)"),
        ("--define foobla", "invalid variable definition: \"foobla\""),
        ("--define x=", "invalid variable definition: \"x=\""),
        ("--define 1x=1", "option: invalid variable name: \"1x\""),
        ("-c x --nonsense", "invalid value \"x\" for option -c/--client"),
        ("--progress=0", "-P/--progress must be in range 1..2147483647"),
        ("-M no-such-mode", "invalid query mode (-M): \"no-such-mode\""),
        ("--rate=0.0", "invalid rate limit: \"0.0\""),
        ("--latency-limit=0.0", "invalid latency limit: \"0.0\""),
        ("-R 1e300", "invalid rate limit: \"1e300\"\ndetail: at most 10000000 per second"),
        ("-L 1e300", "invalid latency limit: \"1e300\"\ndetail: at most 315360000000 milli"),
        ("--connect-wait 0", "option --connect-wait: expected seconds above 0 up to 315360000"),
        ("-S -F 90", "cannot be used in benchmarking mode"),
        ("--progress-timestamp", "allowed only under --progress"),
        ("--random-seed=one", "unrecognized random seed option \"one\""),
        ("--max-tries -10", "invalid number of maximum tries: \"-10\""),
        ("--max-tries 0", "an unlimited number of transaction tries can only be used with"),
        ("--tls-ca x", "--tls-ca, --tls-cert and --tls-key must be given together"),
        ("--lease 1", "--lease must be at least 2 seconds"),
        ("-c 2 --agents 2 --listen nowhere", "invalid value \"nowhere\" for option --listen"),
        ("-c 2 --agents 3", "2 clients cannot be spread over 3 agents: each needs one"),
        ("--require truth", "invalid value \"truth\" for option --require: expected valid"),
        ("--fail-if p99", "invalid value \"p99\" for option --fail-if\ndetail: expected a figure"),
        ("--fail-if late>1%", "--fail-if 'late>1%' is measured only under --latency-limit (-L)"),
        ("--fail-if lag.p99>1s", "--fail-if 'lag.p99>1s' is measured only under --rate (-R)"),
        ("--format xml", "invalid value \"xml\" for option --format: expected text or json"),
    ] {
        let error = fold(args).unwrap_err();
        assert!(error.contains(message), "{args}: {error}");
    }
}
