//! A lap: what one worker did in a repetition, or several workers that are alike.

use serde::{Deserialize, Serialize};

use crate::checks::{FEW_FAULTS, V03, V04, V22};
use crate::{Blocks, Contention, HardwareCounts};

/// The groups that the workers of a repetition are put in: a report of thousands of workers takes no more than one of 16.
const GROUPS: usize = 16;

/// What a minor fault takes in the kernel, in nanoseconds: about a microsecond on the machines that charz was made on.
const MINOR_FAULT_NS: f64 = 1000.0;

/// The part of a repetition that one worker did, or several together: counts are their sums then. Stamps count from an arbitrary origin
/// that all laps of an invocation share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lap {
    /// The worker's number; of several, the first one's, and so are seat and strand.
    pub rank: u64,
    /// Derived: OS id of its seat, by its rank and its cell; `None` for a floating worker.
    #[serde(skip)]
    pub seat: Option<u32>,
    /// OS id of the strand that it was on after the iteration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strand: Option<u32>,
    /// First stamp.
    pub start_ns: u64,
    /// Last stamp.
    pub end_ns: u64,
    /// Operations done.
    pub ops: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Whether it was bound to its seat, and on it, before and after; absent for a floating worker or where unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_seat: Option<bool>,
    /// How often it looked, between blocks of its work, where it was.
    pub checks: u64,
    /// How often it was not on its seat then; absent for a floating worker or where unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strays: Option<u64>,
    /// What the system counted for the thread around the run.
    pub counts: Counts,
    /// What it met at what it shares with others; absent where it shares nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contention: Option<Contention>,
    /// The times of its blocks while all workers were at work; absent of kernels whose workers share more than the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Blocks>,
    /// What the processor counted; absent or absent of invocations without counters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardware: Option<Box<HardwareCounts>>,
    /// What is kept of the single workers of a lap of several; absent for a lap of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Group>,
}

/// Of the workers of one lap.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// How many they are: two or more.
    pub workers: u64,
    /// When the last of them started.
    pub last_start_ns: u64,
    /// When the first of them ended.
    pub first_end_ns: u64,
    /// The sum of their times from start to end.
    pub time_ns: u64,
    /// The operations of the one with fewest.
    pub least_ops: u64,
    /// The operations of the one with most.
    pub most_ops: u64,
    /// The sum of the squares of their operations.
    pub ops_squared: f64,
}

/// What the system counted for a thread; absent where it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Nanoseconds on a strand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// Nanoseconds spent ready to run, waiting for a strand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_delay_ns: Option<u64>,
    /// Context switches that the thread did not ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub involuntary_switches: Option<u64>,
    /// Moves from strand to strand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migrations: Option<u64>,
    /// Page faults that needed no disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minor_faults: Option<u64>,
    /// Page faults that waited for a disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub major_faults: Option<u64>,
}

impl Counts {
    /// Of a thread that never ran.
    pub const NOTHING: Counts = Counts {
        cpu_ns: Some(0),
        run_delay_ns: Some(0),
        involuntary_switches: Some(0),
        migrations: Some(0),
        minor_faults: Some(0),
        major_faults: Some(0),
    };

    /// The counts of both threads together, where both were counted.
    #[must_use]
    pub fn plus(self, other: Counts) -> Counts {
        self.with(other, u64::saturating_add)
    }

    /// What was counted since; a count that has stepped back has not grown.
    #[must_use]
    pub fn since(self, earlier: Counts) -> Counts {
        self.with(earlier, u64::saturating_sub)
    }

    fn with(self, other: Counts, joined: fn(u64, u64) -> u64) -> Counts {
        let join = |one: Option<u64>, other: Option<u64>| Some(joined(one?, other?));
        Counts {
            cpu_ns: join(self.cpu_ns, other.cpu_ns),
            run_delay_ns: join(self.run_delay_ns, other.run_delay_ns),
            involuntary_switches: join(self.involuntary_switches, other.involuntary_switches),
            migrations: join(self.migrations, other.migrations),
            minor_faults: join(self.minor_faults, other.minor_faults),
            major_faults: join(self.major_faults, other.major_faults),
        }
    }
}

impl Lap {
    /// Workers in a group, of so many in all. A group has consecutive ranks: neighbours, for most mappers.
    pub fn group_size(workers: usize) -> usize {
        workers.div_ceil(GROUPS).max(1)
    }

    /// The laps of all workers, by rank, as they are kept: of more than 16 workers, those of a group are one lap, or a few where they
    /// differ in what makes a repetition dirty. What follows from them stays as it is, but for what blocks tell of a single worker.
    pub fn grouped(laps: Vec<Lap>) -> Vec<Lap> {
        let size = Lap::group_size(laps.len());
        if size == 1 {
            return laps;
        }
        let merged = laps.chunks(size).flat_map(|group| {
            let mut alike: Vec<Vec<&Lap>> = Vec::new();
            for lap in group {
                match alike.iter_mut().find(|laps| laps[0].traits() == lap.traits()) {
                    Some(laps) => laps.push(lap),
                    None => alike.push(vec![lap]),
                }
            }
            alike.into_iter().map(|laps| Lap::merged(&laps))
        });
        merged.collect()
    }

