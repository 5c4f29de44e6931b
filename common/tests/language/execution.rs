//! What a client does with a program, step by step.

use crate::{client, define, execute, workload};
use pgsurge_common::ids::ClientId;
use pgsurge_common::plan::Protocol;
use pgsurge_common::random::Streams;
use pgsurge_common::script::{ClientState, Program, Step};
use pgsurge_common::workload::BUILTINS;

/// One word a step.
fn steps(script: &str, protocol: Protocol, per_command: bool) -> String {
    let mut workload = workload(&[script.as_bytes()]);
    workload.protocol = protocol;
    workload.report_per_command = per_command;
    let program = Program::compile(&workload).unwrap();
    let mut client = client(&program, 1);
    client.begin(0);
    let mut words = Vec::new();
    loop {
        let word = match client.next(&program) {
            Ok(Step::Sql(sql)) => String::from_utf8_lossy(sql.text()).into_owned(),
            Ok(Step::Sleep(us)) => format!("sleep {us}"),
            Ok(Step::Shell(line) | Step::SetShell(line)) => String::from_utf8(line).unwrap(),
            Ok(Step::StartPipeline) => {
                format!("start {}", client.pipeline_statements(&program).count())
            }
            Ok(Step::SyncPipeline) => "sync".to_owned(),
            Ok(Step::EndPipeline) => "end".to_owned(),
            Ok(Step::Meta) => format!("meta {}", client.command()),
            Ok(Step::End) => return words.join(", "),
            Err(error) => {
                words.push(error.abort_line(7));
                return words.join(", ");
            }
        };
        words.push(word);
    }
}

#[test]
fn only_the_branch_that_holds_is_executed() {
    let script = |first, second| {
        format!(
            "\\if {first}\n a;\n \\if 1\n b;\n \\else\n c;\n \\endif\n\\elif {second}\n d;\n\
             \\elif 1/0\n e;\n\\else\n f;\n\\endif\n g;"
        )
    };
    assert_eq!(steps(&script("true", "1/0"), Protocol::Simple, false), "a;, b;, g;");
    assert_eq!(steps(&script("0", "0.5"), Protocol::Simple, false), "d;, g;");
    let failing =
        "client 7 aborted in command 9 (elif) of script 0; evaluation of meta-command failed";
    assert_eq!(steps(&script("null", "false"), Protocol::Simple, false), failing);
}

#[test]
fn the_end_of_an_inner_conditional_leads_to_no_branch_of_the_outer_one() {
    let script = "\\if 1\n a;\n \\if 0\n b;\n \\endif\n\\elif 1\n c;\n\\else\n d;\n\\endif\n e;";
    assert_eq!(steps(script, Protocol::Simple, false), "a;, e;");
    let script = "\\if 0\n\\elif 1\n\\if 0\n\\elif 0\n\\endif\n\\elif 1\n c;\n\\endif\n e;";
    assert_eq!(steps(script, Protocol::Simple, false), "e;");
}

#[test]
fn figures_per_command_leave_out_what_is_skipped() {
    let script = "\\if 0\n\\set x 1\n\\elif 1\n\\set y 1\n\\else\n\\set z 1\n\\endif\n\\set q 1\n";
    let expected = "meta 0, meta 2, meta 3, meta 4, meta 7";
    assert_eq!(steps(script, Protocol::Simple, true), expected);
    let script = "\\if 1\n\\set x 1\n\\elif 1/0\n\\endif\n\\if 0\n\\else\n\\endif\n";
    assert_eq!(steps(script, Protocol::Simple, true), "meta 0, meta 1, meta 2, meta 4, meta 6");
}

#[test]
fn sleeping_counts_in_32_bit_microseconds() {
    let script =
        "\\sleep 2\n\\sleep 10ms\n\\sleep -3 us\n\\sleep 3000\n\\set v 0.9\n\\sleep :v s\n";
    let expected = "sleep 2000000, sleep 10000, sleep -3, sleep -1294967296, sleep 0";
    assert_eq!(steps(script, Protocol::Simple, false), expected);
}

#[test]
fn shell_words_are_variables_or_literals() {
    let script = "\\set v 5\n\\shell echo   :v ::v 'a  b'\n\\setshell r :v\n";
    assert_eq!(steps(script, Protocol::Simple, false), "echo 5 :v 'a b', 5");
}

