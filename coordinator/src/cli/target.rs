//! From the options that name the target, and this process's surroundings, to the target itself.

use anyhow::Result;
use pgsurge_common::target::{Request, Secret, Target, resolve};

use super::connection::ConnectionArgs;
use super::tell;
use crate::surroundings::Process;

/// Resolves the target, and says on stderr what was passed over on the way.
pub fn resolve_target(connection: &ConnectionArgs) -> Result<Target> {
    let request = Request {
        host: connection.host.clone(),
        port: connection.port.clone(),
        user: connection.user.clone(),
        database: connection.dbname.clone().map(Secret::new),
        password: None,
        fallback_application_name: "pgsurge".to_owned(),
    };
    let resolved = resolve(&request, &Process)?;
    for warning in &resolved.warnings {
        tell::warning(warning);
    }
    Ok(resolved.target)
}
