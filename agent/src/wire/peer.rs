//! Who owns the server behind a unix socket (`requirepeer`).

use tokio::net::UnixStream;

use super::error::ConnectError;

/// Where local users are listed; users of network directories are not found there.
const USERS: &str = "/etc/passwd";

/// The id of a local user.
pub(super) fn user_id(name: &str) -> Result<u32, ConnectError> {
    let users = std::fs::read_to_string(USERS).unwrap_or_default();
    find(&users, name).ok_or_else(|| {
        let message = format!("requirepeer specifies \"{name}\", who is not a user of {USERS}");
        ConnectError::new("peer", message)
    })
}

fn find(users: &str, name: &str) -> Option<u32> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == name).then(|| fields.nth(1)?.parse().ok()).flatten()
    })
}

/// Refuses a server that runs as somebody else.
pub(super) fn check(socket: &UnixStream, wanted: u32) -> Result<(), ConnectError> {
    let actual = socket.peer_cred()?.uid();
    if actual == wanted {
        return Ok(());
    }
    let message =
        format!("requirepeer specifies user id {wanted}, but the server runs as user id {actual}");
    Err(ConnectError::new("peer", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_the_whole_name() {
        let users = "root:x:0:0::/root:/bin/sh\npostgres:x:105:113::/var:/bin/sh\nbad\n";
        assert_eq!(find(users, "postgres"), Some(105));
        assert_eq!(find(users, "post"), None);
        assert_eq!(find(users, "bad"), None);
    }
}
