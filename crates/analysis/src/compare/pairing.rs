//! Which cells of two reports are compared with each other, and what is against it.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::carried::objection;
use super::terms::{Caveat, Design, Quantity};
use super::{Allowed, allows, flag_of};
use charz_data::checks::V19;
use charz_data::report::{Cell, Estimator, PREDICTED, Point, Report, Status};
use charz_data::{cpulist, params, units};

/// Kernel, mapping, number of workers and parameters. Workers that share strands are compared only with as many that do.
pub(super) type Place<'a> = (&'a str, &'a str, u64, Point);

pub(super) fn place(cell: &Cell) -> Place<'_> {
    (&cell.kernel, &cell.mapping, cell.workers, cell.point)
}

pub(super) fn places(report: &Report) -> HashSet<Place<'_>> {
    report.cells.iter().map(place).collect()
}

/// With the size that the plan has for it: one sweep varies what another has one value of.
fn sized<'a>(cell: &'a Cell, report: &Report) -> Place<'a> {
    let (kernel, mapping, workers, point) = place(cell);
    let size = obeys_size(cell, report).then_some(report.plan.params.size_bytes);
    (kernel, mapping, workers, Point { size_bytes: point.size_bytes.or(size), ..point })
}

fn obeys_size(cell: &Cell, report: &Report) -> bool {
    report.card(&cell.kernel).is_some_and(|card| card.obeys(&params::SIZE))
}

/// A cell of the base, of the new report, or of both.
pub(super) type Sides<'a> = (Option<&'a Cell>, Option<&'a Cell>);

/// All cells of either report: those of the base in its order, then those that only the new one has.
pub(super) fn pairs<'a>(base: &'a Report, new: &'a Report) -> Vec<Sides<'a>> {
    let mut news: HashMap<_, &Cell> = new.cells.iter().map(|cell| (sized(cell, new), cell)).collect();
    let found: Vec<Sides<'_>> = base.cells.iter().map(|cell| (Some(cell), news.remove(&sized(cell, base)))).collect();
    // What has a size by both plans, which may differ on demand.
    let left = new.cells.iter().filter(|cell| news.contains_key(&sized(cell, new)));
    let mut news: HashMap<_, &Cell> = left.map(|cell| (place(cell), cell)).collect();
    let paired: Vec<Sides<'_>> =
        found.into_iter().map(|(base, new)| (base, new.or_else(|| news.remove(&place(base?))))).collect();
    let rest = new.cells.iter().filter(|cell| news.contains_key(&place(cell))).map(|cell| (None, Some(cell)));
    paired.into_iter().chain(rest).collect()
}

/// Two cells that can be compared, and what in spite of.
type Pairing<'a> = (&'a Cell, &'a Cell, BTreeSet<Caveat>);

pub(super) fn comparable<'a>(cells: Sides<'a>, allowed: &Allowed<'_>) -> Result<Pairing<'a>, String> {
    let [of_base, of_new, of_both] = match allowed.design {
        Design::Sequential => ["base report", "new report", "both reports"],
        Design::Interleaved => ["A", "B", "both sides"],
    };
    let (base, new) = match cells {
        (Some(base), Some(new)) => (base, new),
        (None, _) => return Err(format!("not in the {of_base}")),
        (_, None) => return Err(format!("not in the {of_new}")),
    };
    let mut despite: BTreeSet<Caveat> = allowed.caveats.iter().copied().collect();
    match [base, new].map(|cell| usable(cell, allowed)) {
        [Err(one), Err(other)] if one == other => return Err(format!("{of_both}: {one}")),
        // The one may be a consequence of the other.
        [Err(one), Err(other)] => return Err(format!("{of_base}: {one}; {of_new}: {other}")),
        [one, other] => {
            despite.extend(one.map_err(|why| format!("{of_base}: {why}"))?);
            despite.extend(other.map_err(|why| format!("{of_new}: {why}"))?);
        }
    }
    if base.unit != new.unit {
        return Err("the two count different things".into());
    }
    if let (Some(one), Some(other)) = (base.last_size(), new.last_size())
        && one != other
    {
        return Err(format!(
            "their iterations ended at sizes {one} and {other}; the same --span on machines as busy gives one"
        ));
    }
    let on_purpose = allowed.design == Design::Interleaved;
    let has_turns = |cell: &Cell| cell.marks.iter().any(|mark| mark.code == V19.code);
    if has_turns(base) != has_turns(new) && !on_purpose {
        return Err(format!("only one of the two is {} ({})", V19.title, V19.code));
    }
    let unlike = unlike(base, new, allowed).filter(|_| !on_purpose);
    for (caveat, what) in unlike.chain(moved(base, new).map(|what| (Caveat::OtherMachine, what))) {
        // On another machine a kernel takes another path, and that is the machine's.
        let path_of_machine = caveat == Caveat::OtherBuild && allowed.options.cross_machine;
        if !allows(allowed.options, caveat) && !path_of_machine {
            let allow =
                if on_purpose { String::new() } else { format!("; {} compares it all the same", flag_of(caveat)) };
            return Err(what + &allow);
        }
        despite.insert(caveat);
    }
    Ok((base, new, despite))
}

