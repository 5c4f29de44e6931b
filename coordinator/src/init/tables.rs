//! The statements that make pgbench's tables. Pure text; what they make is compared with pgbench's own.

use super::options::{Options, PartitionMethod, Partitioning};

/// From this scale on account numbers do not fit 32 bits.
const BIGINT_FROM: u32 = 20_000;
/// Accounts of a branch.
pub(super) const ACCOUNTS: u64 = 100_000;
/// Tellers of a branch.
pub(super) const TELLERS: u64 = 10;

pub(super) const DROP: &str =
    "drop table if exists pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers";

pub(super) const TRUNCATE: &str =
    "truncate table pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers";

pub(super) const VACUUM: [&str; 4] = [
    "vacuum analyze pgbench_branches",
    "vacuum analyze pgbench_tellers",
    "vacuum analyze pgbench_accounts",
    "vacuum analyze pgbench_history",
];

pub(super) const FOREIGN_KEYS: [&str; 5] = [
    "alter table pgbench_tellers add constraint pgbench_tellers_bid_fkey foreign key (bid) references pgbench_branches",
    "alter table pgbench_accounts add constraint pgbench_accounts_bid_fkey foreign key (bid) references pgbench_branches",
    "alter table pgbench_history add constraint pgbench_history_bid_fkey foreign key (bid) references pgbench_branches",
    "alter table pgbench_history add constraint pgbench_history_tid_fkey foreign key (tid) references pgbench_tellers",
    "alter table pgbench_history add constraint pgbench_history_aid_fkey foreign key (aid) references pgbench_accounts",
];

/// The four tables, without partitions.
pub(super) fn create(options: &Options) -> Vec<String> {
    let aid = if options.scale >= BIGINT_FROM { "bigint" } else { "int" };
    let filled = format!(" with (fillfactor={})", options.fillfactor);
    // A partitioned table has no rows and hence no fill factor; its partitions have.
    let (accounts_filled, partitioned) = match options.partitioning.map(|p| p.method) {
        None => (filled.as_str(), ""),
        Some(PartitionMethod::Range) => ("", " partition by range (aid)"),
        Some(PartitionMethod::Hash) => ("", " partition by hash (aid)"),
    };
    // As pgbench 18: with partitions only these are unlogged, and the other tables are not.
    let unlogged =
        if options.unlogged && options.partitioning.is_none() { " unlogged" } else { "" };
    let space = tablespace(options.tablespace.as_deref(), " tablespace ");
    let table = |name: &str, columns: &str, further: &str| {
        format!("create{unlogged} table {name} ({columns}){further}{space}")
    };
    vec![
        table(
            "pgbench_history",
            &format!("tid int, bid int, aid {aid}, delta int, mtime timestamp, filler char(22)"),
            "",
        ),
        table(
            "pgbench_tellers",
            "tid int not null, bid int, tbalance int, filler char(84)",
            &filled,
        ),
        table(
            "pgbench_accounts",
            &format!("aid {aid} not null, bid int, abalance int, filler char(84)"),
            &format!("{partitioned}{accounts_filled}"),
        ),
        table("pgbench_branches", "bid int not null, bbalance int, filler char(88)", &filled),
    ]
}

/// One partition of `pgbench_accounts`, numbered from 1.
pub(super) fn partition(options: &Options, partitioning: Partitioning, number: u32) -> String {
    let bounds = match partitioning.method {
        PartitionMethod::Range => {
            let accounts = ACCOUNTS * u64::from(options.scale);
            let size = accounts.div_ceil(u64::from(partitioning.count));
            let low = match number {
                1 => "minvalue".to_owned(),
                _ => (u64::from(number - 1) * size + 1).to_string(),
            };
            let high = match number {
                last if last == partitioning.count => "maxvalue".to_owned(),
                _ => (u64::from(number) * size + 1).to_string(),
            };
            format!("from ({low}) to ({high})")
        }
        PartitionMethod::Hash => {
            format!("with (modulus {}, remainder {})", partitioning.count, number - 1)
        }
    };
    let unlogged = if options.unlogged { " unlogged" } else { "" };
    let fillfactor = options.fillfactor;
    format!(
        "create{unlogged} table pgbench_accounts_{number} partition of pgbench_accounts \
         for values {bounds} with (fillfactor={fillfactor})"
    )
}

/// Rows made by the server itself.
pub(super) fn server_side(options: &Options) -> [String; 3] {
    let scale = u64::from(options.scale);
    let (tellers, accounts) = (TELLERS * scale, ACCOUNTS * scale);
    [
        format!(
            "insert into pgbench_branches (bid, bbalance) \
             select bid, 0 from generate_series(1, {scale}) as bid"
        ),
        format!(
            "insert into pgbench_tellers (tid, bid, tbalance) \
             select tid, (tid - 1) / {TELLERS} + 1, 0 from generate_series(1, {tellers}) as tid"
        ),
        format!(
            "insert into pgbench_accounts (aid, bid, abalance, filler) \
             select aid, (aid - 1) / {ACCOUNTS} + 1, 0, '' from generate_series(1, {accounts}) as aid"
        ),
    ]
}

/// Primary keys of the three tables that have one.
pub(super) fn primary_keys(options: &Options) -> [String; 3] {
    let space = tablespace(options.index_tablespace.as_deref(), " using index tablespace ");
    [("branches", "bid"), ("tellers", "tid"), ("accounts", "aid")]
        .map(|(table, key)| format!("alter table pgbench_{table} add primary key ({key}){space}"))
}

fn tablespace(name: Option<&str>, clause: &str) -> String {
    name.map_or_else(String::new, |name| format!("{clause}\"{}\"", name.replace('"', "\"\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(scale: u32, count: u32) -> Vec<String> {
        let partitioning = Partitioning { method: PartitionMethod::Range, count };
        let options = Options { scale, ..Options::default() };
        let bounds = |number| {
            let sql = partition(&options, partitioning, number);
            let start = sql.find("from").expect("a range has bounds");
            sql[start..].split(" with").next().unwrap_or_default().to_owned()
        };
        (1..=count).map(bounds).collect()
    }

    #[test]
    fn ranges_meet_and_reach_from_end_to_end() {
        assert_eq!(bounds(1, 1), ["from (minvalue) to (maxvalue)"]);
        assert_eq!(
            bounds(1, 3),
            ["from (minvalue) to (33335)", "from (33335) to (66669)", "from (66669) to (maxvalue)"]
        );
        assert_eq!(
            bounds(50_000, 2),
            ["from (minvalue) to (2500000001)", "from (2500000001) to (maxvalue)"]
        );
    }

    #[test]
    fn names_of_tablespaces_are_quoted() {
        let odd = Some("a\"b".to_owned());
        let options = Options { index_tablespace: odd, ..Options::default() };
        assert!(primary_keys(&options)[0].ends_with(" using index tablespace \"a\"\"b\""));
    }
}
