//! Where threads had less than their capacity: which advice holds for the machine as it was.

use charz_data::report::Cell;
use charz_estimate::{
    Estimate, Estimates, MARGIN, NEARLY_ALL, Quantity, Relation, Series, delivered_share, left_by_quota,
};

use super::{Advice, Load};

/// Up to this loss, as a fraction, the placement that the hardware is best in is as good as any on the machine as it was.
const AS_GOOD: f64 = 0.03;

/// What the machine delivered where it did not deliver all that the hardware can do: other programs, a quota or the host had the rest.
#[derive(Clone, Copy, Debug)]
pub struct Shared<'a> {
    /// The share of its capacity that the advised placement delivered, as a fraction; `None` where that is not known.
    pub delivered: Option<f64>,
    /// What that does to the advice.
    pub holds: Holds<'a>,
}

/// Whether the placement in which the hardware is best is also the one that delivered most.
#[derive(Clone, Copy, Debug)]
pub enum Holds<'a> {
    /// It delivered as much as any.
    Same,
    /// Another delivered more, or [likely](is_likely) so, which is what is advised: what the hardware is best in, and what that lost.
    Differs(Relation<'a>),
    /// Too few runs, or runs that vary too much, to know: the placement that may have delivered more.
    Open(Estimate<'a>),
    /// It was measured beside a load that was asked for, and nothing else counts.
    Beside,
}

/// Whether a placement of bound threads among these delivered less than [`NEARLY_ALL`] of its capacity.
pub fn is_short<'a>(table: &Estimates<'a>, cells: impl IntoIterator<Item = &'a Cell>) -> bool {
    // What unbound threads took from each other was not the machine's to give.
    let counts = |cell: &&'a Cell| cell.workers == 1 || cell.has_own_cpus();
    let mut shares = cells.into_iter().filter(counts).filter_map(|cell| delivered_share(table.report, cell));
    shares.any(|share| share < NEARLY_ALL)
}

/// The advice for the machine as it was: that of the hardware, or where another placement is shown to have delivered more, that one.
pub(super) fn as_shared<'a>(
    hardware: Advice<'a>,
    table: &Estimates<'a>,
    shared: &Estimates<'a>,
    all: &[Series<'a>],
) -> Advice<'a> {
    let own = hardware.best.cell;
    let is_own = |series: &&Series<'a>| {
        let other = series.cell();
        (&other.kernel, other.point, other.unit, other.last_size())
            == (&own.kernel, own.point, own.unit, own.last_size())
    };
    // A program's number has in it what others took, as has what was delivered.
    let is_capacity = hardware.load != Load::Program && hardware.best.quantity != Quantity::Delivered;
    let is_short = |series: &&Series<'a>| is_short(table, series.estimates.iter().map(|number| number.cell));
    let Some(series) = all.iter().find(is_own).filter(|_| is_capacity).filter(is_short) else { return hardware };
    let Some(here) = Advice::of(hardware.load, series, shared, all) else { return hardware };
    let of_hardware = series.estimates.iter().find(|number| std::ptr::eq(number.cell, own));
    let loses = of_hardware.map(|number| shared.peers(series.kernel()).relate(*number, &here.best));
    let is_same = std::ptr::eq(own, here.best.cell);
    let is_as_good = |loss: &Relation<'_>| loss.interval.is_some_and(|found| found.high <= AS_GOOD);
    match loses {
        Some(loss) if is_same || is_as_good(&loss) => with(hardware, Holds::Same),
        Some(loss) if is_likely(&loss) || (here.best.cell.workers < own.workers && is_open(&loss)) => {
            let (is_one_of_several, doubtful) = (hardware.is_one_of_several, here.doubtful || !loss.is_shown());
            with(Advice { is_one_of_several, doubtful, ..here }, Holds::Differs(loss))
        }
        Some(loss) if loss.share <= MARGIN && !loss.is_forbidden() && !loss.is_doubtful() => {
            with(hardware, Holds::Same)
        }
        _ => with(hardware, Holds::Open(here.best)),
    }
}

/// Whether it may be a loss, and may be none: of such placements the one with fewer threads meets other programs less often.
fn is_open(loss: &Relation<'_>) -> bool {
    !loss.is_forbidden() && !loss.is_doubtful() && loss.interval.is_some_and(|found| found.high > AS_GOOD)
}

