//! What this host has to offer, for the hello.

use std::num::NonZero;

use pgsurge_proto::message::{Hello, Resume};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::AgentOptions;

/// The host's own name, an agent's name unless it is given one.
#[must_use]
pub fn host_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() { "agent".to_owned() } else { name }
}

/// Lets this process open as many files as its hard limit allows, for every session takes one. Where that
/// is refused the old limit stays.
pub fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::debug!(%error, "the limit of open files stays as it is");
        }
    }
}

/// Who dials.
pub(super) fn hello(options: &AgentOptions, resume: Option<Resume>) -> Hello {
    let memory = rustix::system::sysinfo();
    // Both fields are machine words, which are 32 bits wide on some machines.
    #[allow(clippy::useless_conversion)]
    let memory_bytes = u64::from(memory.totalram).saturating_mul(memory.mem_unit.into());
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    Hello {
        name: options.name.clone(),
        software_version: env!("CARGO_PKG_VERSION").to_owned(),
        cores: u32::try_from(cores).unwrap_or(u32::MAX),
        memory_bytes,
        fd_limit: getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX),
        once: options.once,
        resume,
    }
}
