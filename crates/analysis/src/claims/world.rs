//! A machine of which the truth is known, and sweeps of it.

use std::collections::BTreeMap;

use fastrand::Rng;

use charz_data::report::{Cell, Estimator, Report, Unit, fixtures};
use charz_data::{Program, ProgramValue, ReportedUnit, Role};
use charz_estimate::fixtures::valued;

/// Kernels, and the units of their numbers.
const KERNELS: [(&str, Unit); 14] = [
    (COMMAND, Unit::Reported(ReportedUnit::SECONDS)),
    ("arith-int", Unit::OpsPerSecond),
    ("mem-read", Unit::BytesPerSecond),
    ("chase-random", Unit::NanosecondsPerStep),
    ("pool-std", Unit::OpsPerSecond),
    ("pool-mcs", Unit::OpsPerSecond),
    ("pool-treiber", Unit::OpsPerSecond),
    ("atomic-fetch-add", Unit::OpsPerSecond),
    ("atomic-fetch-add-private", Unit::OpsPerSecond),
    ("c2c-cas", Unit::NanosecondsPerOp),
    ("ring-mutex", Unit::NanosecondsPerOp),
    ("barrier-std", Unit::NanosecondsSampled),
    ("barrier-spin", Unit::NanosecondsSampled),
    ("futex-wake", Unit::NanosecondsSampled),
];

/// A user's program, which is timed.
const COMMAND: &str = "command";
/// What waits in the system.
const BLOCKS: &str = "pool-std";

/// Those that need a partner, and those for which there are two at most.
const NEED_TWO: [&str; 5] = ["c2c-cas", "ring-mutex", "barrier-std", "barrier-spin", "futex-wake"];
const TWO: [&str; 2] = ["c2c-cas", "futex-wake"];

pub(super) const MAPPINGS: [&str; 3] = ["rr", "dumb", "auto"];

/// The kernel, the mapping and the threads of a cell.
type Place = (&'static str, &'static str, u64);

/// A machine of which it is known what each placement gives.
pub(super) struct World {
    pub(super) cpus: u64,
    /// How much the noisiest cell varies more than the quietest: nothing is equal where all do.
    noise: f64,
    /// The share of their capacity that unpinned threads deliver in kernels of the core and of memory, as they share CPUs.
    shared: f64,
    /// How many mappings are measured.
    mappings: usize,
    /// Whether the program runs in copies, each of which does all its work.
    in_copies: bool,
    /// Whether other programs are at work: what threads that share something do is what they deliver, and not what they could.
    is_busy: bool,
    pub(super) truth: BTreeMap<Place, f64>,
    /// What threads could do then, as a multiple of the truth.
    able: BTreeMap<Place, f64>,
}

impl World {
    pub(super) fn draw(random: &mut Rng) -> Self {
        let cpus = 1 << random.u64(1..4);
        let (mappings, in_copies, is_busy) = ([1, 3, 3, 3][random.usize(..4)], random.bool(), random.u8(..3) == 0);
        let (mut truth, mut able) = (BTreeMap::new(), BTreeMap::new());
        for (kernel, unit) in KERNELS {
            let (shared, crosstalk) = (0.6 * random.f64().powi(2), 0.02 * random.f64().powi(2));
            let crosstalk = if contends(kernel) { 30.0 * crosstalk } else { crosstalk };
            let one = (1.0 + random.f64()) * if unit.more_is_better() { 1e8 } else { 100.0 };
            let rises = (random.f64() - 0.3).max(0.0);
            // Memory may be what all threads wait for.
            let has_bound = kernel == "mem-read" && random.bool();
            let bound = if has_bound { one * (1.0 + cpus as f64 * 0.5 * random.f64()) } else { f64::INFINITY };
            for mapping in &MAPPINGS[..mappings] {
                // Half of the mappings are alike.
                let worse = if random.bool() { 0.0 } else { 0.3 * random.f64() * random.f64() };
                for threads in counts(kernel, cpus) {
                    let n = threads.min(cpus) as f64;
                    let over = if threads > cpus { 1.0 + random.f64() * random.f64() * 3.0 } else { 1.0 };
                    let times = n / (1.0 + shared * (n - 1.0) + crosstalk * n * (n - 1.0));
                    let value = match unit.more_is_better() {
                        true => (1.0 - worse) * (one * times).min(bound) / over,
                        false if kernel == COMMAND && !in_copies => one * (1.0 + worse) * over / times,
                        false => one * (1.0 + worse) * (1.0 + rises * (n - 1.0)) * over,
                    };
                    truth.insert((kernel, *mapping, threads), value);
                    // Where one waits for a CPU, others need not wait for it.
                    let more = if kernel == BLOCKS { 0.5 + 0.5 * random.f64() } else { 1.1 + random.f64() };
                    able.insert((kernel, *mapping, threads), more);
                }
            }
        }
        let shared = if random.bool() { 1.0 } else { 0.6 + 0.35 * random.f64() };
        let noise = if random.bool() { 3.0 } else { 60.0 };
        World { cpus, noise, shared, mappings, in_copies, is_busy, truth, able }
    }

