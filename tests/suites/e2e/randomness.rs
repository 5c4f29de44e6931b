//! I3: what a client draws depends on the seed and its number, never on where it runs.

use pgsurge_tests::cluster::{Cluster, Run};
use pgsurge_tests::postgres::Settings;
use pgsurge_tests::process::Running;

use super::fixture::{PATIENCE, World};

const SCRIPT: &str = "\\set a random(1, 1000000000)\n\
    \\set b random_gaussian(1, 1000, 2.5)\n\
    INSERT INTO draws (client, a, b) VALUES (:client_id, :a, :b);\n";

/// What each client drew, in its order, since the last call.
fn draws(world: &World) -> String {
    let rows = "select client, string_agg(a || '/' || b, ' ' order by n) as line \
         from draws group by client";
    let sql = format!(
        "select string_agg(client || ': ' || line, E'\\n' order by client) from ({rows}) r"
    );
    let drawn = world.server.value(&sql);
    world.server.execute("truncate draws");
    drawn
}

#[test]
fn every_client_draws_the_same_in_a_cluster_of_any_shape_and_in_pgbench() {
    let world = World::bare(&Settings::new());
    world.server.execute("create table draws (n bigserial, client int, a bigint, b bigint)");
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("draw.sql");
    std::fs::write(&script, SCRIPT).unwrap();
    let file = script.to_str().unwrap();
    let load = ["-c", "8", "-t", "6", "-n", "--random-seed", "4711", "-f", file];
    let with = |more: &[&'static str]| [&load[..], more, &[&world.uri]].concat();

    let mut pgbench = world.server.command("pgbench");
    pgbench.args(load);
    let _ = Running::run("pgbench", &mut pgbench, PATIENCE).expect_code(0);
    let expected = draws(&world);
    assert_eq!(expected.lines().count(), 8, "{expected}");

    for workers in ["1", "3"] {
        let _ = Run::local(&with(&["-j", workers])).finish(PATIENCE).expect_code(0);
        assert_eq!(draws(&world), expected, "one agent, {workers} workers");
    }
    let cluster = Cluster::start(4);
    let _ = cluster.run(&with(&["-j", "2"])).finish(PATIENCE).expect_code(0);
    assert_eq!(draws(&world), expected, "four agents");
}