    /// In what workers of one lap agree: whether they worked, what makes a repetition dirty, and the time of their middle block, in steps
    /// of 5%, so a mean of their times is that of their rates within 0.1%.
    fn traits(&self) -> ([bool; 4], Option<i64>) {
        let middle = self.blocks.as_ref().and_then(|blocks| blocks.times.get(blocks.times.len() / 2));
        let speed = middle.map(|time| (time.ln() / 0.05).floor() as i64);
        ([self.ops > 0, self.waited(), self.stood_still(), self.faulted()], speed)
    }

    /// One of these, which are by rank, or all of them as one.
    fn merged(laps: &[&Lap]) -> Lap {
        let first = laps[0];
        if laps.len() == 1 {
            return first.clone();
        }
        let all = || laps.iter().copied();
        let sum = |of: fn(&Lap) -> u64| all().map(of).sum();
        let known = |of: fn(&Lap) -> Option<u64>| all().map(of).sum();
        let met = |mut one: Contention, other| {
            one += other;
            one
        };
        let hardware: Option<Vec<&HardwareCounts>> = all().map(|lap| lap.hardware.as_deref()).collect();
        let blocks: Option<Vec<(&Blocks, u64)>> =
            all().map(|lap| Some((lap.blocks.as_ref()?, lap.workers()))).collect();
        Lap {
            rank: first.rank,
            seat: first.seat,
            strand: first.strand,
            start_ns: all().map(|lap| lap.start_ns).min().unwrap_or(0),
            end_ns: all().map(|lap| lap.end_ns).max().unwrap_or(0),
            ops: sum(|lap| lap.ops),
            bytes: sum(|lap| lap.bytes),
            on_seat: match all().any(|lap| lap.on_seat == Some(false)) {
                true => Some(false),
                false => all().all(|lap| lap.on_seat.is_some()).then_some(true),
            },
            checks: sum(|lap| lap.checks),
            strays: known(|lap| lap.strays),
            counts: all().map(|lap| lap.counts).reduce(Counts::plus).unwrap_or_default(),
            contention: all().filter_map(|lap| lap.contention).reduce(met),
            blocks: blocks.map(|blocks| Blocks::mean(&blocks, true)),
            hardware: hardware.and_then(HardwareCounts::sum).map(Box::new),
            group: Some(Group {
                workers: laps.len() as u64,
                last_start_ns: all().map(Lap::last_start_ns).max().unwrap_or(0),
                first_end_ns: all().map(Lap::first_end_ns).min().unwrap_or(0),
                time_ns: sum(Lap::time_ns),
                least_ops: all().map(|lap| lap.ops).min().unwrap_or(0),
                most_ops: all().map(|lap| lap.ops).max().unwrap_or(0),
                ops_squared: all().map(Lap::ops_squared).sum(),
            }),
        }
    }

    /// How many workers it stands for.
    pub fn workers(&self) -> u64 {
        self.group.map_or(1, |group| group.workers)
    }

    /// When the last of them began.
    pub fn last_start_ns(&self) -> u64 {
        self.group.map_or(self.start_ns, |group| group.last_start_ns)
    }

    /// When the first of them had ended.
    pub fn first_end_ns(&self) -> u64 {
        self.group.map_or(self.end_ns, |group| group.first_end_ns)
    }

    /// From start to end, summed over its workers.
    pub fn time_ns(&self) -> u64 {
        self.group.map_or(self.end_ns.saturating_sub(self.start_ns), |group| group.time_ns)
    }

    /// The operations of the worker with fewest, and of the one with most.
    pub fn ops_range(&self) -> (u64, u64) {
        self.group.map_or((self.ops, self.ops), |group| (group.least_ops, group.most_ops))
    }

    /// The squares of the workers' operations, summed.
    pub fn ops_squared(&self) -> f64 {
        self.group.map_or((self.ops as f64).powi(2), |group| group.ops_squared)
    }

    /// Whether a worker was not on its seat.
    pub fn off_seat(&self) -> bool {
        self.seat.is_some() && (self.on_seat == Some(false) || self.strays.is_some_and(|strays| strays > 0))
    }

    /// Whether the system moved a worker from its seat.
    pub fn moved(&self) -> bool {
        self.seat.is_some() && self.counts.migrations.is_some_and(|migrations| migrations > 0)
    }