#[test]
fn the_shell_gives_an_integer_or_ends_the_client() {
    let program =
        Program::compile(&workload(&[b"\\setshell x echo\n\\shell false\nselect :x;"])).unwrap();
    let mut client = client(&program, 1);
    client.begin(0);
    assert!(matches!(client.next(&program), Ok(Step::SetShell(_))));
    for (output, detail) in [
        ("", "echo: could not read result of shell command"),
        ("abc\n", "echo: shell command must return an integer (not \"abc\n\")"),
        ("\n5\n", "echo: shell command must return an integer (not \"\n\")"),
    ] {
        let error = client.setshell_done(&program, output.as_bytes()).unwrap_err();
        assert_eq!(error.detail(), Some(detail));
    }
    client.setshell_done(&program, b" -12 \nrest").unwrap();
    assert!(matches!(client.next(&program), Ok(Step::Shell(_))));
    let error = client.shell_done(&program, false).unwrap_err();
    assert_eq!(error.detail(), Some("false: could not launch shell command"));
    client.shell_done(&program, true).unwrap();
    let Ok(Step::Sql(sql)) = client.next(&program) else { panic!("a statement is next") };
    let mut text = Vec::new();
    sql.write_simple(client.variables(), &mut text);
    assert_eq!(text, b"select -12;");
}

#[test]
fn pipelines_do_not_nest_and_store_nothing() {
    let table = [
        (
            "\\startpipeline\na;b;\\syncpipeline\nc;\\endpipeline\nd;",
            "start 3, a;, b;, sync, c;, end, d;",
        ),
        (
            "\\startpipeline\na;",
            "start 1, a;, client 7 aborted: end of script reached with pipeline open",
        ),
        (
            "\\startpipeline\n\\startpipeline\n",
            "start 0, client 7 aborted in command 1 (startpipeline) of script 0; already in pipeline mode",
        ),
        (
            "\\endpipeline\n",
            "client 7 aborted in command 0 (endpipeline) of script 0; not in pipeline mode",
        ),
        (
            "\\syncpipeline\n",
            "client 7 aborted in command 0 (syncpipeline) of script 0; not in pipeline mode",
        ),
        (
            "\\startpipeline\na \\GSET\n",
            "start 1, client 7 aborted in command 1 (gset) of script 0; \\gset is not allowed in pipeline mode",
        ),
        (
            "\\startpipeline\na \\aset\n",
            "start 1, client 7 aborted in command 1 (aset) of script 0; \\aset is not allowed in pipeline mode",
        ),
    ];
    for (script, expected) in table {
        assert_eq!(steps(script, Protocol::Extended, false), expected);
    }
    let simple = "client 7 aborted in command 0 (startpipeline) of script 0; \
                  cannot use pipeline mode with the simple query protocol";
    assert_eq!(steps("\\startpipeline\n", Protocol::Simple, false), simple);
}

#[test]
fn run_time_errors_have_pgbenchs_texts() {
    let table: [(&str, &str, &str); 8] = [
        ("\\set . 1\n", "set: invalid variable name: \".\"", "(set) of script 0; assignment"),
        ("\\SET x 1/0\n", "division by zero", "(SET) of script 0; evaluation"),
        ("\\if :q\n\\endif\n", "undefined variable \"q\"", "(if) of script 0; evaluation"),
        ("\\SLEEP :q\n", "SLEEP: undefined variable \"q\"", "(sleep) of script 0; execution"),
        (
            "\\sleep :word\n",
            "sleep: invalid sleep time \"bla\" for variable \"word\"",
            "(sleep) of script 0; execution",
        ),
        ("\\shell echo :q\n", "echo: undefined variable \":q\"", "(shell) of script 0; execution"),
        ("\\set x :blank + 1\n", "", "(set) of script 0; evaluation"),
        (
            "\\set x :word + 1\n",
            "malformed variable \"word\" value: \"bla\"",
            "(set) of script 0; evaluation",
        ),
    ];
    for (script, detail, general) in table {
        let mut workload = workload(&[script.as_bytes()]);
        define(&mut workload, &[("word", "bla"), ("blank", "")]);
        let program = Program::compile(&workload).unwrap();
        let (_, error) = execute(&program, &mut client(&program, 1), Protocol::Simple);
        let error = error.expect(script);
        assert_eq!(error.detail().unwrap_or_default(), detail, "{script}");
        let abort = format!("client 3 aborted in command 0 {general} of meta-command failed");
        assert_eq!(error.abort_line(3), abort, "{script}");
    }
    let long = format!("\\shell echo {}\n", "a".repeat(250));
    let program = Program::compile(&workload(&[long.as_bytes()])).unwrap();
    let (_, error) = execute(&program, &mut client(&program, 1), Protocol::Simple);
    assert_eq!(error.unwrap().detail(), Some("echo: shell command is too long"));
}

