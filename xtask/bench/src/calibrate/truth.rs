//! What the undisturbed machine does: the numbers that charz should report.

use std::collections::BTreeMap;

use charz_stats::{Sample, follow_the_clock};
use xtask::{Failure, Outcome};

use super::report::Cell;

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
    Target { kernel: "arith-int", rate: true, workers: &[1, 2], reference: "--clock on --steps 50000 --iterations 1500" },
    Target { kernel: "arith-float", rate: true, workers: &[1, 2], reference: "--clock on --steps 30000 --iterations 1500" },
    Target { kernel: "lock-std", rate: false, workers: &[1], reference: "--clock on --steps 300000 --iterations 1500" },
    Target { kernel: "chase-random", rate: false, workers: &[1, 2], reference: "--clock on --size-kib 16 --pages thp --span 1 --iterations 500" },
    Target { kernel: "level-read", rate: true, workers: &[1, 2], reference: "--clock on --size-kib 16 --pages thp --span 1 --iterations 500" },
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
    /// The middle four fifths of what the stretches showed: one that was disturbed throughout says nothing about the machine. Where they
    /// follow the clock, at the clocks of the cell.
    fn of_stretches(shown: &[Stretch], is_rate: bool, clocks_hz: Option<[f64; 2]>) -> Option<Self> {
        let [low, high] = match clocks_hz.filter(|_| follow_the_clock(&[shown])) {
            Some(clocks) => {
                let cycles = Sample::new(shown.iter().map(|(rate, of_rate)| rate / of_rate).collect())?;
                [(0.1, clocks[0]), (0.9, clocks[1])].map(|(share, clock)| cycles.quantile(share) * clock)
            }
            None => {
                let rates = Sample::new(shown.iter().map(|(rate, _)| *rate).collect())?;
                [0.1, 0.9].map(|share| rates.quantile(share))
            }
        };
        Some(if is_rate { Truth { low, high } } else { Truth { low: high.recip(), high: low.recip() } })
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

/// A truth that is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    Number(f64),
    /// What is done in a cycle; of times, how many cycles that takes.
    Cycles(f64),
}

impl Known {
    /// What it is in a cell: of cycles nothing where its clocks are unknown.
    fn truth(self, target: &Target, cell: &Cell) -> Option<Truth> {
        let per_worker = |value| if target.rate { value * cell.workers as f64 } else { value };
        Some(match self {
            Known::Number(value) => Truth { low: per_worker(value), high: per_worker(value) },
            Known::Cycles(cycles) => {
                let [low, high] = cell.clocks_hz?;
                match target.rate {
                    true => Truth { low: per_worker(cycles) * low, high: per_worker(cycles) * high },
                    false => Truth { low: cycles * 1e9 / high, high: cycles * 1e9 / low },
                }
            }
        })
    }
}

/// Truths that are known, by kernel: rates are those of one worker.
pub type Given = BTreeMap<&'static str, Known>;

/// Takes them from `arith-int=1.832e9,chase-random:16KiB=4cycles,…`.
pub fn given(list: &str) -> Outcome<Given> {
    let parsed = |word: &str| {
        let (name, value) = word.split_once('=')?;
        let target = TARGETS.iter().find(|target| target.name() == name)?;
        let (number, known): (_, fn(f64) -> Known) = match value.strip_suffix("cycles") {
            Some(number) => (number, Known::Cycles),
            None => (value, Known::Number),
        };
        let number = number.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0)?;
        Some((target.kernel, known(number)))
    };
    let known = list.split(',').map(|word| {
        parsed(word).ok_or_else(|| {
            let names = TARGETS.each_ref().map(Target::name).join(", ");
            Failure::usage(format!(
                "--truth {word}: NAME=VALUE or NAME=VALUEcycles is required, with a name of {names} and a value above 0"
            ))
        })
    });
    known.collect()
}

impl Target {
    fn name(&self) -> String {
        if self.reference.contains("--size") { format!("{}:{SIZE}", self.kernel) } else { self.kernel.to_owned() }
    }
}

/// What is done in a time, and the clock of the fastest core in hertz; of times the reciprocal.
pub type Stretch = (f64, f64);

