//! Scripts that are read from files, as those of users are.

/// One round trip and nothing else.
pub const ONE: &str = "SELECT :client_id;\n";

/// What the built-in script of this name does.
pub const SELECT_ONLY: &str = "\\set aid random(1, 100000 * :scale)\n\
    SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n";

/// What the built-in script of this name does.
pub const TPCB_LIKE: &str = "\\set aid random(1, 100000 * :scale)\n\
    \\set bid random(1, 1 * :scale)\n\
    \\set tid random(1, 10 * :scale)\n\
    \\set delta random(-5000, 5000)\n\
    BEGIN;\n\
    UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n\
    SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n\
    UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;\n\
    UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;\n\
    INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) \
    VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\n\
    END;\n";

/// Twenty assignments with arithmetic before one statement.
pub const ARITHMETIC: &str = "\\set aid random(1, 100000 * :scale)\n\
    \\set bid random(1, 1 * :scale)\n\
    \\set delta random(-5000, 5000)\n\
    \\set a :aid * 7 + 3\n\
    \\set b (:a - :bid) * 2\n\
    \\set c :b / 3 + :delta\n\
    \\set d :c % 1000\n\
    \\set e :d * :d - :a\n\
    \\set f abs(:e) % 97\n\
    \\set g greatest(:f, :d, 12)\n\
    \\set h least(:g, 99) + 1\n\
    \\set i :h << 3\n\
    \\set j :i | 5\n\
    \\set k :j & 255\n\
    \\set l :k * 1.5\n\
    \\set m int(:l) + :k\n\
    \\set n :m * 3 - :h\n\
    \\set o case when :n > 100 then :n else 100 end\n\
    \\set p :o + :aid\n\
    \\set q mod(:p, 100000 * :scale) + 1\n\
    SELECT abalance FROM pgbench_accounts WHERE aid = :q;\n";
