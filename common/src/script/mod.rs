//! pgbench's script language: what a script says, and what a client does next.
//!
//! In reading order: [`Program::compile`] cuts scripts into commands (`sql`, `meta`, `command`),
//! compiles expressions (`expr`) and statements with variables (`statement`, `variables`, `value`,
//! `packed`, `number`), and links conditionals (`conditional`). [`ClientState`] executes a program for one
//! client and hands out [`Step`]s. Knows neither connections nor clocks; where a text or a value can
//! be seen from outside it is pgbench's, to the letter and to the last bit.

mod client;
mod command;
mod conditional;
mod define;
mod error;
mod expr;
mod meta;
mod number;
mod packed;
mod program;
mod shell;
mod sql;
mod statement;
mod value;
mod variables;

pub use client::{ClientState, Step};
pub use command::Command;
pub use define::{DefineError, parse_define};
pub use error::{CommandError, FailedCommand, MAX_PARAMETERS, ScriptError, SyntaxError};
pub use program::{Program, Script};
pub use statement::{Sql, Store};
pub use variables::{Names, Slot, Variables};
