//! `charz c2c`: the short way to what a line of memory takes from each core to each other.

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

use charz_kernels::Params;
use charz_topology::{Machine, Mapping, Strand, cpulist};

use super::latencies;
use super::sweep::{self, MeasuringContext, New};
use crate::exit::{Error, Exit};
use crate::view::{levels, look};
use charz_claims::pairs::{self, Choice, Class};
use charz_data::report::Report;
use charz_measure::invoke::{Invoke, MeasureRequest};
use charz_measure::limits::Limits;
use charz_measure::plan::{Plan, PlanError, Request};
use charz_measure::predict::Predictor;
use charz_render::formats::{Format, ReportWriter};
use charz_render::look::TerminalStyle;
use charz_render::wrapped;

pub struct Options {
    /// The sweep, whose mappings are still to be filled in.
    pub new: New,
    /// OS ids; `None` takes all that are usable.
    pub strands: Option<Vec<u32>>,
    pub all_pairs: bool,
    pub format: &'static Format,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let Options { new, strands: ids, all_pairs, format } = options;
    let kernels = |machine: &Machine, _: &Limits| {
        if let Some(ids) = ids {
            check(ids, machine)?;
        }
        let count = wanted(machine, ids.as_deref()).len();
        if count < 2 {
            let (flag, has) = if ids.is_some() { ("--cpus: ", "the list has") } else { ("", "this process may use") };
            return Err(Error::bad_input(format!("{flag}a pair takes two CPUs, and {has} {count}")));
        }
        Ok(new.request.kernels.clone())
    };
    sweep::measure(new, &WithLevels(format), out, kernels, |stage, machine, limits, predictor| {
        let mut request = new.request.clone();
        let strands = wanted(machine, ids.as_deref());
        let seed = *request.seed.get_or_insert_with(|| fastrand::u64(..));
        let pilot = |stage| iterations(stage, &request, nearest(machine, &strands, seed));
        request.iterations = Some(stage.map_or(ASSUMED_ITERATIONS, pilot));
        let budget = request.budget.least();
        let time = (!all_pairs).then(|| stage.map_or(budget, |stage| stage.left(budget)));
        let (choice, plan) = plan(&mut request, &strands, time, machine, limits, predictor)?;
        Ok((plan, Some(choice)))
    })
}

/// The report, and the levels that its latencies show.
struct WithLevels(&'static Format);

impl ReportWriter for WithLevels {
    fn for_people(&self) -> bool {
        self.0.for_people()
    }

    fn write(&self, report: &Report, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
        self.0.write(report, look, out)?;
        let Some(levels) = latencies::of_measured(report).filter(|_| self.for_people()) else { return Ok(()) };
        writeln!(out)?;
        levels::table(&levels, look, out)?;
        levels.machine.doubts.iter().try_for_each(|doubt| wrapped::hanging(doubt, 0, look::paragraph(), out))
    }
}

fn wanted<'a>(machine: &'a Machine, ids: Option<&[u32]>) -> Vec<&'a Strand> {
    machine.usable_strands().filter(|strand| ids.is_none_or(|ids| ids.contains(&strand.os_id))).collect()
}

/// As many pairs as fit into the time, or all of them, and the plan that measures them. The request has iterations and a seed.
pub(crate) fn plan(
    request: &mut Request,
    strands: &[&Strand],
    time: Option<Duration>,
    machine: &Machine,
    limits: &Limits,
    predictor: &Predictor,
) -> Result<(Choice, Plan), Error> {
    let planned = |request: &Request| -> Result<Plan, Error> {
        let fitted = request.fit(machine, limits).map_err(|error| match error {
            PlanError::Memory(why) => Error::bad_input(format!("--home: {why}")),
            error => error.into(),
        })?;
        Ok(Plan::new(request, &fitted, limits, predictor))
    };
    request.mappings = Some(mappings(&[[strands[0].os_id, strands[1].os_id]])?);
    let of_one = planned(request)?.predicted();
    let affordable = |time: Duration| time.mul_f64(PAIRS_SHARE).as_nanos() / of_one.as_nanos().max(1);
    let most = time.map_or(u64::MAX, |time| u64::try_from(affordable(time)).unwrap_or(u64::MAX));
    let choice = pairs::choose(machine, strands, most, request.seed.unwrap_or_default());
    request.mappings = Some(mappings(&choice.pairs)?);
    let plan = planned(request)?;
    Ok((choice, plan))
}

/// The share of the budget that the fewest invocations of all pairs may take, by their prediction.
const PAIRS_SHARE: f64 = 0.5;

/// The pair with the fastest transfer of a line, by distance.
fn nearest(machine: &Machine, strands: &[&Strand], seed: u64) -> [u32; 2] {
    let places: HashMap<u32, &Strand> = strands.iter().map(|strand| (strand.os_id, *strand)).collect();
    // The fewest of each class: there are two strands, so there is a pair.
    let some = pairs::choose(machine, strands, 0, seed).pairs;
    let distance = |pair: &[u32; 2]| Class::of(machine, places[&pair[0]], places[&pair[1]]).distance;
    some.into_iter().min_by_key(distance).expect("two strands are a pair")
}

/// Iterations with which a repetition takes [`SPAN`] on the nearest pair, and longer on others: all take as many.
fn iterations(stage: &MeasuringContext, request: &Request, [home, other]: [u32; 2]) -> u64 {
    let nanos = request.kernels.iter().flat_map(|kernel| {
        let pilot = MeasureRequest {
            kernel: kernel.card().name.to_string(),
            seats: vec![Some(home), Some(other)],
            nodes: vec![None; 2],
            repetitions: PILOTS,
            ..stage.order(&Params { iterations: PILOT_ITERATIONS, ..request.params })
        };
        let runs = stage.processes().invoke(&pilot, 0).runs;
        runs.into_iter().map(|run| run.interval_ns.max(1) as f64)
    });
    // The fastest: what disturbs makes it slower only.
    let fastest = nanos.min_by(f64::total_cmp).unwrap_or(SPAN.as_nanos() as f64);
    let fitting = PILOT_ITERATIONS as f64 * SPAN.as_nanos() as f64 / fastest;
    (fitting as u64).clamp(PILOT_ITERATIONS, MOST_TIMES * PILOT_ITERATIONS)
}

/// The shortest time worth measuring is 1 ms; little more of it is rarely interrupted.
const SPAN: Duration = Duration::from_micros(1500);
/// What a pilot finds on today's processors, for a machine that is not this one.
const ASSUMED_ITERATIONS: u64 = 1_000_000;
/// About 800 ways of the line.
const PILOT_ITERATIONS: u64 = 25_000;
/// Repetitions of a pilot, of a tenth of a millisecond: another process disturbs some of them, and rarely all.
const PILOTS: u64 = 20;
/// How many times longer a repetition may be: the pilot would have taken less than a microsecond.
const MOST_TIMES: u64 = 2000;

/// Refuses strands that cannot be used, as any list of strands is refused, and those that are there twice.
fn check(ids: &[u32], machine: &Machine) -> Result<(), Error> {
    let list: Mapping = format!("list:{}", cpulist::print(ids)).parse()?;
    if let Some(twice) = list.repeated() {
        return Err(Error::bad_input(format!("--cpus: CPU {twice} is given twice; name each once")));
    }
    list.order(machine).map(|_| ()).map_err(|error| Error::from(error).read_from("--cpus"))
}

fn mappings(pairs: &[[u32; 2]]) -> Result<Vec<Mapping>, Error> {
    pairs.iter().map(|[home, other]| Ok(format!("list:{home},{other}").parse()?)).collect()
}
