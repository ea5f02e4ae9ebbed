//! The cells of a report as estimates that can be compared: all normalising and all exclusion is here.

use charz_data::card::Family;
use charz_data::report::{Cell, NEARLY_ALL, Point, Report};
use charz_data::{Arrange, Role};

use crate::best::better;
use crate::delivered::delivered_share;
use crate::estimate::Estimate;
use crate::group::grouped;
use crate::quantity::{Quantity, Question};
use crate::relation::Peers;

/// The mapping that leaves threads to the operating system.
pub const AUTO: &str = "auto";

/// The estimates of a report, in the order of its cells.
///
/// Of a kernel that waits in the system there is only what the machine gave it: beside one, the numbers of all kernels of its
/// [`kind`] are what was delivered where the machine gave any of them less than [`NEARLY_ALL`].
pub struct Estimates<'a> {
    /// The report.
    pub report: &'a Report,
    /// The question.
    pub question: Question,
    /// The kinds of which what was delivered counts.
    delivered: Vec<&'a str>,
}

/// The estimates of a kernel at a point, of one unit and one size of the problem: what placements are compared by.
pub struct Series<'a> {
    /// In the order of the cells; never empty. Of more threads than a quota has time for only where no smaller number has an estimate.
    pub estimates: Vec<Estimate<'a>>,
    /// How many a quota has no time for, and are not among them.
    pub beyond_quota: usize,
}

impl<'a> Estimates<'a> {
    /// The table of a report that answers what the machine, shared as it was, gave each placement.
    pub fn shared(report: &'a Report) -> Self {
        Estimates { report, question: Question::Shared, delivered: Vec::new() }
    }

    /// The table of a report that answers what the hardware can do.
    pub fn of(report: &'a Report) -> Self {
        let measured = report.cells.iter().filter(|cell| cell.value().is_some());
        let kinds = grouped(measured.filter_map(|cell| Some((kind(report, cell)?, cell))), |(kind, _)| *kind);
        let lacks = |cell: &Cell| delivered_share(report, cell).is_some_and(|share| share < NEARLY_ALL);
        let counts = |all: &&Vec<(&str, &Cell)>| {
            all.iter().any(|(_, cell)| waits_in_kernel(report, cell)) && all.iter().any(|(_, cell)| lacks(cell))
        };
        let question = Question::Hardware;
        Estimates { report, question, delivered: kinds.iter().filter(counts).map(|all| all[0].0).collect() }
    }

    /// The estimate of a cell by itself: its capacity, or what was delivered; `None` where it has no number.
    pub fn estimate(&self, cell: &'a Cell) -> Option<Estimate<'a>> {
        let is_shared = self.question == Question::Shared;
        let is_delivered = is_shared || kind(self.report, cell).is_some_and(|kind| self.delivered.contains(&kind));
        // Where others took all of the time there may be no capacity, though it is known what was delivered.
        let capacity = Estimate::of(cell);
        let counts = is_delivered && (is_shared || capacity.is_some());
        let estimate = match cell.delivered.filter(|_| counts) {
            Some(delivered) if is_shared => Estimate::delivered(cell, delivered).within_quota(self.report),
            Some(delivered) => Estimate::delivered(cell, delivered),
            None if is_of_copies(self.report, cell) => capacity?.per_thread(),
            None => capacity?,
        };
        Some(estimate.limited(Some(self.report)))
    }

    /// Those of several cells, each by itself.
    pub fn estimates(&self, cells: impl IntoIterator<Item = &'a Cell>) -> Vec<Estimate<'a>> {
        cells.into_iter().filter_map(|cell| self.estimate(cell)).collect()
    }

    /// Those of several cells, as placements are compared by them: in the time that a quota leaves.
    ///
    /// Threads that are bound nowhere may share a CPU while another is idle, which a capacity does not show, except of threads that wait
    /// for each other. Where they delivered a smaller share of their capacity than bound ones did, by more than 2%, their number is
    /// the bound ones', times the ratio of the two deliveries: other programs took their part from both.
    pub fn placed(&self, cells: impl IntoIterator<Item = &'a Cell>) -> Vec<Estimate<'a>> {
        let estimates = self.estimates(cells);
        let key = |own: &Estimate<'a>| {
            let cell = own.cell;
            (cell.kernel.as_str(), cell.point, cell.unit, cell.last_size(), cell.workers)
        };
        let mut groups = grouped(estimates.iter().enumerate(), |(_, own)| key(own));
        let mut placed = estimates.clone();
        for group in &mut groups {
            let bound = group.iter().map(|(_, own)| **own).filter(Estimate::is_bound).reduce(better);
            for (at, own) in group {
                // A thread alone has no other to share with.
                let is_alone = own.cell.workers == 1 || waits_in_kernel(self.report, own.cell);
                if own.is_bound() || own.quantity == Quantity::Delivered || is_alone {
                    continue;
                }
                placed[*at] = bound.and_then(|bound| own.delivered_beside(&bound)).unwrap_or(**own);
            }
        }
        placed.iter().map(|own| own.in_quota(self.report).limited(Some(self.report))).collect()
    }

    /// All series, in the order of their first cells. The loads of a latency are divided by the threads: the more threads, the more loads.
    pub fn series(&self) -> Vec<Series<'a>> {
        let report = self.report;
        let per_load = |own: Estimate<'a>| match report.role(&own.cell.kernel) {
            Role::Latency(_) => own.per_thread(),
            _ => own,
        };
        let estimates = self.placed(&report.cells).into_iter().map(per_load);
        let groups =
            grouped(estimates, |own| (own.cell.kernel.as_str(), own.cell.point, own.cell.unit, own.cell.last_size()));
        groups.into_iter().map(|estimates| Series::within_quota(estimates, report)).collect()
    }

