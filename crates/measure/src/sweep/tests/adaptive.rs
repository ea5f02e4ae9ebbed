//! A sweep that measures what decides, on a machine whose sockets have caps.

use super::*;
use charz_data::report::Cell;

const LARGE: &str = "Package:4 Core:16 PU:2";

/// Each socket, of 32 CPUs with ids in a row, does what eight threads alone would.
fn capped(order: &MeasureRequest) -> f64 {
    let mut loads = [0.0_f64; 4];
    order.seats.iter().flatten().for_each(|seat| loads[*seat as usize / 32] += 1.0);
    let load = loads.into_iter().fold(0.0, f64::max);
    100e6 * (1.0 + (load / 8.0).powi(6)).powf(1.0 / 6.0)
}

/// Without any law.
fn wild(order: &MeasureRequest) -> f64 {
    let place = order.seats.len() as u64 * 31 + u64::from(order.seats.last().copied().flatten().unwrap_or(0));
    20e6 + (place * 2_654_435_761 % 1000) as f64 * 1e5
}

const MAPPINGS: &str = "dumb,round-robin,compact";

fn swept(machine: &str, adaptive: bool, nanos: fn(&MeasureRequest) -> f64, before: Option<Report>) -> Report {
    swept_as(request(&["arith-int"], MAPPINGS, "auto"), machine, adaptive, nanos, before)
}

fn swept_as(
    base: Request,
    machine: &str,
    adaptive: bool,
    nanos: fn(&MeasureRequest) -> f64,
    before: Option<Report>,
) -> Report {
    let budget = crate::plan::Budget::Of(HOUR);
    let request = Request { budget, adaptive, oversubscribed: 1, threads: crate::plan::Threads::Auto, ..base };
    let mut setting = Setting::new(machine, &request, &[]);
    setting.order.program.clone_from(&request.program);
    let mut report = before.unwrap_or_else(|| setting.blank.clone());
    let stop = Stop::new();
    let fake = Fake { nanos, ..Fake::new(&stop) };
    setting.sweep(&mut report, &mut (), &fake, &stop, HOUR).run(&mut ()).unwrap();
    report
}

fn measured(report: &Report) -> usize {
    report.cells.iter().filter(|cell| !cell.invocations.is_empty()).count()
}

fn best(report: &Report) -> f64 {
    report.cells.iter().filter_map(Cell::value).fold(0.0, f64::max)
}

#[test]
fn a_fifth_of_the_cells_has_the_best_of_all() {
    let (full, adaptive) = (swept(LARGE, false, capped, None), swept(LARGE, true, capped, None));
    assert!(adaptive.complete && adaptive.stopped_by.is_none());
    let share = measured(&adaptive) as f64 / measured(&full) as f64;
    assert!(share <= 0.25 && best(&adaptive) >= 0.97 * best(&full), "{share}");
    let skipped: Vec<&Cell> = adaptive.cells.iter().filter(|cell| cell.status == Status::Skipped).collect();
    assert_eq!(skipped.len() + measured(&adaptive), adaptive.cells.len());
    for cell in skipped {
        let reason = cell.reason.as_ref().unwrap();
        assert!(reason.contains("predicted: ") && reason.contains("op/s"), "{reason}");
    }
    // Going on, it finds that nothing is left.
    let again = swept(LARGE, true, capped, Some(adaptive.clone()));
    assert!(again.complete);
    assert_eq!((measured(&again), best(&again)), (measured(&adaptive), best(&adaptive)));
}

/// Each does its own work, so a copy more does more of it in the same time.
#[test]
fn the_times_of_copies_of_a_program_are_predicted_by_the_work_of_all() {
    let of = |adaptive| swept_as(request_of_program("x", MAPPINGS, "auto"), LARGE, adaptive, capped, None);
    let (full, adaptive) = (of(false), of(true));
    let pairs = || adaptive.cells.iter().zip(&full.cells).filter(|(cell, _)| cell.is_predicted());
    let millis = |cell: &Cell| {
        let reason = cell.reason.as_ref().unwrap();
        reason.split_once("predicted: ").unwrap().1.split_once(" ms").unwrap().0.parse::<f64>().unwrap()
    };
    let near = pairs().filter(|(cell, truth)| (millis(cell) / (1e3 * truth.value().unwrap()) - 1.0).abs() < 0.1);
    assert!(pairs().count() * 4 >= 3 * full.cells.len(), "{} of {}", pairs().count(), full.cells.len());
    assert!(near.count() * 10 >= 9 * pairs().count());
}

#[test]
fn what_no_model_predicts_is_measured() {
    let report = swept(LARGE, true, wild, None);
    assert!(report.complete && measured(&report) * 2 > report.cells.len(), "{}", measured(&report));
}

#[test]
fn few_cpus_are_measured_whole() {
    let report = swept(QUIET, true, capped, None);
    assert!(!report.plan.adaptive);
    assert_eq!(measured(&report), report.cells.len());
}