    /// What waiting for a strand cost, in nanoseconds; `None` where the system does not report it. The wait is counted over more than the
    /// lap, so it cost no more than the time in which the worker did not run.
    pub fn waited_ns(&self) -> Option<u64> {
        let off = self.counts.cpu_ns.map_or(u64::MAX, |ran| self.time_ns().saturating_sub(ran));
        self.counts.run_delay_ns.map(|delay| delay.min(off))
    }

    /// Whether waiting for a strand cost more than V03 lets pass.
    ///
    /// An involuntary switch by itself says little: every lap of a good part of a second has some, of microseconds. The time
    /// that it cost counts; only if the system does not report that time, the switch is used.
    pub fn waited(&self) -> bool {
        match self.waited_ns() {
            Some(waited) => V03.dirties(self.share(waited as f64)),
            None => self.counts.involuntary_switches.is_some_and(|switches| switches > 0),
        }
    }

    /// Whether a worker neither ran nor waited for its strand for longer than V04 lets pass. Both are counted over a little more than
    /// the lap, so the time that it stood still is a lower bound.
    ///
    /// This holds where workers share strands too: waiting for a turn is run delay.
    pub fn stood_still(&self) -> bool {
        let counts = &self.counts;
        let delay = match (counts.run_delay_ns, counts.involuntary_switches) {
            (Some(delay), _) => delay,
            // Never taken from its strand, it never waited for it.
            (None, Some(0)) => 0,
            (None, _) => return false,
        };
        counts.cpu_ns.is_some_and(|ran| {
            let lost = i128::from(self.time_ns()) - i128::from(ran) - i128::from(delay);
            V04.dirties(self.share(lost as f64))
        })
    }

    /// Whether a page fault waited for a disk.
    pub fn waited_for_disk(&self) -> bool {
        self.counts.major_faults.is_some_and(|faults| faults > 0)
    }

    /// Whether page faults, more than the few that any thread has, took more of the time than V22 lets pass.
    pub fn faulted(&self) -> bool {
        let many = self.counts.minor_faults.filter(|&faults| faults > FEW_FAULTS * self.workers());
        many.is_some_and(|faults| V22.dirties(self.share(faults as f64 * MINOR_FAULT_NS)))
    }

    /// A share of its time; of no time nothing can be said but that.
    fn share(&self, nanos: f64) -> f64 {
        nanos / self.time_ns().max(1) as f64
    }

    /// Why it cannot have been, as the end of a sentence about the cell.
    pub(super) fn contradiction(&self) -> Option<&'static str> {
        let met = self.contention.unwrap_or_default();
        let blocks = || self.blocks.as_ref().and_then(Blocks::contradiction);
        let hardware = || self.hardware.as_deref().and_then(HardwareCounts::contradiction);
        if self.end_ns < self.start_ns {
            return Some("has a lap that ends before it starts");
        }
        if met.failures > met.attempts {
            return Some("has a lap with more failures than attempts");
        }
        if met.sampled_waits > met.waits {
            return Some("has a lap with more sampled waits than waits");
        }
        if self.group.is_some_and(|group| !group.fits(self)) {
            return Some("has a lap of several workers that contradicts itself");
        }
        blocks().or_else(hardware)
    }
}

