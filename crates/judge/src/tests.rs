//! Cells without a mark, to be spoilt in one way at a time.

mod blocks;
mod calibration;
mod endings;
mod hardware;
mod laws;
mod raised;
mod raised_by_evidence;
mod shared;

use std::borrow::Cow;
use std::collections::BTreeMap;

use charz_data::{Card, Layout, PageKind, Params};

use super::{JudgeContext, judge};
use charz_data::report::{
    Busy, Cell, Ending, Evidence, Frequency, Invocation, Lap, Nodes, Pages, Run, Severity, Status, Timer, Unit,
    fixtures,
};

const MIB: u64 = 1 << 20;
const INTERVAL_NS: f64 = 1e8;
const REPETITIONS: usize = 5;

#[derive(Clone, Debug)]
struct Trial {
    cell: Cell,
    facts: JudgeContext,
}

/// Two workers of `mem-read` on strands of their own, in ten invocations of five repetitions.
fn clean() -> Trial {
    Trial {
        cell: Cell {
            seats: vec![Some(0), Some(1)],
            precision: 0.02,
            repetitions: REPETITIONS as u64,
            footprint_bytes: 1024 * MIB,
            status: Status::Pending,
            reason: None,
            capacity: None,
            delivered: None,
            invocations: (0..10).map(invocation).collect(),
            summary: None,
            ..fixtures::cell("mem-read", 2, Unit::BytesPerSecond, 1e9)
        },
        facts: JudgeContext {
            card: card("mem-read"),
            about_memory: true,
            params: Params {
                iterations: 1,
                size_bytes: 512 * MIB,
                pages: PageKind::Transparent,
                layout: Layout::default(),
                ..Params::SMALL
            },
            timer: Some(Timer { overhead_ns: 20, resolution_ns: 10, worst_gap_ns: 60_000, skew_ns: Some(100) }),
            strands: 2,
            numa_nodes: 2,
            last_cache_bytes: Some(32 * MIB),
            virtual_machine: Some(true),
            quota: true,
            cpus: 2,
            cores: 2,
            shares_l2: false,
            claimed_hz: Some(3e9),
            issue_width: Some(4),
            in_copies: false,
            is_foreign: false,
            optimised: true,
        },
    }
}

/// As under the mapping `auto`: no worker has a seat, and the scheduler places them freely.
fn float(trial: &mut Trial) {
    trial.cell.seats = vec![None, None];
    trial.evidence(|evidence| evidence.nodes = None);
    trial.laps(|lap| {
        (lap.seat, lap.on_seat, lap.strays) = (None, None, None);
        lap.counts.migrations = Some(7);
    });
}

fn card(kernel: &str) -> Cow<'static, Card> {
    Cow::Borrowed(charz_workloads::find(kernel).expect("a kernel of the catalog").card())
}

fn invocation(number: usize) -> Invocation {
    let hz = 3e9;
    Invocation {
        started_ns: number as u64 * 1_000_000_000,
        seed: number as u64,
        evidence: Some(Evidence {
            seen: BTreeMap::new(),
            culprits: Vec::new(),
            looked_ns: None,
            busy: Some(Busy { time_ns: 500_000_000, all_ns: 1_000_000_000, own_ns: 1_000_000_000, tick_ns: None }),
            pages: Some(Pages { base_page_bytes: 4096, transparent_bytes: 1024 * MIB, ..Pages::default() }),
            nodes: Some(Nodes {
                local_bytes: 1024 * MIB,
                asked_bytes: None,
                bytes: 1024 * MIB,
                balancing: Some(false),
            }),
            frequency: Some(Frequency { before_hz: hz, after_hz: hz, highest_hz: hz, drift: 0.0 }),
            changes: Vec::new(),
            apart_ns: None,
            wake_ups: None,
            program: None,
            no_counters: None,
        }),
        runs: (0..REPETITIONS).map(|repetition| run(number * REPETITIONS + repetition)).collect(),
        ..fixtures::barren(Ending::Done)
    }
}

