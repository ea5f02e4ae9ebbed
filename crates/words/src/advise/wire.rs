//! Advice as JSON has it.

use std::collections::BTreeMap;

use charz_claims::advise::{Advice, Beside, Holds, Load, Placed, Shared, Validation};
use charz_data::report::{Interval, Point, Unit};
use charz_estimate::Relation;
use serde::Serialize;

use super::{launches, more, program};

/// The advice on one load.
#[derive(Debug, Serialize)]
pub struct Wire<'a> {
    pub load: Load,
    /// The kernel that stands for the load.
    pub kernel: &'a str,
    pub point: Point,
    pub mapping: &'a str,
    pub threads: u64,
    /// OS ids of the threads' CPUs; null where the operating system places them.
    pub seats: &'a [Option<u32>],
    pub value: f64,
    pub unit: Unit,
    pub noisy: bool,
    /// Whether the mapping is better than all others with as many threads.
    pub clear: bool,
    /// The fewest runs of a number that decides, where these are too few: then nothing is advised, and the placement is only the best so far.
    pub too_few_runs: Option<usize>,
    /// The other programs that had CPUs while a program was measured, where they decide: then nothing is advised either.
    pub occupied: Option<&'a str>,
    /// A clause, where `threads` are the most that have a number and CPUs for more are left: more may do better.
    pub open: Option<String>,
    /// The CPUs of a quota that is why no more threads are advised.
    pub quota_cpus: Option<f64>,
    /// Whether `equal` differ by at most 2%, by their intervals; else they do not differ significantly.
    pub shown_equal: bool,
    /// Other mappings that do as well, or do not differ significantly.
    pub equal: Vec<&'a str>,
    /// The number of threads of the best number of all.
    pub peak_threads: u64,
    /// As a fraction of performance; null where `auto` was not measured with as many threads.
    pub gain_over_auto: Option<f64>,
    pub gain_interval: Option<Interval>,
    pub regret: Vec<Regret<'a>>,
    pub strands: Option<Added>,
    /// The same threads with their memory elsewhere.
    pub memory: Vec<Regret<'a>>,
    /// Where the machine delivered less than it can; absent where it delivered all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedWire<'a>>,
    /// By the tool's name the line that launches the program so, or what a file has to say; the program alone where the tool binds nothing.
    pub launch: BTreeMap<&'static str, String>,
}

/// What the machine delivered where it did not deliver all, and what that does to the advice.
#[derive(Debug, Serialize)]
pub struct SharedWire<'a> {
    /// The share of its capacity that the advised placement delivered, as a fraction; null where that is not known.
    pub delivered_share: Option<f64>,
    /// `same`: what is advised delivered as much as any; `differs`: it is advised by what was delivered, and the hardware is best in
    /// `quiet`; `open`: `quiet` is advised, and `other` may have delivered more; `beside`: it was measured beside the load that was asked for.
    pub holds: &'static str,
    /// The placement that the hardware is best in, with what it lost beside the one that delivered most.
    pub quiet: Option<Regret<'a>>,
    /// The placement that delivered most.
    pub other: Option<Seat<'a>>,
}

/// A placement by its names.
#[derive(Debug, Serialize)]
pub struct Seat<'a> {
    pub mapping: &'a str,
    pub threads: u64,
}

impl<'a> From<&Shared<'a>> for SharedWire<'a> {
    fn from(shared: &Shared<'a>) -> Self {
        let (holds, quiet, other) = match &shared.holds {
            Holds::Same => ("same", None, None),
            Holds::Beside => ("beside", None, None),
            Holds::Differs(loss) => ("differs", Some(loss), None),
            Holds::Open(other) => ("open", None, Some(other.cell)),
        };
        let other = other.map(|cell| Seat { mapping: &cell.mapping, threads: cell.workers });
        SharedWire { delivered_share: shared.delivered, holds, quiet: quiet.map(Regret::from), other }
    }
}

/// What placements delivered beside another load.
#[derive(Debug, Serialize)]
pub struct Neighbour<'a> {
    /// The other load.
    pub load: &'a str,
    pub advice: Vec<Wire<'a>>,
    /// Of all advice in turn, the advised placement first.
    pub placements: Vec<BesidePlaced<'a>>,
}

/// A placement beside another load.
#[derive(Debug, Serialize)]
pub struct BesidePlaced<'a> {
    pub kernel: &'a str,
    pub mapping: &'a str,
    pub threads: u64,
    /// What it delivered, in `unit`.
    pub delivered: f64,
    pub unit: Unit,
    pub interval: Option<Interval>,
    /// What it loses beside the advised one, as a fraction; null of that.
    pub loss: Option<f64>,
    pub loss_interval: Option<Interval>,
    /// The share of its performance without the load that it delivered, as a fraction.
    pub kept: Option<f64>,
    /// The share of its own work that the load did meanwhile, as a fraction.
    pub load_kept: Option<f64>,
}

