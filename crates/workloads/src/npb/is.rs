//! IS, "integer sort": the ranks of keys, ten times, with two keys changed each time (RNR-94-007, section 3.6). A worker puts its keys into
//! buckets; then each takes the buckets of a range of keys from all workers, and counts.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use charz_data::Class;

use super::random::{Random, SEED};
use super::{Benchmark, Member, Over, Solver};
use crate::team::part;
use charz_kernels::kernel::Error;
use charz_kernels::sys::futex::Scope;
use charz_kernels::sys::shared::Shared;

const ROUNDS: usize = 10;
/// Keys between two looks at the watch: some 40 µs.
const GROUP: usize = 1 << 14;
/// The most buckets: their ends stay in a first-level cache.
const MOST_BUCKETS: usize = 1 << 10;
/// Keys whose ranks the NPB has.
const TESTS: usize = 5;

struct Size {
    log_keys: u32,
    log_range: u32,
    /// Places of keys, each with its rank in round 0, and by how much that grows each round.
    tests: [(usize, i64, i64); TESTS],
}

/// The sizes, and the ranks of NPB. Small keys are moved up by the small ones that the rounds put in, and large ones down by the large.
fn size(class: Class) -> Size {
    let (log_keys, log_range, places, ranks): (_, _, [usize; TESTS], [i64; TESTS]) = match class {
        Class::S => (16, 11, [48427, 17148, 23627, 62548, 4431], [0, 18, 346, 64917, 65463]),
        Class::W => (20, 16, [357773, 934767, 875723, 898999, 404505], [1247, 11696, 1039987, 1043896, 1048018]),
        Class::A => (23, 19, [2112377, 662041, 5336171, 3642833, 4250760], [103, 17522, 123927, 8288933, 8388265]),
        Class::B => (25, 21, [41869, 812306, 5102857, 18232239, 26860214], [33422937, 10244, 59149, 33135281, 99]),
        Class::C => {
            (27, 23, [44172927, 72999161, 74326391, 129606274, 21736814], [61147, 882988, 266290, 133997595, 133525895])
        }
    };
    let keys = 1_i64 << log_keys;
    let tests = std::array::from_fn(|at| (places[at], ranks[at], if ranks[at] < keys / 2 { 1 } else { -1 }));
    Size { log_keys, log_range, tests }
}

pub(super) struct Is {
    size: Size,
    /// Bits of a key below those of its bucket.
    shift: u32,
    parts: Box<[Part]>,
    /// The keys by their places, and those of each worker by their buckets.
    keys: Shared<AtomicU32>,
    sorted: Shared<AtomicU32>,
    /// For each worker the end of each bucket among its sorted keys.
    ends: Shared<AtomicU32>,
    /// The keys at the places of the tests.
    tests: Shared<AtomicU32>,
}

/// What is a worker's.
struct Part {
    places: Range<usize>,
    /// Buckets that it counts.
    buckets: Range<usize>,
}

impl Benchmark for Is {
    type Solver = Ranks;

    fn operations(class: Class) -> f64 {
        ROUNDS as f64 * f64::from(size(class).log_keys).exp2()
    }

    fn bytes(class: Class, workers: usize) -> u64 {
        let size = size(class);
        // Keys twice, and their counts; the ends of buckets twice for each worker.
        4 * ((2 << size.log_keys) + (1 << size.log_range) + (2 * workers as u64) * MOST_BUCKETS as u64)
    }

    fn new(class: Class, workers: usize, scope: Scope) -> Result<Self, Error> {
        let size = size(class);
        let log_buckets = MOST_BUCKETS.ilog2().min(size.log_range - 2);
        let (keys, buckets) = (1 << size.log_keys, 1 << log_buckets);
        // The first bucket from which on there is this share of the keys.
        let bucket = |rank: usize| {
            let share = rank as f64 / workers as f64;
            (0..buckets).position(|bucket| below(bucket as f64 / buckets as f64) >= share).unwrap_or(buckets)
        };
        let parts = (0..workers).map(|rank| Part {
            places: part(rank, workers, keys),
            buckets: bucket(rank)..if rank + 1 == workers { buckets } else { bucket(rank + 1) },
        });
        Ok(Is {
            parts: parts.collect(),
            shift: size.log_range - log_buckets,
            keys: Shared::zeros(keys, scope)?,
            sorted: Shared::zeros(keys, scope)?,
            ends: Shared::zeros(workers * MOST_BUCKETS, scope)?,
            tests: Shared::zeros(TESTS, scope)?,
            size,
        })
    }

