//! Who gets which stream: pgbench's seeding order, and what a cluster adds behind it.
//!
//! One base stream is seeded by `--random-seed`; each of its outputs seeds one further stream, in
//! this order: every client's functions, the default seed of hashes (only if no `-D` presets it),
//! then for each worker its script chooser, its throttle and its log sampler. Script choice is per
//! client here, so that it depends neither on the number of workers nor on timing: client 0 has the
//! chooser of pgbench's first thread, the others draw theirs 2^64 outputs further on in the base
//! stream, where pgbench never gets to. Invariant: nothing depends on agents or workers, except the
//! two streams that a worker owns.

use super::Generator;

/// The streams of one run; cheap to make and to copy.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    random_seed: u64,
    clients: Generator,
    default_seed: Option<u64>,
    workers: Generator,
    choosers: Generator,
}

/// What one client draws from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientStreams {
    /// The random functions of its scripts.
    pub functions: Generator,
    /// Which script is next.
    pub chooser: Generator,
}

impl ClientStreams {
    /// The streams of a client that has changed its agent so often: it goes on 2^64 outputs further in its
    /// own streams each time. So no value is drawn again that the lost agent may have used (a server that
    /// sees the same keys twice finds them cached), and what comes is known in advance all the same.
    #[must_use]
    pub fn moved(self, moves: u32) -> Self {
        (0..moves).fold(self, |own, _| Self {
            functions: own.functions.jumped(),
            chooser: own.chooser.jumped(),
        })
    }
}

/// What one worker draws from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerStreams {
    /// Gaps between transactions under `-R`.
    pub throttle: Generator,
    /// Which transactions are logged under `--sampling-rate`.
    pub log: Generator,
}

/// Base outputs a worker consumes.
const DRAWS_PER_WORKER: u64 = 3;

impl Streams {
    /// The streams of a run with `clients` sessions in the whole cluster; `default_seed_preset`
    /// tells that a `-D` defines `default_seed`, which then takes no draw.
    #[must_use]
    pub fn new(random_seed: u64, clients: u32, default_seed_preset: bool) -> Self {
        let base = Generator::from_seed(random_seed);
        let mut behind = base;
        behind.skip(u64::from(clients));
        let default_seed = (!default_seed_preset).then(|| behind.next_u64());
        Self { random_seed, clients: base, default_seed, workers: behind, choosers: base.jumped() }
    }

    /// The seed of the run, as scripts see it in `:random_seed`.
    #[must_use]
    pub fn random_seed(&self) -> i64 {
        self.random_seed.cast_signed()
    }

    /// The seed of hashes, as scripts see it in `:default_seed`; absent if it was preset.
    #[must_use]
    pub fn default_seed(&self) -> Option<i64> {
        self.default_seed.map(u64::cast_signed)
    }

    /// The streams of `count` consecutive clients from number `first` on; costs one step of the
    /// generator for each client before them.
    pub fn clients(&self, first: u32, count: u32) -> impl Iterator<Item = ClientStreams> + use<> {
        let (mut functions, mut choosers) = (self.clients, self.choosers);
        functions.skip(u64::from(first));
        choosers.skip(u64::from(first));
        let mut first_thread = self.workers;
        let zero = first_thread.next_u64();
        (first..first.saturating_add(count)).map(move |client| {
            // Drawn for client 0 too, so that its neighbours do not depend on where a range begins.
            let seed = choosers.next_u64();
            ClientStreams {
                functions: Generator::from_seed(functions.next_u64()),
                chooser: Generator::from_seed(if client == 0 { zero } else { seed }),
            }
        })
    }

    /// The streams of worker number `worker`, counted over the whole cluster.
    #[must_use]
    pub fn worker(&self, worker: u32) -> WorkerStreams {
        let mut base = self.workers;
        base.skip(u64::from(worker) * DRAWS_PER_WORKER + 1);
        WorkerStreams {
            throttle: Generator::from_seed(base.next_u64()),
            log: Generator::from_seed(base.next_u64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::uniform;

    #[test]
    fn default_seed_depends_on_the_number_of_clients_only() {
        assert_eq!(Streams::new(5432, 1, false).default_seed(), Some(7_590_783_070_443_337_668));
        assert_eq!(Streams::new(5432, 2, false).default_seed(), Some(7_312_993_047_133_655_103));
        assert_eq!(Streams::new(5432, 2, true).default_seed(), None);
    }

    #[test]
    fn clients_draw_what_pgbench_gives_them() {
        let first = |clients| {
            let streams = Streams::new(5432, clients, false).clients(0, clients);
            streams.map(|mut s| uniform(&mut s.functions, 1, 100_000)).collect::<Vec<_>>()
        };
        assert_eq!(first(1), [58915]);
        assert_eq!(first(2), [58915, 63368]);
    }

    #[test]
    fn a_client_has_the_same_streams_wherever_its_range_begins() {
        let streams = Streams::new(1, 40, false);
        let whole: Vec<_> = streams.clients(0, 40).collect();
        for first in 0..40 {
            let part: Vec<_> = streams.clients(first, 40 - first).collect();
            assert_eq!(part, whole[first as usize..], "range from {first}");
        }
    }

    #[test]
    fn no_two_streams_are_equal() {
        let streams = Streams::new(1, 50, false);
        let lives = |client: ClientStreams| (0..3).map(move |moves| client.moved(moves));
        let clients = streams.clients(0, 50).flat_map(lives);
        let clients = clients.flat_map(|c| [c.functions, c.chooser]);
        let workers = (0..50).map(|w| streams.worker(w)).flat_map(|w| [w.throttle, w.log]);
        let all: Vec<_> = clients.chain(workers).collect();
        for (index, stream) in all.iter().enumerate() {
            assert!(!all[..index].contains(stream), "stream {index} repeats");
        }
    }
}