    /// The same one after a change that a few of the kernels see.
    pub(super) fn changed(&self, random: &mut Rng) -> Self {
        let factors =
            KERNELS.map(|(kernel, _)| (kernel, if random.u8(..4) == 0 { 0.7 + 0.6 * random.f64() } else { 1.0 }));
        let factor = |name: &str| factors.iter().find(|(kernel, _)| *kernel == name).map_or(1.0, |(_, factor)| *factor);
        let truth = self.truth.iter().map(|(place, value)| (*place, value * factor(place.0))).collect();
        World { truth, able: self.able.clone(), ..*self }
    }

    /// A sweep of it: each cell with a noise and a number of runs of its own, some doubtful, some without a number.
    pub(super) fn swept(&self, random: &mut Rng) -> Report {
        let cells = self.truth.iter().filter_map(|(&(kernel, mapping, threads), truth)| {
            let (noise, runs) = (0.001 * self.noise.powf(random.f64()), [2, 6, 9, 15][random.usize(..4)]);
            let values = (0..runs).map(|_| truth * (noise * normal(random)).exp()).collect();
            let (_, unit) = KERNELS.into_iter().find(|(name, _)| *name == kernel)?;
            let first = MAPPINGS.iter().position(|one| *one == mapping)? as u64;
            let seats: Vec<u32> = (first..first + threads).map(|rank| (rank % self.cpus) as u32).collect();
            let cell = fixtures::cell(kernel, threads, unit, 1.0).under(mapping);
            let mut cell = valued(if mapping == "auto" { cell } else { cell.seated(&seats) }, values);
            if mapping == "auto" && threads > 1 && ["arith-int", "mem-read"].contains(&kernel) {
                let delivered = cell.delivered;
                let able = cell.invocations.iter().filter_map(|one| Some(one.value? / self.shared)).collect();
                cell = Cell { delivered, ..valued(cell, able) };
            }
            if self.is_busy && contends(kernel) {
                let more = self.able[&(kernel, mapping, threads)];
                let delivered = cell.delivered;
                let able = cell.invocations.iter().filter_map(|one| Some(one.value? * more)).collect();
                let estimator = if kernel == BLOCKS { Estimator::Median } else { Estimator::FastMode };
                cell = Cell { delivered, estimator, ..valued(cell, able) };
            }
            match random.u8(..20) {
                0 => Some(cell.suspect()),
                1 => Some(cell.invalid()),
                2 => None,
                _ => Some(cell),
            }
        });
        let cells: Vec<Cell> = cells.collect();
        let mut report = fixtures::report(cells).on(self.cpus as u32);
        for card in &mut report.cards {
            card.blocks_in_kernel = card.name == BLOCKS;
            card.role = if card.name == COMMAND { Role::Program } else { card.role.clone() };
        }
        let command = if self.in_copies { "./a" } else { "./a {threads}" };
        report.plan.program = Some(Program::new(command, ProgramValue::Wall, ReportedUnit::SECONDS));
        report
    }

    pub(super) fn mappings(&self) -> impl Iterator<Item = &'static str> {
        MAPPINGS.into_iter().take(self.mappings)
    }

    pub(super) fn at(&self, kernel: &str, mapping: &str, threads: u64) -> f64 {
        let found = self.truth.iter().find(|(place, _)| **place == (kernel, mapping, threads));
        *found.unwrap_or_else(|| panic!("a sentence names {kernel} {mapping} x{threads}, which was not measured")).1
    }

    /// As [`at`](Self::at), where more is better.
    pub(super) fn worth(&self, kernel: &str, mapping: &str, threads: u64) -> f64 {
        let value = self.at(kernel, mapping, threads);
        let copies = if kernel == COMMAND && self.in_copies { threads as f64 } else { 1.0 };
        if is_rate(kernel) { value } else { copies / value }
    }

    /// As [`worth`](Self::worth), with the loads of all threads where each makes its own.
    pub(super) fn does(&self, kernel: &str, mapping: &str, threads: u64) -> f64 {
        self.worth(kernel, mapping, threads) * if kernel == "chase-random" { threads as f64 } else { 1.0 }
    }

    /// What a share of a loss is in truth, as charz counts it.
    pub(super) fn loss(&self, kernel: &str, [mapping, best]: [&str; 2], threads: u64) -> f64 {
        let [own, best] = [mapping, best].map(|mapping| self.at(kernel, mapping, threads));
        if is_rate(kernel) { 1.0 - own / best } else { own / best - 1.0 }
    }
}

fn is_rate(name: &str) -> bool {
    KERNELS.iter().any(|(kernel, unit)| *kernel == name && unit.more_is_better())
}

pub(super) fn counts(kernel: &str, cpus: u64) -> impl Iterator<Item = u64> {
    let (least, most) =
        (if NEED_TWO.contains(&kernel) { 2 } else { 1 }, if TWO.contains(&kernel) { 2 } else { 2 * cpus });
    (0..).map(|power| 1 << power).skip_while(move |count| *count < least).take_while(move |count| *count <= most)
}

fn contends(kernel: &str) -> bool {
    kernel.starts_with("pool-") || kernel.starts_with("atomic-")
}

fn normal(random: &mut Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}
