//! What the undisturbed machine does: the numbers that charz should report.

use std::collections::BTreeMap;

use charz_stats::Sample;
use xtask::{Failure, Outcome};

/// A kernel that is swept, and how the reference runs it.
pub struct Target {
    pub kernel: &'static str,
    /// Whether its number is a rate, which grows with the workers, or a time, which does not.
    rate: bool,
    pub workers: &'static [u64],
    /// Options of the example `kernel`: repetitions of a third of a millisecond, or as short as they can be.
    pub reference: &'static str,
}

/// Chains bound by latency, a lock, and both ways to read a block within the first cache level: what a clock and a core decide, and
/// no neighbour's memory.
#[rustfmt::skip]
pub const TARGETS: [Target; 5] = [
    Target { kernel: "arith-int", rate: true, workers: &[1, 2], reference: "--iterations 50000 --repetitions 1500" },
    Target { kernel: "arith-float", rate: true, workers: &[1, 2], reference: "--iterations 30000 --repetitions 1500" },
    Target { kernel: "lock-std", rate: false, workers: &[1], reference: "--iterations 30000 --repetitions 1500" },
    Target { kernel: "chase-random", rate: false, workers: &[1, 2], reference: "--size-kib 16 --pages thp --span 1 --repetitions 500" },
    Target { kernel: "level-read", rate: true, workers: &[1, 2], reference: "--size-kib 16 --pages thp --span 1 --repetitions 500" },
];

/// The size of blocks in the sweeps, that of the references.
pub const SIZE: &str = "16KiB";

/// Stretches of a reference, about 50 ms each. A machine may change its clock between them.
const STRETCHES: usize = 10;

/// The fastest of this many repetitions of a stretch were not disturbed.
const FASTEST: usize = 20;

/// What the machine does, from its slowest to its fastest; one number where it never changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    low: f64,
    high: f64,
}

impl Truth {
    /// The middle four fifths of what the stretches showed: one that was disturbed throughout tells nothing of the machine.
    fn of_stretches(shown: Vec<f64>) -> Option<Self> {
        let shown = Sample::new(shown)?;
        Some(Truth { low: shown.quantile(0.1), high: shown.quantile(0.9) })
    }

    /// How far a value is outside of it, as a share.
    pub fn error(self, value: f64) -> f64 {
        (value / self.high - 1.0).max(1.0 - value / self.low).max(0.0)
    }

    pub fn meets(self, [low, high]: [f64; 2]) -> bool {
        low <= self.high && high >= self.low
    }

    /// How much the machine itself changed, as a share.
    pub fn width(self) -> f64 {
        self.high / self.low - 1.0
    }
}

/// By kernel and number of workers.
pub type Truths = BTreeMap<(&'static str, u64), Truth>;

/// Truths that are known, from `arith-int=1.832e9,…`: rates are those of one worker.
pub fn given(list: &str) -> Outcome<Truths> {
    let mut truths = Truths::new();
    for word in list.split(',') {
        let parsed = word.split_once('=').and_then(|(name, value)| {
            let target = TARGETS.iter().find(|target| target.name() == name)?;
            let value = value.parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0)?;
            Some((target, value))
        });
        let names = TARGETS.each_ref().map(Target::name).join(", ");
        let (target, value) = parsed.ok_or_else(|| {
            Failure::usage(format!(
                "--truth {word}: NAME=VALUE is required, with a name of {names} and a value above 0"
            ))
        })?;
        for workers in target.workers {
            let value = if target.rate { value * *workers as f64 } else { value };
            truths.insert((target.kernel, *workers), Truth { low: value, high: value });
        }
    }
    Ok(truths)
}

impl Target {
    fn name(&self) -> String {
        if self.reference.contains("--size") { format!("{}:{SIZE}", self.kernel) } else { self.kernel.to_owned() }
    }
}

