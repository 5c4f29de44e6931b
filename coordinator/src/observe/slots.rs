//! How many more sessions the server takes from this role in this database, by the limits that it names.
//!
//! Only a server reached directly can be judged by this: a pooler has limits of its own.

use pgsurge_common::wording::counted;

use super::error::TargetError;
use super::session::Session;

/// A limit and how much of it is in use, this session not included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The setting, as a person would name it.
    pub name: String,
    /// Sessions that it allows.
    pub allowed: u64,
    /// Sessions of others that count against it.
    pub used: u64,
}

impl Limit {
    /// Sessions still free.
    #[must_use]
    pub fn free(&self) -> u64 {
        self.allowed.saturating_sub(self.used)
    }
}

/// All limits that apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slots {
    /// At least the one of the server as a whole.
    pub limits: Vec<Limit>,
}

impl Slots {
    pub(super) async fn read(session: &mut Session, version_num: u32) -> Result<Self, TargetError> {
        let row = session.row(&sql(version_num)).await;
        let row = row.map_err(|e| e.of("could not read the server's connection limits"))?;
        let number =
            |i: usize| row.get(i).and_then(|v| v.as_deref()?.parse::<i64>().ok()).unwrap_or(0);
        Ok(Self::judge(&Row {
            max_connections: number(0),
            superuser_reserved: number(1),
            reserved: number(2),
            superuser: number(3) == 1,
            may_use_reserved: number(4) == 1,
            role_limit: number(5),
            database_limit: number(6),
            used: number(7),
            used_by_role: number(8),
            used_in_database: number(9),
        }))
    }

    fn judge(row: &Row) -> Self {
        let count = |n: i64| u64::try_from(n).unwrap_or(0);
        let kept = match (row.superuser, row.may_use_reserved) {
            (true, _) => 0,
            (false, true) => row.superuser_reserved,
            (false, false) => row.superuser_reserved + row.reserved,
        };
        let name = if kept == 0 {
            format!("max_connections = {}", row.max_connections)
        } else {
            format!("max_connections = {}, {kept} of them reserved", row.max_connections)
        };
        let whole =
            Limit { name, allowed: count(row.max_connections - kept), used: count(row.used) };
        let mut limits = vec![whole];
        // Superusers are exempt from both; below 0 there is none.
        let further = [
            ("connection limit of the role", row.role_limit, row.used_by_role),
            ("connection limit of the database", row.database_limit, row.used_in_database),
        ];
        for (name, limit, used) in further {
            if limit >= 0 && !row.superuser {
                let (allowed, used) = (count(limit), count(used));
                limits.push(Limit { name: format!("{name} = {limit}"), allowed, used });
            }
        }
        Self { limits }
    }

    /// The limit that leaves the fewest free.
    #[must_use]
    pub fn tightest(&self) -> Option<&Limit> {
        self.limits.iter().min_by_key(|limit| limit.free())
    }

    /// Why `clients` sessions cannot all be had, if they cannot.
    #[must_use]
    pub fn refuse(&self, clients: u64) -> Option<String> {
        let limit = self.tightest().filter(|limit| limit.free() < clients)?;
        let (free, name, used) = (limit.free(), &limit.name, limit.used);
        let clients = counted(clients, "client");
        Some(format!("the server has room for {free} of {clients} ({name}; {used} in use)"))
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    max_connections: i64,
    superuser_reserved: i64,
    reserved: i64,
    superuser: bool,
    may_use_reserved: bool,
    role_limit: i64,
    database_limit: i64,
    used: i64,
    used_by_role: i64,
    used_in_database: i64,
}

/// Roles without special rights see of others' sessions no more than whose and where; background processes
/// have no role or no database.
fn sql(version_num: u32) -> String {
    let may_use_reserved = if version_num >= 160_000 {
        "pg_catalog.pg_has_role(current_user, 'pg_use_reserved_connections', 'usage')"
    } else {
        "false"
    };
    format!(
        "select current_setting('max_connections'), \
           current_setting('superuser_reserved_connections'), \
           coalesce(current_setting('reserved_connections', true), '0'), \
           r.rolsuper::int, ({may_use_reserved})::int, r.rolconnlimit, d.datconnlimit, \
           s.used, s.by_role, s.in_database \
         from pg_catalog.pg_roles r, pg_catalog.pg_database d, \
           (select count(*) as used, \
              count(*) filter (where usename = session_user) as by_role, \
              count(*) filter (where datname = current_database()) as in_database \
            from pg_catalog.pg_stat_activity \
            where pid <> pg_catalog.pg_backend_pid() and usesysid is not null and datid is not null \
              and (backend_type is null or backend_type = 'client backend')) s \
         where r.rolname = session_user and d.datname = current_database()"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Row = Row {
        max_connections: 100,
        superuser_reserved: 3,
        reserved: 5,
        superuser: false,
        may_use_reserved: false,
        role_limit: -1,
        database_limit: -1,
        used: 10,
        used_by_role: 4,
        used_in_database: 6,
    };

    #[test]
    fn the_tightest_limit_counts() {
        let cases = [
            (PLAIN, 82),
            (Row { may_use_reserved: true, ..PLAIN }, 87),
            (Row { superuser: true, ..PLAIN }, 90),
            (Row { role_limit: 20, ..PLAIN }, 16),
            (Row { role_limit: 20, database_limit: 10, ..PLAIN }, 4),
            (Row { database_limit: 0, ..PLAIN }, 0),
            (Row { superuser: true, role_limit: 0, database_limit: 0, ..PLAIN }, 90),
            (Row { used: 200, ..PLAIN }, 0),
        ];
        for (row, free) in cases {
            let slots = Slots::judge(&row);
            assert_eq!(slots.tightest().map(Limit::free), Some(free), "{row:?}");
        }
    }

    #[test]
    fn a_refusal_names_the_limit() {
        let slots = Slots::judge(&PLAIN);
        assert_eq!(slots.refuse(82), None);
        assert_eq!(
            slots.refuse(1000).as_deref(),
            Some(
                "the server has room for 82 of 1000 clients (max_connections = 100, 8 of them reserved; 10 in use)"
            )
        );
        let slots = Slots::judge(&Row { role_limit: 5, ..PLAIN });
        assert_eq!(
            slots.refuse(2).as_deref(),
            Some(
                "the server has room for 1 of 2 clients (connection limit of the role = 5; 4 in use)"
            )
        );
    }
}