#[test]
fn results_become_strings_under_their_columns_names() {
    let script = b"select 1 \\gset p_\nselect 2 \\aset\nselect :p_one, :two, :p_none;";
    let program = Program::compile(&workload(&[script])).unwrap();
    let mut client = client(&program, 1);
    client.begin(0);
    let Ok(Step::Sql(gset)) = client.next(&program) else { panic!("a statement is next") };
    client.store_column(&program, gset, b"one", Some(b"007")).unwrap();
    client.store_column(&program, gset, b"unused", Some(b"x")).unwrap();
    client.store_column(&program, gset, b"none", None).unwrap();
    let Ok(Step::Sql(aset)) = client.next(&program) else { panic!("a statement is next") };
    client.store_column(&program, aset, b"two", Some(b"first")).unwrap();
    client.store_column(&program, aset, b"two", Some(b"last")).unwrap();
    let error = client.store_column(&program, aset, b"1a", Some(b"x")).unwrap_err();
    assert_eq!(error, "aset: invalid variable name: \"1a\"");
    let Ok(Step::Sql(sql)) = client.next(&program) else { panic!("a statement is next") };
    let mut text = Vec::new();
    sql.write_simple(client.variables(), &mut text);
    assert_eq!(text, b"select 007, last, ;");
}

#[test]
fn variables_outlive_transactions_and_presets_win() {
    let mut workload =
        workload(&[b"\\set n :n + 1\nselect :n, :scale, :client_id, :default_seed;"]);
    define(&mut workload, &[("n", "1"), ("n", "10"), ("client_id", "me")]);
    workload.scale = 3;
    let program = Program::compile(&workload).unwrap();
    let streams = Streams::new(5432, 2, false);
    let own = streams.clients(1, 1).next().unwrap();
    let mut client = ClientState::new(&program, ClientId(1), own, &streams);
    for n in [11, 12] {
        let (sent, _) = execute(&program, &mut client, Protocol::Simple);
        let expected = format!("select {n}, 3, me, 7312993047133655103;");
        assert_eq!(String::from_utf8(sent[0].0.clone()).unwrap(), expected);
    }
}

#[test]
fn a_retry_repeats_random_values_and_keeps_variables() {
    let script = b"\\set n :n + 1\n\\set r random(1, 1000000)\nselect :n, :r;";
    let mut workload = workload(&[script]);
    define(&mut workload, &[("n", "0")]);
    let program = Program::compile(&workload).unwrap();
    let mut client = client(&program, 42);
    let mut texts = Vec::new();
    let mut run = |client: &mut ClientState| {
        while let Ok(Step::Sql(sql)) = client.next(&program) {
            let mut text = Vec::new();
            sql.write_simple(client.variables(), &mut text);
            texts.push(String::from_utf8(text).unwrap());
        }
    };
    client.begin(0);
    run(&mut client);
    client.retry();
    run(&mut client);
    client.begin(0);
    run(&mut client);
    let drawn: Vec<_> = texts.iter().map(|text| text.split(", ").nth(1).unwrap()).collect();
    assert_eq!(drawn[0], drawn[1]);
    assert_ne!(drawn[1], drawn[2]);
    assert!(texts[2].starts_with("select 3, "), "{texts:?}");
}

#[test]
fn built_in_scripts_draw_before_they_begin() {
    let mut workload = workload(&[]);
    workload.scripts = vec![BUILTINS[0].source(1)];
    let program = Program::compile(&workload).unwrap();
    let (sent, _) = execute(&program, &mut client(&program, 42), Protocol::Simple);
    let sent: Vec<_> = sent.into_iter().map(|(text, _)| String::from_utf8(text).unwrap()).collect();
    assert_eq!(
        sent,
        [
            "BEGIN;",
            "UPDATE pgbench_accounts SET abalance = abalance + -170 WHERE aid = 83532;",
            "SELECT abalance FROM pgbench_accounts WHERE aid = 83532;",
            "UPDATE pgbench_tellers SET tbalance = tbalance + -170 WHERE tid = 1;",
            "UPDATE pgbench_branches SET bbalance = bbalance + -170 WHERE bid = 1;",
            "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) \
             VALUES (1, 1, 83532, -170, CURRENT_TIMESTAMP);",
            "END;",
        ]
    );
}
