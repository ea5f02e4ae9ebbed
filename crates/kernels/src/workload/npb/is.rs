//! IS, "integer sort": the ranks of keys, ten times, with two keys changed each time (RNR-94-007, section 3.6). A worker puts its keys into
//! buckets; then each takes the buckets of a range of keys from all workers, and counts.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use charz_data::Class;

use super::random::{Random, SEED};
use super::{Benchmark, Member, Over, Solver};
use crate::workload::team::part;

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
    keys: usize,
    /// Bits of a key below those of its bucket.
    shift: u32,
    parts: Box<[Part]>,
    /// The keys at the places of the tests.
    tests: [AtomicU32; TESTS],
}

/// What a worker shows to the others.
struct Part {
    /// Buckets that it counts.
    buckets: Range<usize>,
    /// The keys by their places, and by their buckets.
    keys: RwLock<Vec<u32>>,
    sorted: RwLock<Vec<u32>>,
    /// The end of each bucket among the sorted keys.
    ends: Box<[AtomicU32]>,
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

    fn new(class: Class, workers: usize) -> Self {
        let size = size(class);
        let log_buckets = MOST_BUCKETS.ilog2().min(size.log_range - 2);
        let (keys, buckets) = (1 << size.log_keys, 1 << log_buckets);
        // The first bucket from which on there is this share of the keys.
        let bucket = |rank: usize| {
            let share = rank as f64 / workers as f64;
            (0..buckets).position(|bucket| below(bucket as f64 / buckets as f64) >= share).unwrap_or(buckets)
        };
        let part = |rank: usize| Part {
            buckets: bucket(rank)..if rank + 1 == workers { buckets } else { bucket(rank + 1) },
            keys: RwLock::default(),
            sorted: RwLock::default(),
            ends: (0..buckets).map(|_| AtomicU32::new(0)).collect(),
        };
        let (shift, parts) = (size.log_range - log_buckets, (0..workers).map(part).collect());
        Is { size, keys, shift, parts, tests: Default::default() }
    }

    fn solver(problem: &Arc<Self>, rank: usize) -> Ranks {
        let places = part(rank, problem.parts.len(), problem.keys);
        let mut random = Random::new(SEED).skip(4 * places.start as u64);
        let log_quarter = problem.size.log_range - 2;
        let keys: Vec<u32> = places.clone().map(|_| key(&mut random, log_quarter)).collect();
        let own = &problem.parts[rank];
        *write(&own.sorted) = vec![u32::MAX; keys.len()];
        *write(&own.keys) = keys;
        let counts = vec![u32::MAX; own.buckets.len() << problem.shift];
        Ranks {
            problem: Arc::clone(problem),
            rank,
            places,
            ends: Box::new([0; MOST_BUCKETS]),
            counts,
            first: 0,
            wrong: Vec::new(),
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

fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

pub(super) struct Ranks {
    problem: Arc<Is>,
    rank: usize,
    /// Of its own keys among all.
    places: Range<usize>,
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

    /// Puts in the two keys of a round, and shows the keys of the tests.
    fn change(&self, round: usize) {
        let mut keys = write(&self.own().keys);
        let largest = 1 << self.problem.size.log_range;
        for (place, key) in [(round, round), (round + ROUNDS, largest - round)] {
            if self.places.contains(&place) {
                keys[place - self.places.start] = key as u32;
            }
        }
        for ((place, ..), shown) in self.problem.size.tests.iter().zip(&self.problem.tests) {
            if self.places.contains(place) {
                // Relaxed: a meeting orders it before every reading.
                shown.store(keys[place - self.places.start], Ordering::Relaxed);
            }
        }
    }

    /// Puts the keys into their buckets.
    fn sort(&mut self, member: &Member<'_>) -> Result<(), Over> {
        let problem = Arc::clone(&self.problem);
        let own = &problem.parts[self.rank];
        let (keys, shift) = (read(&own.keys), problem.shift);
        let ends = &mut *self.ends;
        ends.fill(0);
        for group in keys.chunks(GROUP) {
            for key in group {
                // The remainder changes nothing, and needs no check.
                ends[(key >> shift) as usize % MOST_BUCKETS] += 1;
            }
            member.look()?;
        }
        let mut end = 0;
        for count in &mut *ends {
            (*count, end) = (end, end + *count);
        }
        let mut sorted = write(&own.sorted);
        let sorted = sorted.as_mut_slice();
        for group in keys.chunks(GROUP) {
            for key in group {
                let end = &mut ends[(key >> shift) as usize % MOST_BUCKETS];
                sorted[*end as usize] = *key;
                *end += 1;
            }
            member.look()?;
        }
        for (shown, end) in own.ends.iter().zip(ends) {
            // Relaxed: a meeting orders it before every reading.
            shown.store(*end, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Counts the keys of its buckets.
    fn count(&mut self, member: &Member<'_>) -> Result<(), Over> {
        let Ranks { problem, rank, counts, first, .. } = self;
        let (buckets, shift) = (problem.parts[*rank].buckets.clone(), problem.shift);
        let base = (buckets.start << shift) as u32;
        let counts = counts.as_mut_slice();
        counts.fill(0);
        *first = problem.parts.iter().map(|part| end(part, buckets.start)).sum();
        let mut seen = 0;
        for bucket in buckets {
            for part in &problem.parts {
                let sorted = read(&part.sorted);
                let keys = &sorted[end(part, bucket) as usize..end(part, bucket + 1) as usize];
                for key in keys {
                    counts[(key - base) as usize] += 1;
                }
                seen += keys.len();
            }
            if seen >= GROUP {
                member.look()?;
                seen = 0;
            }
        }
        let mut rank = *first;
        for group in counts.chunks_mut(GROUP) {
            for count in group {
                rank += *count;
                *count = rank;
            }
            member.look()?;
        }
        Ok(())
    }

    /// Compares the ranks of its keys among those of the tests.
    fn test(&mut self, round: usize) {
        let base = self.own().buckets.start << self.problem.shift;
        for ((place, rank, step), key) in self.problem.size.tests.iter().zip(&self.problem.tests) {
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
        for part in &self.problem.parts {
            for key in read(&part.keys).iter().map(|key| *key as usize).filter(|key| range.contains(key)) {
                self.counts[key - base] = self.counts[key - base].wrapping_sub(1);
            }
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

/// The end of the bucket before this one, among the sorted keys of a part.
fn end(part: &Part, bucket: usize) -> u32 {
    if bucket == 0 { 0 } else { part.ends[bucket - 1].load(Ordering::Relaxed) }
}

impl Solver for Ranks {
    fn prepare(&mut self) {
        self.wrong.clear();
        // The rounds of the last run have changed these.
        let mut random = Random::new(SEED);
        let mut keys = write(&self.own().keys);
        for place in 0..=2 * ROUNDS {
            let key = key(&mut random, self.problem.size.log_range - 2);
            if self.places.contains(&place) {
                keys[place - self.places.start] = key;
            }
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
            write(&ranks.own().keys).iter_mut().skip(1000).filter(|key| **key > 400).take(1).for_each(|key| *key = 1);
        });
    }

    #[test]
    fn ranks_out_of_order_are_noticed() {
        let problem = Arc::new(Is::new(Class::S, 1));
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
