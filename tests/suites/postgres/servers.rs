//! The checks of the matrix of servers, on the versions that are at hand.

use pgsurge_tests::postgres::Version;
use pgsurge_tests::servers::{self, CHECKS};
use pgsurge_tests::turn;

#[test]
fn every_check_of_the_matrix_holds_on_the_versions_at_hand() {
    let _turn = turn::take();
    for version in Version::ALL {
        let server = servers::start(version);
        for check in CHECKS {
            let _ = (check.run)(&server);
        }
    }
}