/// What the stretches of a reference showed, by kernel and number of workers.
pub type Reference = BTreeMap<(&'static str, u64), Vec<Stretch>>;

/// Takes what the example `kernel` printed of a target. A clock that is not printed is 0.
pub fn stretches(target: &Target, printed: &str) -> Vec<Stretch> {
    let pair = |line: &str| {
        let mut numbers = line.split('\t').skip(4).map(|word| word.parse::<f64>().ok());
        Some((numbers.next()??, numbers.next().flatten().unwrap_or(0.0)))
    };
    let mut pairs: Vec<Stretch> = printed.lines().filter_map(pair).collect();
    let length = pairs.len().div_ceil(STRETCHES).max(1);
    let fastest = pairs.chunks_mut(length).map(|stretch| {
        let highest = stretch.iter().map(|pair| pair.1).fold(0.0, f64::max);
        stretch.sort_by(|a, b| b.0.total_cmp(&a.0));
        // It prints billions a second, charz operations or bytes a second, or nanoseconds.
        (stretch[stretch.len() / FASTEST].0 * if target.rate { 1e9 } else { 1.0 }, highest * 1e9)
    });
    fastest.collect()
}

/// The truths of the cells of a sweep: those given, and for the rest what the references before and after it showed.
pub fn truths(cells: &[Cell], given: &Given, before: &Reference, after: &Reference) -> Truths {
    let of_cell = |cell: &Cell| {
        let target = TARGETS.iter().find(|target| target.kernel == cell.kernel)?;
        let key = (target.kernel, cell.workers);
        let shown = || {
            let shown = [before, after].into_iter().filter_map(|found| found.get(&key)).flatten().copied();
            Truth::of_stretches(&shown.collect::<Vec<_>>(), target.rate, cell.clocks_hz)
        };
        let truth = given.get(target.kernel).and_then(|known| known.truth(target, cell)).or_else(shown)?;
        Some((key, truth))
    };
    cells.iter().filter_map(of_cell).collect()
}

#[cfg(test)]
mod tests {
    use super::super::report::Status;
    use super::*;

    #[test]
    fn the_undisturbed_repetitions_of_each_stretch_count() {
        // A stretch of ten: one repetition is undisturbed. The clock is slower in the second half.
        let clock = |at: usize| if at < 50 { 2.0 } else { 1.8 };
        let rate = |at: usize| if at.is_multiple_of(10) { clock(at) } else { 0.6 * clock(at) };
        let line = |at: usize| format!("arith-int\tassembly\t1\t0.0003\t{:.6}\t{}\n", rate(at), clock(at));
        let printed: String = (0..100).map(line).collect();
        let [rates, times] = [&TARGETS[0], &TARGETS[2]].map(|target| stretches(target, &printed));
        assert_eq!(rates, [[(2.0e9, 2.0e9); 5], [(1.8e9, 1.8e9); 5]].concat());
        assert_eq!(times, [[(2.0, 2.0e9); 5], [(1.8, 1.8e9); 5]].concat());
        assert_eq!(stretches(&TARGETS[0], "a\tb\t1\t0.1\t2.5\n"), [(2.5e9, 0.0)]);
        assert!(stretches(&TARGETS[0], "refused\n").is_empty());
    }

    fn cell(clocks_hz: Option<[f64; 2]>) -> Cell {
        Cell {
            kernel: "arith-int".into(),
            workers: 1,
            status: Status::Ok,
            value: None,
            interval: None,
            clocks_hz,
            delivered: None,
            on_cpu: None,
        }
    }

    #[test]
    fn a_truth_spans_what_both_references_showed() {
        let key = ("arith-int", 1);
        let reference = |value: f64| Reference::from([(key, vec![(value, 0.0); 10])]);
        let truth = |given: Given| truths(&[cell(None)], &given, &reference(100.0), &reference(110.0))[&key];
        assert_eq!(truth(Given::new()), Truth { low: 100.0, high: 110.0 });
        assert_eq!(truth(Given::from([("arith-int", Known::Number(1.0))])), Truth { low: 1.0, high: 1.0 });
    }

    #[test]
    fn a_truth_that_follows_the_clock_is_that_of_the_cells_clocks() {
        let key = ("arith-int", 1);
        let reference = |clocks: [f64; 4]| Reference::from([(key, clocks.map(|clock| (clock / 2.0, clock)).to_vec())]);
        let [before, after] = [[2.0, 2.2, 2.4, 2.1], [2.6, 2.3, 2.5, 2.2]].map(reference);
        let truth = |clock| truths(&[cell(clock)], &Given::new(), &before, &after)[&key];
        assert_eq!(truth(Some([3.0, 3.2])), Truth { low: 1.5, high: 1.6 });
        assert!(truth(None).width() > 0.1);
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
        let known = given("arith-int=1.5e9,level-read:16KiB=64cycles,chase-random:16KiB=4cycles").unwrap();
        let truth = |kernel: &str, workers, clocks_hz| {
            let cell = Cell { kernel: kernel.into(), workers, ..cell(clocks_hz) };
            let shown = Reference::from([(("chase-random", 1), vec![(0.5, 0.0); 10])]);
            truths(&[cell], &known, &shown, &shown).into_values().next().map(|truth| [truth.low, truth.high])
        };
        let clocks = Some([2e9, 4e9]);
        assert_eq!([1, 2].map(|workers| truth("arith-int", workers, None)), [Some([1.5e9; 2]), Some([3e9; 2])]);
        assert_eq!(truth("level-read", 2, clocks), Some([256e9, 512e9]));
        assert_eq!([1, 2].map(|workers| truth("chase-random", workers, clocks)), [Some([1.0, 2.0]); 2]);
        // Without a clock, what the references showed.
        assert_eq!(truth("chase-random", 1, None), Some([2.0; 2]));
        for list in ["", "arith-int", "arith-int=0", "arith-int=x", "arith-int=cycles", "mem-read=1", "level-read=1"] {
            assert!(given(list).is_err(), "{list}");
        }
    }
}