impl Group {
    /// Whether these workers can have made the lap.
    fn fits(&self, lap: &Lap) -> bool {
        let Group { workers, last_start_ns, first_end_ns, time_ns, least_ops, most_ops, ops_squared } = *self;
        let within = |at: u64| (lap.start_ns..=lap.end_ns).contains(&at);
        let all = |each: u64| u128::from(each) * u128::from(workers);
        // By the inequality between the mean and the mean of squares, but for rounding.
        let least_squared = (lap.ops as f64).powi(2) / workers as f64 * (1.0 - 1e-9);
        workers >= 2
            && within(last_start_ns)
            && within(first_end_ns)
            && u128::from(time_ns) <= all(lap.end_ns - lap.start_ns)
            && (all(least_ops)..=all(most_ops)).contains(&lap.ops.into())
            && ops_squared >= least_squared
            && ops_squared <= most_ops as f64 * lap.ops as f64 * (1.0 + 1e-9)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::{Run, Unit};

    #[test]
    fn what_one_thread_did_not_count_is_unknown_of_both() {
        let of = |migrations, run_delay_ns| Counts { migrations: Some(migrations), run_delay_ns, ..Counts::default() };
        assert_eq!((of(5, Some(9)).since(of(3, None)), of(5, None).plus(of(3, Some(9)))), (of(2, None), of(8, None)));
        assert_eq!(
            (of(3, Some(0)).since(of(5, Some(1))), of(5, None).plus(Counts::NOTHING)),
            (of(0, Some(0)), of(5, None))
        );
    }

    /// A lap of about 10 ms in which something may have been taken from the worker.
    fn lap() -> impl Strategy<Value = Lap> {
        let place = (prop::option::of(any::<bool>()), prop::option::of(0..2_u64));
        let taken = (0..400_000_u64, 0..400_000_u64, 0..40_u64, any::<bool>());
        (0..5000_u64, 10_000_000..10_050_000_u64, 0..1000_u64, place, taken).prop_map(
            |(start_ns, time, ops, (on_seat, strays), (delay, still, faults, knows))| Lap {
                seat: Some(0),
                start_ns,
                end_ns: start_ns + time,
                ops,
                bytes: ops * 64,
                on_seat,
                checks: 100,
                strays,
                counts: Counts {
                    cpu_ns: Some(time - delay - still),
                    run_delay_ns: knows.then_some(delay),
                    involuntary_switches: Some(u64::from(delay > 0)),
                    migrations: Some(0),
                    minor_faults: Some(faults * 10),
                    major_faults: Some(u64::from(faults == 39)),
                },
                contention: Some(Contention { attempts: ops, ..Contention::default() }),
                ..Lap::default()
            },
        )
    }

    /// A repetition of them, in order of rank.
    fn run(mut laps: Vec<Lap>) -> Run {
        laps.iter_mut().zip(0..).for_each(|(lap, rank)| lap.rank = rank);
        let first = laps.iter().map(|lap| lap.start_ns).min().unwrap();
        let last = laps.iter().map(|lap| lap.end_ns).max().unwrap();
        Run { interval_ns: last - first, laps, ..Run::default() }
    }

    proptest! {
        #[test]
        fn grouping_changes_nothing_that_follows_from_laps(laps in prop::collection::vec(lap(), 1..300)) {
            let single = run(laps);
            let grouped = Run { laps: Lap::grouped(single.laps.clone()), ..single.clone() };
            prop_assert!(grouped.laps.iter().all(|lap| lap.contradiction().is_none()));
            let workers = |run: &Run| run.laps.iter().map(Lap::workers).sum::<u64>();
            prop_assert_eq!(workers(&grouped), single.laps.len() as u64);
            prop_assert_eq!(grouped.overlap(), single.overlap());
            for unit in [Unit::OpsPerSecond, Unit::BytesPerSecond, Unit::Nanoseconds, Unit::NanosecondsPerStep] {
                let (one, other) = (grouped.value(unit), single.value(unit));
                prop_assert!(one == other || (one / other - 1.0).abs() < 1e-12 || one.is_nan() && other.is_nan());
            }
            for holds in [Lap::off_seat, Lap::moved, Lap::waited, Lap::stood_still, Lap::waited_for_disk, Lap::faulted] {
                prop_assert_eq!(grouped.laps.iter().any(holds), single.laps.iter().any(holds));
            }
            let squares = |run: &Run| run.laps.iter().map(Lap::ops_squared).sum::<f64>();
            prop_assert!((squares(&grouped) - squares(&single)).abs() <= 1e-9 * squares(&single));
            let least = |run: &Run| run.laps.iter().map(|lap| lap.ops_range().0).min();
            let most = |run: &Run| run.laps.iter().map(|lap| lap.ops_range().1).max();
            prop_assert_eq!((least(&grouped), most(&grouped)), (least(&single), most(&single)));
            let attempts = |run: &Run| run.laps.iter().filter_map(|lap| lap.contention).map(|met| met.attempts).sum::<u64>();
            prop_assert_eq!(attempts(&grouped), attempts(&single));
        }
    }

    #[test]
    fn laps_of_any_number_of_workers_fit() {
        let alike = |workers| Lap::grouped(run(vec![Lap { end_ns: 10, ops: 1, ..Lap::default() }; workers]).laps);
        assert_eq!([1, 16, 17, 4096].map(|workers| alike(workers).len()), [1, 16, 9, 16]);
        assert_eq!(alike(17).iter().map(Lap::workers).collect::<Vec<_>>(), [vec![2; 8], vec![1]].concat());
        assert_eq!(alike(4096)[1].rank, 256);
    }

    #[test]
    fn made_up_groups_are_refused() {
        let made =
            Lap::merged(&[&Lap { end_ns: 10, ops: 2, ..Lap::default() }, &Lap { end_ns: 8, ops: 4, ..Lap::default() }]);
        assert_eq!(made.contradiction(), None);
        let with = |change: fn(&mut Group)| {
            let mut group = made.group.unwrap();
            change(&mut group);
            Lap { group: Some(group), ..made.clone() }.contradiction().is_some()
        };
        assert!(with(|group| group.workers = 1) && with(|group| group.last_start_ns = 11));
        assert!(with(|group| group.first_end_ns = 11) && with(|group| group.time_ns = 21));
        assert!(with(|group| group.least_ops = 4) && with(|group| group.most_ops = 2));
        assert!(with(|group| group.ops_squared = 17.0) && with(|group| group.ops_squared = 25.0));
    }
}