    /// How the estimates of a kernel are compared.
    pub fn peers(&self, kernel: &str) -> Peers<'a> {
        Peers::of(self.report, kernel, self.question)
    }
}

impl<'a> Series<'a> {
    /// Leaves those that a quota has time for: what more threads could do without it is not what they do. Where a quota is measured, the
    /// threads that it has no time for are a part of that.
    fn within_quota(mut estimates: Vec<Estimate<'a>>, report: &Report) -> Self {
        let all = estimates.len();
        let most = report.machine.worth() as u64;
        let fits = |own: &Estimate<'_>| own.cell.workers <= most;
        let counts = report.machine.quota().is_some() && *report.role(&estimates[0].cell.kernel) != Role::Quota;
        if counts && estimates.iter().any(fits) {
            estimates.retain(fits);
        }
        Series { beyond_quota: all - estimates.len(), estimates }
    }

    /// A cell of it: its kernel, point, unit and size are those of all.
    pub fn cell(&self) -> &'a Cell {
        self.estimates[0].cell
    }

    /// Its kernel.
    pub fn kernel(&self) -> &'a str {
        &self.cell().kernel
    }

    /// What its cells have for themselves of the parameters that the sweep varies.
    pub fn point(&self) -> Point {
        self.cell().point
    }

    /// Its estimates by mapping, in the order of the first of each.
    pub fn by_mapping(&self) -> Vec<Vec<Estimate<'a>>> {
        grouped(self.estimates.iter().copied(), |own| own.cell.mapping.as_str())
    }

    /// Its estimates by number of threads, ascending.
    pub fn by_threads(&self) -> Vec<(u64, Vec<Estimate<'a>>)> {
        let mut groups = grouped(self.estimates.iter().copied(), |own| own.cell.workers);
        groups.arrange_by_key(|group| group[0].cell.workers);
        groups.into_iter().map(|group| (group[0].cell.workers, group)).collect()
    }
}

/// Whether its threads wait for each other in the system.
pub fn waits_in_kernel(report: &Report, cell: &Cell) -> bool {
    report.card(&cell.kernel).is_some_and(|card| card.blocks_in_kernel)
}

/// Whether it is the time of copies of a program, each of which does its own work.
pub fn is_of_copies(report: &Report, cell: &Cell) -> bool {
    report.is_in_copies(&cell.kernel) && cell.unit.is_time()
}

/// What kernels are called together that do single operations, by their role or by how their names begin, and those that share
/// something for a throughput; `None` of all others.
pub fn kind<'a>(report: &'a Report, cell: &'a Cell) -> Option<&'a str> {
    let family = report.card(&cell.kernel)?.family;
    match report.role(&cell.kernel) {
        _ if !matches!(family, Family::Sync | Family::Timer | Family::Floor) => None,
        _ if cell.unit.more_is_better() => Some("throughput").filter(|_| family == Family::Sync),
        Role::HandOff(_) => Some("wake-up"),
        Role::LineTransfer(_) => Some("c2c"),
        _ => cell.kernel.split('-').next(),
    }
}