/// About half a percent of noise with a single mode, without a trend.
fn noise(number: usize) -> f64 {
    let thrown = |salt: u64| {
        let mixed = (number as u64 + 1)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .wrapping_add(salt.wrapping_mul(0xD1B5_4A32_D192_ED03));
        (((mixed ^ (mixed >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f64) / (1_u64 << 24) as f64 - 0.5
    };
    1.0 + 0.005 * (1..=4).map(thrown).sum::<f64>()
}

fn run(number: usize) -> Run {
    let interval = (INTERVAL_NS * noise(number)) as u64;
    let lap = |rank: u32| {
        let mut lap = Lap { bytes: 512 * MIB, ..Lap::undisturbed(rank.into(), Some(rank), interval) };
        // As on any machine that is not idle.
        lap.counts.cpu_ns = Some(interval + 2000);
        (lap.counts.involuntary_switches, lap.counts.minor_faults) = (Some(3), Some(5));
        lap
    };
    Run::undisturbed(vec![lap(0), lap(1)])
}

/// Makes a repetition take another time without a cause.
fn stretch(run: &mut Run, factor: f64) {
    run.interval_ns = (run.interval_ns as f64 * factor) as u64;
    for lap in &mut run.laps {
        lap.end_ns = (lap.end_ns as f64 * factor) as u64;
        for counted in [&mut lap.counts.cpu_ns, &mut lap.counts.run_delay_ns].into_iter().flatten() {
            *counted = (*counted as f64 * factor) as u64;
        }
    }
}

impl Trial {
    fn judge(&mut self) {
        judge(&mut self.cell, &self.facts);
    }

    fn marks(&self) -> Vec<(&str, Severity)> {
        self.cell.marks.iter().map(|mark| (mark.code.as_str(), mark.severity)).collect()
    }

    fn values(&self) -> Vec<f64> {
        self.cell.invocations.iter().filter_map(|invocation| invocation.value).collect()
    }

    fn runs(&mut self) -> impl Iterator<Item = &mut Run> {
        self.cell.invocations.iter_mut().flat_map(|invocation| &mut invocation.runs)
    }

    /// So many repetitions: the last one of each invocation, then the last but one of each.
    fn some_runs(&mut self, count: usize, change: impl Fn(&mut Run)) {
        let mut chosen: Vec<_> = self.runs().enumerate().collect();
        chosen.sort_by_key(|(at, _)| REPETITIONS - at % REPETITIONS);
        chosen.into_iter().take(count).for_each(|(_, run)| change(run));
    }

    fn laps(&mut self, change: impl Fn(&mut Lap)) {
        self.runs().flat_map(|run| &mut run.laps).for_each(change);
    }

    fn evidence(&mut self, change: impl Fn(&mut Evidence)) {
        self.cell.invocations.iter_mut().filter_map(|invocation| invocation.evidence.as_mut()).for_each(change);
    }

    fn failing(&mut self, at: usize, ending: Ending) {
        let invocation = &mut self.cell.invocations[at];
        (invocation.ending, invocation.reason) = (ending, Some("a reason".into()));
        (invocation.evidence, invocation.runs) = (None, Vec::new());
    }
}

/// What each of several amounts of a change raises.
#[track_caller]
fn check_each<T: Copy>(change: impl Fn(&mut Trial, T), expected: &[(T, &[(&str, Severity)])]) {
    for (amount, marks) in expected {
        check(marks, |trial| change(trial, *amount));
    }
}

/// What a change of the clean cell raises, and the status that it has then.
#[track_caller]
fn check(expected: &[(&str, Severity)], change: impl FnOnce(&mut Trial)) {
    let mut trial = clean();
    change(&mut trial);
    trial.judge();
    assert_eq!(trial.marks(), expected, "{:#?}", trial.cell.marks);
    let status = match expected.iter().map(|(_, severity)| severity).max() {
        None | Some(Severity::Note) => Status::Ok,
        Some(Severity::Suspect) => Status::Suspect,
        Some(Severity::Invalid) => Status::Invalid,
    };
    assert_eq!(trial.cell.status, status);
    assert_eq!(trial.cell.reason.is_some(), status != Status::Ok);
    assert!(trial.cell.summary.is_some(), "there are repetitions");
    assert_eq!(
        trial.cell.capacity.is_some(),
        status != Status::Invalid,
        "an invalid cell has no value, any other has one"
    );
}