    fn solver(problem: &Arc<Self>, rank: usize) -> Ranks {
        let own = &problem.parts[rank];
        let mut random = Random::new(SEED).skip(4 * own.places.start as u64);
        let log_quarter = problem.size.log_range - 2;
        for place in own.places.clone() {
            problem.keys[place].store(key(&mut random, log_quarter), Ordering::Relaxed);
            problem.sorted[place].store(u32::MAX, Ordering::Relaxed);
        }
        Ranks {
            rank,
            counts: vec![u32::MAX; own.buckets.len() << problem.shift],
            ends: Box::new([0; MOST_BUCKETS]),
            first: 0,
            wrong: Vec::new(),
            problem: Arc::clone(problem),
        }
    }
}

/// The sum of four numbers, each of which is in 0 to a quarter of the range.
fn key(random: &mut Random, log_quarter: u32) -> u32 {
    ((0..4).map(|_| random.bits()).sum::<u64>() >> (46 - log_quarter)) as u32
}

/// The share of the keys below this share of their range: the distribution of the sum of four uniform numbers (Irwin-Hall).
fn below(share: f64) -> f64 {
    let sum = 4.0 * share;
    let power = |from: f64| (sum - from).max(0.0).powi(4);
    (power(0.0) - 4.0 * power(1.0) + 6.0 * power(2.0) - 4.0 * power(3.0)) / 24.0
}

/// Keys that other workers wrote before the last meeting, which orders it.
fn read(keys: &[AtomicU32]) -> impl Iterator<Item = u32> {
    keys.iter().map(|key| key.load(Ordering::Relaxed))
}

pub(super) struct Ranks {
    problem: Arc<Is>,
    rank: usize,
    /// Where the next key of each bucket goes.
    ends: Box<[u32; MOST_BUCKETS]>,
    /// For each key of its buckets, how many keys there are up to it, all keys before its buckets included.
    counts: Vec<u32>,
    /// How many keys are before its buckets.
    first: u32,
    /// Ranks that were wrong in the last run.
    wrong: Vec<String>,
}

impl Ranks {
    fn own(&self) -> &Part {
        &self.problem.parts[self.rank]
    }

    /// Puts a key at a place, if it is its own.
    fn put(&self, place: usize, key: u32) {
        if self.own().places.contains(&place) {
            self.problem.keys[place].store(key, Ordering::Relaxed);
        }
    }