/// What the stretches of a reference showed, by kernel and number of workers.
pub type Reference = BTreeMap<(&'static str, u64), Vec<f64>>;

/// Takes what the example `kernel` printed of a target.
pub fn stretches(target: &Target, printed: &str) -> Vec<f64> {
    let rate = |line: &str| line.split('\t').nth(4)?.parse::<f64>().ok();
    let mut rates: Vec<f64> = printed.lines().filter_map(rate).collect();
    let length = rates.len().div_ceil(STRETCHES).max(1);
    let fastest = rates.chunks_mut(length).map(|stretch| {
        stretch.sort_by(|a, b| b.total_cmp(a));
        stretch[stretch.len() / FASTEST]
    });
    // It prints billions a second, charz operations or bytes a second, or nanoseconds.
    fastest.map(|rate| if target.rate { rate * 1e9 } else { 1.0 / rate }).collect()
}

/// The truths of a sweep: those given, and for the rest what the references before and after it showed.
pub fn truths(given: &Truths, before: &Reference, after: &Reference) -> Truths {
    let shown = before.iter().filter_map(|(key, stretches)| {
        let all = stretches.iter().chain(after.get(key).into_iter().flatten());
        Some((*key, Truth::of_stretches(all.copied().collect())?))
    });
    shown.chain(given.iter().map(|(key, truth)| (*key, *truth))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_undisturbed_repetitions_of_each_stretch_count() {
        // A stretch of ten: one repetition is undisturbed. The clock is slower in the second half.
        let rate = |at: usize| (if at.is_multiple_of(10) { 2.0 } else { 1.2 }) * if at < 50 { 1.0 } else { 0.9 };
        let printed: String = (0..100).map(|at| format!("arith-int\tassembly\t1\t0.0003\t{:.6}\n", rate(at))).collect();
        let [rates, times] = [&TARGETS[0], &TARGETS[2]].map(|target| stretches(target, &printed));
        assert_eq!(rates, [[2.0e9; 5], [1.8e9; 5]].concat());
        assert_eq!(times, [[0.5; 5], [1.0 / 1.8; 5]].concat());
        assert!(stretches(&TARGETS[0], "refused\n").is_empty());
    }

    #[test]
    fn a_truth_spans_what_both_references_showed() {
        let key = ("arith-int", 1);
        let reference = |value: f64| Reference::from([(key, vec![value; 10])]);
        let truth = truths(&Truths::new(), &reference(100.0), &reference(110.0))[&key];
        assert_eq!(truth, Truth { low: 100.0, high: 110.0 });
        let known = Truths::from([(key, Truth { low: 1.0, high: 1.0 })]);
        assert_eq!(truths(&known, &reference(100.0), &reference(110.0)), known);
    }

    #[test]
    fn errors_count_from_the_nearer_end() {
        let truth = Truth { low: 100.0, high: 110.0 };
        assert!((truth.width() - 0.1).abs() < 1e-12);
        for (value, error) in [(100.0, 0.0), (105.0, 0.0), (98.0, 0.02), (112.2, 0.02)] {
            assert!((truth.error(value) - error).abs() < 1e-12, "{value}");
        }
        for (interval, meets) in
            [([90.0, 99.0], false), ([90.0, 100.0], true), ([104.0, 105.0], true), ([111.0, 112.0], false)]
        {
            assert_eq!(truth.meets(interval), meets, "{interval:?}");
        }
    }

    #[test]
    fn rates_that_are_given_grow_with_the_workers() {
        let truths = given("arith-int=1.5e9,chase-random:16KiB=1.25").unwrap();
        let both = |kernel| [truths[&(kernel, 1)], truths[&(kernel, 2)]].map(|truth| (truth.low, truth.high));
        assert_eq!(both("arith-int"), [(1.5e9, 1.5e9), (3e9, 3e9)]);
        assert_eq!(both("chase-random"), [(1.25, 1.25); 2]);
        for list in ["", "arith-int", "arith-int=0", "arith-int=x", "mem-read=1", "level-read=1"] {
            assert!(given(list).is_err(), "{list}");
        }
    }
}