/// Whether a loss is there with odds of five to one: it is further above nothing than the low end of its interval is below it, which of a
/// normal estimate with a confidence of 95% is one standard error.
fn is_likely(loss: &Relation<'_>) -> bool {
    let is_above = |low: f64| low > -loss.share;
    loss.share > AS_GOOD
        && !loss.is_forbidden()
        && !loss.is_doubtful()
        && loss.interval.is_some_and(|found| is_above(found.low))
}

pub(super) fn with<'a>(advice: Advice<'a>, holds: Holds<'a>) -> Advice<'a> {
    let cell = advice.best.cell;
    let most = left_by_quota(advice.report, &cell.kernel, cell.workers, Quantity::Capacity);
    let delivered = delivered_share(advice.report, cell).map(|share| share.min(most));
    Advice { shared: Some(Shared { delivered, holds }), ..advice }
}

#[cfg(test)]
mod tests {
    use super::super::advise;
    use super::*;
    use charz_data::report::fixtures::{cell, report};
    use charz_data::report::{Estimator, Severity, Unit};
    use charz_estimate::AUTO;

    /// Made of blocks: so many Gop/s, of which it delivered that share.
    fn given(mapping: &str, threads: u64, capacity: f64, share: f64) -> Cell {
        let cell = cell("arith-int", threads, Unit::OpsPerSecond, capacity * 1e9).under(mapping).within(0.005);
        let cell = Cell { estimator: Estimator::FastMode, ..cell.delivering(share) };
        let seats: Vec<u32> = (0..threads as u32).collect();
        if mapping == AUTO { cell } else { cell.seated(&seats) }
    }

    /// The advised placement, what it is the number of, and how it holds.
    fn advised(cells: Vec<Cell>) -> (String, u64, Quantity, &'static str) {
        let report = report(cells).on(2);
        let advice = advise(&Estimates::of(&report));
        let Advice { best, shared, .. } = &advice[0];
        let holds = match shared.map(|shared| shared.holds) {
            None => "quiet",
            Some(Holds::Same) => "same",
            Some(Holds::Differs(_)) => "differs",
            Some(Holds::Open(..)) => "open",
            Some(Holds::Beside) => "beside",
        };
        (best.cell.mapping.clone(), best.cell.workers, best.quantity, holds)
    }

    #[test]
    fn advice_is_for_the_machine_as_it_was() {
        use Quantity::{Capacity, Delivered};
        // The share that two bound threads had, that two unbound ones had, and one alone.
        for (bound, auto, alone, expected) in [
            (1.0, 1.0, 1.0, ("rr", 2, Capacity, "quiet")),
            // Unbound threads that share a CPU are no other program.
            (1.0, 0.8, 1.0, ("rr", 2, Capacity, "quiet")),
            (0.9, 0.8, 0.9, ("rr", 2, Capacity, "same")),
            (0.5, 0.7, 1.0, (AUTO, 2, Delivered, "differs")),
            // Of those that delivered as much the bound one.
            (0.5, 0.51, 0.6, ("rr", 2, Capacity, "same")),
        ] {
            let cells = vec![given("rr", 2, 4.0, bound), given(AUTO, 2, 4.0, auto), given("rr", 1, 2.0, alone)];
            let (mapping, threads, quantity, holds) = expected;
            assert_eq!(advised(cells), (mapping.to_owned(), threads, quantity, holds), "{bound} {auto} {alone}");
        }
    }

    /// Other programs are met less often by fewer threads, so these are taken though more of them may deliver more.
    #[test]
    fn of_placements_that_delivered_about_as_much_the_one_with_fewest_threads_is_advised() {
        let wide = |cell: Cell| cell.within(0.06);
        let cells = vec![given("rr", 2, 4.0, 0.5), wide(given(AUTO, 2, 4.0, 0.72)), wide(given("rr", 1, 2.8, 1.0))];
        assert_eq!(advised(cells), ("rr".to_owned(), 1, Quantity::Delivered, "differs"));
    }

    /// What others took doubts the capacity, and is part of what was delivered; where a thread was is part of neither.
    #[test]
    fn a_disturbance_does_not_doubt_what_was_delivered() {
        for (code, expected) in [("V18", "differs"), ("V21", "open")] {
            let mark = |cell: Cell| cell.marked(code, Severity::Suspect, "");
            let cells = [given("rr", 2, 4.0, 0.5), given(AUTO, 2, 4.0, 0.7), given("rr", 1, 2.0, 1.0)].map(mark);
            assert_eq!(advised(cells.into()).3, expected, "{code}");
        }
    }
}
