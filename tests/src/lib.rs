//! The harness of the end-to-end suites: real parts started for a test and gone with it, each wait
//! with a deadline.
//!
//! In reading order: programs as processes ([`program`], [`process`], [`usage`]), pgsurge itself
//! ([`cluster`]) and one agent's part of it ([`loading`]), real servers ([`postgres`]), a pooler before them
//! ([`pgbouncer`]) and one whose speed is known ([`fake_server`]), what has to hold on every version
//! ([`servers`]), load that needs no server ([`fake_load`]) and a fleet of agents with nothing else
//! ([`simulated_fleet`]), what surrounds them ([`hosts`], [`proxy`], [`wall_clock`]), whose turn it is ([`turn`]), the
//! repository as text ([`sources`]), pgbench as the oracle ([`differential`]), and random inputs ([`generate`]) on
//! which pgbench and pgsurge have to agree ([`agreement`]) or which no decoder may be harmed by ([`fuzz`]). Knows
//! what the parts are called and
//! how they are started, never how they work inside.

pub mod agreement;
pub mod browser;
pub mod chaos;
pub mod cluster;
pub mod differential;
pub mod fake_load;
pub mod fake_server;
pub mod fuzz;
pub mod generate;
pub mod hosts;
pub mod loading;
pub mod pgbouncer;
pub mod postgres;
pub mod process;
pub mod program;
pub mod proxy;
pub mod servers;
pub mod simulated_fleet;
pub mod sources;
pub mod turn;
pub mod usage;
pub mod wall_clock;
