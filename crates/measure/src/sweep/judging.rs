//! What a cell is judged by, while it is measured and when it is read.

use std::borrow::Cow;
use std::collections::HashMap;

use charz_data::checks::V27;
use charz_data::report::{Cell, Report};
use charz_judge::JudgeContext;
use charz_kernels::Sizes;
use charz_topology::{Mapping, Order, place};

use crate::user_program;

/// What a cell is judged by: the card of its kernel, or the report's where the kernel is none of this program's; `None` without either.
pub fn judge_context(report: &Report, cell: &Cell) -> Option<JudgeContext> {
    let kernel = user_program::find(&cell.kernel);
    let about_memory = match kernel.map(|kernel| kernel.axes().sizes) {
        Some(Sizes::Block) => true,
        Some(Sizes::Levels) => cell.level.as_deref() == Some("memory"),
        Some(Sizes::Fixed(_) | Sizes::BetweenCaches(_) | Sizes::Curve) => false,
        // Only the program that has it knows.
        None => cell.marks.iter().any(|mark| mark.code == V27.code),
    };
    let card = match kernel {
        Some(kernel) => Cow::Borrowed(kernel.card()),
        None => Cow::Owned(report.card(&cell.kernel)?.clone()),
    };
    Some(JudgeContext::of(report, cell, card, about_memory))
}

/// Holds a report that was read to what it measured: numbers to repetitions, as [`charz_judge::judge_again`] does, and seats to mappings.
///
/// # Errors
/// The first contradiction, as the end of a sentence about the report.
pub fn reread(report: &mut Report) -> Result<(), String> {
    charz_judge::judge_again(report, judge_context)?;
    // Another version may have had another order.
    let is_own = report.tool.version == env!("CARGO_PKG_VERSION");
    let mut orders: HashMap<&str, Option<Order>> = HashMap::new();
    for cell in &report.cells {
        let order = || {
            // Nothing is run that a report names, and what another program has added is not known here.
            let mapping = Some(&cell.mapping).filter(|mapping| is_own && !mapping.starts_with("command:"))?;
            mapping.parse::<Mapping>().ok()?.order(&report.machine).ok()
        };
        let order = orders.entry(&cell.mapping).or_insert_with(order);
        let laps = cell.invocations.iter().flat_map(|invocation| &invocation.runs).flat_map(|run| &run.laps);
        let mut elsewhere = laps.filter(|lap| cell.seats.get(lap.rank as usize) != Some(&lap.seat));
        if elsewhere.next().is_some()
            || order.as_ref().is_some_and(|order| place(order, cell.seats.len()).seats != cell.seats)
        {
            let (kernel, mapping, workers) = (&cell.kernel, &cell.mapping, cell.workers);
            return Err(format!("{kernel:?} with {workers} workers has seats that are not those of {mapping:?}"));
        }
    }
    Ok(())
}
