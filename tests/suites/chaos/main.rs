//! What goes wrong at random: a few schedules of those that `tests/nightly chaos` makes without end.
//!
//! `PGSURGE_SEED=N` runs the schedule of that seed in their place.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]
#![allow(clippy::print_stderr, reason = "a failure is found again by what was printed")]

mod as_root {
    use pgsurge_tests::chaos::{Schedule, execute};
    use pgsurge_tests::turn;

    fn run(seeds: &[u64]) {
        let only = std::env::var("PGSURGE_SEED").ok().map(|seed| seed.parse().unwrap());
        let seeds = only.map_or_else(|| seeds.to_vec(), |seed| vec![seed]);
        let _turn = turn::take();
        for seed in seeds {
            let schedule = Schedule::of(seed);
            eprint!("{schedule}");
            let outcome = execute(&schedule);
            eprint!("{outcome}");
            assert!(outcome.wrong.is_empty(), "PGSURGE_SEED={seed} repeats it");
        }
    }

    /// Together they have every kind of event, policy and workload.
    #[test]
    fn whatever_goes_wrong_counts_hold_and_everything_ends() {
        run(&[6, 78, 32, 81, 148]);
    }
}