/// Whether a cell's number can be used in this comparison, and what in spite of.
pub(super) fn usable(cell: &Cell, allowed: &Allowed<'_>) -> Result<Option<Caveat>, String> {
    let reason = match cell.status {
        Status::Ok => return Ok(None),
        Status::Suspect => match objection(cell, allowed.design, allowed.options.quantity) {
            None => return Ok(None),
            Some(_) if allowed.options.allow_suspect => return Ok(Some(Caveat::Suspect)),
            objection => objection,
        },
        // What is predicted is another number for each, and the reason one for all.
        Status::Skipped if cell.is_predicted() => Some(PREDICTED.trim_end_matches(": ")),
        Status::Pending | Status::Skipped | Status::Failed => cell.reason.as_deref(),
        Status::Invalid => {
            let weightiest = cell.marks.iter().max_by_key(|mark| mark.severity).map(|mark| mark.code.as_str());
            weightiest.or(cell.reason.as_deref())
        }
    };
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    let what = if cell.status == Status::Suspect { "noisy" } else { cell.status.name() };
    Err(format!("{what}{reason}"))
}

fn unlike(base: &Cell, new: &Cell, allowed: &Allowed<'_>) -> impl Iterator<Item = (Caveat, String)> {
    let (quantity, reports) = (allowed.options.quantity, allowed.reports);
    let seats = (base.seats != new.seats)
        .then(|| (Caveat::OtherMachine, "its threads were on different CPUs in the two reports".to_owned()));
    let floats = base.seats.contains(&None) && base.seats == new.seats;
    let usable = floats.then(|| reports.map(usable_cpus)).filter(|[one, other]| one != other).map(|[one, other]| {
        (Caveat::OtherMachine, format!("its threads could use the CPUs {one} in the one report, {other} in the other"))
    });
    let (one, other) = (variants(base), variants(new));
    let path = (one != other).then(|| {
        let told = |variants: BTreeSet<&str>| format!("{:?}", variants.into_iter().collect::<Vec<_>>().join("; "));
        (Caveat::OtherBuild, format!("the kernel chose different code paths ({} and {})", told(one), told(other)))
    });
    // What was delivered is all work over all time, however the values are made.
    let of_values = quantity == Quantity::Capacity;
    let estimator = (of_values && base.estimator != new.estimator)
        .then(|| (Caveat::OtherPlan, "the values come from the iterations in different ways".to_owned()));
    // The best of more is better; the median of more is only surer.
    let counts = (base.repetitions, new.repetitions);
    let repetitions = (of_values && base.estimator == Estimator::Best && counts.0 != counts.1).then(|| {
        let what = format!(
            "the best of {} iterations against the best of {}; give both sweeps the same --repetitions",
            counts.0, counts.1
        );
        (Caveat::OtherPlan, what)
    });
    let bytes =
        |cell: &Cell, report: &Report| obeys_size(cell, report).then(|| cell.params(&report.plan.params).size_bytes);
    let sizes = bytes(base, reports[0]).zip(bytes(new, reports[1])).filter(|(one, other)| one != other);
    let sizes = sizes.map(|(one, other)| {
        (Caveat::OtherPlan, format!("a thread's block has {} and {}", units::iec(one), units::iec(other)))
    });
    [seats, usable, path, estimator, repetitions, sizes].into_iter().flatten()
}

/// On the same CPUs by their ids, which are others.
fn moved(base: &Cell, new: &Cell) -> Option<String> {
    let [one, other] = base.moved(new).filter(|_| base.seats == new.seats)?.map(units::nanos);
    Some(format!("the CPUs were {one} apart, and are {other}: the host moved them, or they are others"))
}

/// The code paths of the invocations that count.
fn variants(cell: &Cell) -> BTreeSet<&str> {
    let counted = cell.invocations.iter().filter(|invocation| invocation.value.is_some());
    counted.filter_map(|invocation| invocation.variant.as_deref()).collect()
}

pub(super) fn usable_cpus(report: &Report) -> String {
    let mut ids: Vec<u32> = report.machine.usable_strands().map(|strand| strand.os_id).collect();
    ids.sort_unstable();
    cpulist::print(&ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Options, compare};
    use charz_data::report::{Unit, fixtures};

    #[test]
    fn all_that_is_predicted_is_skipped_for_one_reason() {
        let cell = |workers| fixtures::cell("mem-read", workers, Unit::BytesPerSecond, 1e9);
        let predicted = |workers| cell(workers).unmeasured(Status::Skipped, &format!("{PREDICTED}{workers} GB/s"));
        let base = fixtures::report([1, 2, 3].map(cell).into());
        let new = fixtures::report(vec![cell(1), predicted(2), predicted(3)]);
        let rows = compare(&base, &new, &Options::default()).unwrap().rows;
        assert!(rows[1].reason.is_some() && rows[1].reason == rows[2].reason, "{rows:?}");
    }
}