/// What placements delivered beside another load.
pub fn neighbour<'a>(load: &'a str, all: &[Beside<'a>]) -> Neighbour<'a> {
    let placed = |placed: &Placed<'a>| {
        let (cell, delivered) = (placed.delivered.cell, placed.delivered.unscaled());
        BesidePlaced {
            kernel: &cell.kernel,
            mapping: &cell.mapping,
            threads: cell.workers,
            delivered: delivered.value,
            unit: cell.unit,
            interval: delivered.interval,
            loss: placed.loses.map(|loss| loss.share),
            loss_interval: placed.loses.and_then(|loss| loss.interval),
            kept: placed.kept,
            load_kept: placed.neighbour_kept,
        }
    };
    Neighbour {
        load,
        advice: all.iter().map(|beside| wire(&beside.advice)).collect(),
        placements: all.iter().flat_map(|beside| &beside.placements).map(placed).collect(),
    }
}

/// What another placement loses.
#[derive(Debug, Serialize)]
pub struct Regret<'a> {
    pub mapping: &'a str,
    pub threads: u64,
    /// Where the memory is, where the sweep varies that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// How much less it gives, or how much longer it takes, as a fraction; negative where it is better.
    pub loss: f64,
    /// Where that lies with a confidence of 95%; null after too few runs.
    pub interval: Option<Interval>,
    /// Whether neither noise nor the clock explains it.
    pub sure: bool,
    /// Whether the two are apart by the clock of the cores only; the loss is that at one clock.
    pub clock: bool,
    pub noisy: bool,
}

/// What further strands of the same cores add.
#[derive(Debug, Serialize)]
pub struct Added {
    pub cores: usize,
    pub per_core: usize,
    pub gain: f64,
    pub interval: Option<Interval>,
    pub sure: bool,
}

/// What became of the advice on a load when it was measured again.
#[derive(Debug, Serialize)]
pub struct Outcome<'a> {
    pub load: Load,
    pub kernel: &'a str,
    pub mapping: &'a str,
    pub threads: u64,
    /// What the advised placement loses beside the best of those that were measured again; null where it has no number now.
    pub regret: Option<f64>,
    pub others: Vec<Held<'a>>,
}

/// A prediction and what was measured.
#[derive(Debug, Serialize)]
pub struct Held<'a> {
    pub mapping: &'a str,
    pub threads: u64,
    pub predicted: f64,
    pub predicted_interval: Option<Interval>,
    pub measured: Option<f64>,
    pub measured_interval: Option<Interval>,
    /// Whether the two differ by no more than their intervals allow; null where one has none.
    pub holds: Option<bool>,
}

/// What became of an advice.
pub fn outcome<'a>(validation: &Validation<'a>) -> Outcome<'a> {
    let cell = validation.advised.cell;
    let others = validation.checks.iter().map(|check| Held {
        mapping: &check.predicted.estimate.cell.mapping,
        threads: check.predicted.estimate.cell.workers,
        predicted: check.predicted.share,
        predicted_interval: check.predicted.interval,
        measured: check.measured.map(|loss| loss.share),
        measured_interval: check.measured.and_then(|loss| loss.interval),
        holds: check.holds(),
    });
    Outcome {
        load: validation.load,
        kernel: &cell.kernel,
        mapping: &cell.mapping,
        threads: cell.workers,
        regret: validation.regret,
        others: others.collect(),
    }
}

impl<'a> From<&Relation<'a>> for Regret<'a> {
    fn from(loss: &Relation<'a>) -> Self {
        let cell = loss.estimate.cell;
        Regret {
            mapping: &cell.mapping,
            threads: cell.workers,
            memory: cell.point.memory.map(|memory| memory.to_string()),
            loss: loss.share,
            interval: loss.interval,
            sure: loss.is_shown(),
            clock: loss.is_clock(),
            noisy: loss.is_doubtful(),
        }
    }
}

/// An advice.
pub fn wire<'a>(advice: &Advice<'a>) -> Wire<'a> {
    let cell = advice.best.cell;
    let gain = advice.gain_over_auto();
    Wire {
        load: advice.load,
        kernel: &cell.kernel,
        point: cell.point,
        mapping: &cell.mapping,
        threads: cell.workers,
        seats: &cell.seats,
        value: advice.best.unscaled().value,
        unit: cell.unit,
        noisy: advice.doubtful,
        clear: advice.is_clear(),
        too_few_runs: advice.too_few,
        occupied: advice.occupied().map(|mark| mark.reason.as_str()),
        open: advice.open.as_ref().map(more),
        quota_cpus: advice.quota,
        shown_equal: advice.is_equal,
        equal: advice.alike.iter().map(|number| number.cell.mapping.as_str()).collect(),
        peak_threads: advice.peak.cell.workers,
        gain_over_auto: gain.map(|(gain, _)| gain),
        gain_interval: gain.and_then(|(_, interval)| interval),
        regret: advice.regret.iter().map(Regret::from).collect(),
        strands: advice.strands.map(|strands| Added {
            cores: strands.cores,
            per_core: strands.per_core,
            gain: strands.gain(),
            interval: strands.interval(),
            sure: strands.is_shown(),
        }),
        memory: advice.memory.iter().map(Regret::from).collect(),
        shared: advice.shared.as_ref().map(SharedWire::from),
        launch: launches(advice)
            .map(|(name, launch)| (name, launch.line(&program(advice)).unwrap_or_else(|| program(advice))))
            .collect(),
    }
}