    /// Puts in the two keys of a round, and shows the keys of the tests.
    fn change(&self, round: usize) {
        let largest = 1 << self.problem.size.log_range;
        self.put(round, round as u32);
        self.put(round + ROUNDS, (largest - round) as u32);
        for ((place, ..), shown) in self.problem.size.tests.iter().zip(&*self.problem.tests) {
            if self.own().places.contains(place) {
                shown.store(self.problem.keys[*place].load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
    }

    /// Puts the keys into their buckets.
    fn sort(&mut self, member: &Member<'_>) -> Result<(), Over> {
        let Ranks { problem, rank, ends, .. } = self;
        let (places, shift) = (problem.parts[*rank].places.clone(), problem.shift);
        let (keys, sorted) = (&problem.keys[places.clone()], &problem.sorted[places]);
        ends.fill(0);
        for group in keys.chunks(GROUP) {
            for key in read(group) {
                // The remainder changes nothing, and needs no check.
                ends[(key >> shift) as usize % MOST_BUCKETS] += 1;
            }
            member.look()?;
        }
        let mut end = 0;
        for count in ends.iter_mut() {
            (*count, end) = (end, end + *count);
        }
        for group in keys.chunks(GROUP) {
            for key in read(group) {
                let end = &mut ends[(key >> shift) as usize % MOST_BUCKETS];
                sorted[*end as usize].store(key, Ordering::Relaxed);
                *end += 1;
            }
            member.look()?;
        }
        let shown = &problem.ends[*rank * MOST_BUCKETS..];
        shown.iter().zip(ends.iter()).for_each(|(shown, end)| shown.store(*end, Ordering::Relaxed));
        Ok(())
    }

    /// Counts the keys of its buckets, one bucket after the other: its counts are in a first-level cache until they are added up.
    fn count(&mut self, member: &Member<'_>) -> Result<(), Over> {
        let Ranks { problem, rank, counts, first, .. } = self;
        let (buckets, width) = (problem.parts[*rank].buckets.clone(), 1 << problem.shift);
        let workers = 0..problem.parts.len();
        *first = workers.clone().map(|worker| problem.end(worker, buckets.start)).sum();
        let (mut rank, mut seen) = (*first, 0);
        for (bucket, counts) in buckets.zip(counts.chunks_exact_mut(width)) {
            counts.fill(0);
            for worker in workers.clone() {
                let keys = problem.bucket(worker, bucket);
                // A key of the bucket, less what the bucket has in common.
                read(keys).for_each(|key| counts[key as usize & (width - 1)] += 1);
                seen += keys.len();
            }
            for count in counts {
                rank += *count;
                *count = rank;
            }
            seen += width;
            if seen >= GROUP {
                member.look()?;
                seen = 0;
            }
        }
        Ok(())
    }

    /// Compares the ranks of its keys among those of the tests.
    fn test(&mut self, round: usize) {
        let base = self.own().buckets.start << self.problem.shift;
        for ((place, rank, step), key) in self.problem.size.tests.iter().zip(&*self.problem.tests) {
            let key = key.load(Ordering::Relaxed) as usize;
            if !(base..base + self.counts.len()).contains(&key) {
                continue;
            }
            let found = if key == base { self.first } else { self.counts[key - base - 1] };
            let expected = rank + step * round as i64;
            if i64::from(found) != expected {
                self.wrong.push(format!(
                    "in round {round} key {key} of place {place} has rank {found} instead of {expected}"
                ));
            }
        }
    }

    /// Takes each key away from those that are counted: what is left of a count is that of the keys below it. So every key has a rank
    /// of its own, and they are in order.
    fn count_back(&mut self) -> Result<(), String> {
        let base = self.own().buckets.start << self.problem.shift;
        let range = base..base + self.counts.len();
        let counted = self.counts.clone();
        for key in read(&self.problem.keys).map(|key| key as usize).filter(|key| range.contains(key)) {
            self.counts[key - base] = self.counts[key - base].wrapping_sub(1);
        }
        let below = [self.first].into_iter().chain(counted.iter().copied());
        let wrong = self.counts.iter().zip(below).position(|(left, below)| *left != below);
        self.counts = counted;
        match wrong {
            None => Ok(()),
            Some(at) => Err(format!("the ranks of key {} are not those of keys in order", base + at)),
        }
    }
}

impl Is {
    /// The end of the bucket before this one, among a worker's sorted keys.
    fn end(&self, worker: usize, bucket: usize) -> u32 {
        if bucket == 0 { 0 } else { self.ends[worker * MOST_BUCKETS + bucket - 1].load(Ordering::Relaxed) }
    }

    /// A worker's keys of a bucket.
    fn bucket(&self, worker: usize, bucket: usize) -> &[AtomicU32] {
        let sorted = &self.sorted[self.parts[worker].places.clone()];
        &sorted[self.end(worker, bucket) as usize..self.end(worker, bucket + 1) as usize]
    }
}

impl Solver for Ranks {
    fn prepare(&mut self) {
        self.wrong.clear();
        // The rounds of the last run have changed these.
        let mut random = Random::new(SEED);
        for place in 0..=2 * ROUNDS {
            self.put(place, key(&mut random, self.problem.size.log_range - 2));
        }
    }

    fn solve(&mut self, member: &mut Member<'_>) -> Result<(), Over> {
        for round in 1..=ROUNDS {
            self.change(round);
            self.sort(member)?;
            member.meet()?;
            self.count(member)?;
            self.test(round);
            // No worker sorts anew while another still counts.
            member.meet()?;
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<(), String> {
        match self.wrong.first() {
            Some(wrong) => Err(wrong.clone()),
            None => self.count_back(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check_noticed;
    use super::*;

    #[test]
    fn another_key_is_noticed() {
        check_noticed::<Is>(|ranks| {
            let place = (1000..).find(|place| ranks.problem.keys[*place].load(Ordering::Relaxed) > 400).unwrap();
            ranks.put(place, 1);
        });
    }

    #[test]
    fn ranks_out_of_order_are_noticed() {
        let problem = Arc::new(Is::new(Class::S, 1, Scope::Process).unwrap());
        let mut ranks = Is::solver(&problem, 0);
        ranks.counts.iter_mut().zip(1..).for_each(|(count, rank)| *count = rank);
        assert!(ranks.count_back().is_err());
    }

    #[test]
    fn the_distribution_is_even_and_goes_from_nothing_to_all() {
        assert_eq!([0.0, 0.5, 1.0].map(below), [0.0, 0.5, 1.0]);
        let share = |count: u32| f64::from(count) / 64.0;
        assert!((0..64).all(|at| below(share(at)) < below(share(at + 1))));
    }
}
