//! Cells that differ in the number of workers only.

use charz_data::report::{Cell, Finding, FindingKind, Report, Status, Unit};
use charz_data::{Arrange, Card, Role};
use charz_estimate::{Estimate, Estimates, grouped};

/// The cells of a kernel under a mapping, by ascending number of workers.
pub(super) struct Series<'a> {
    pub(super) kernel: &'a str,
    pub(super) card: Option<&'a Card>,
    pub(super) mapping: &'a str,
    pub(super) cells: Vec<&'a Cell>,
    basis: &'a Estimates<'a>,
}

impl<'a> Series<'a> {
    /// All of a report, in the order of their first cells.
    pub(super) fn of(report: &'a Report, basis: &'a Estimates<'a>) -> Vec<Self> {
        let groups = grouped(&report.cells, |cell| (cell.kernel.as_str(), cell.mapping.as_str(), cell.point));
        let series = groups.into_iter().map(|mut cells| {
            cells.arrange_by_key(|cell| cell.workers);
            let Cell { kernel, mapping, .. } = cells[0];
            Series { kernel, card: report.card(kernel), mapping, cells, basis }
        });
        series.collect()
    }

    pub(super) fn role(&self) -> &'a Role {
        self.card.map_or(&Role::Other, |card| &card.role)
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = Estimate<'a>> {
        self.cells.iter().filter_map(|cell| self.basis.estimate(cell))
    }

    pub(super) fn number(&self, cell: &'a Cell) -> Option<Estimate<'a>> {
        self.basis.estimate(cell)
    }

    pub(super) fn counts(&self, unit: Unit) -> bool {
        self.cells.iter().all(|cell| cell.unit == unit)
    }

    /// What shows at a number of workers, or with all; the sentence goes on after the name.
    pub(super) fn finding(&self, kind: FindingKind, workers: Option<u64>, value: Option<f64>, text: &str) -> Finding {
        let Series { kernel, mapping, .. } = *self;
        let text = format!("{kernel} {mapping}{text}");
        Finding {
            kind,
            kernel: kernel.to_owned(),
            mapping: Some(mapping.to_owned()),
            workers,
            value,
            text,
            evidence: String::new(),
        }
    }
}

/// How many cells of these, with so many workers, should have a number and have none: any of them may be better than the best.
pub(super) fn unknown<'a>(rivals: impl IntoIterator<Item = &'a Series<'a>>, workers: u64) -> String {
    let lacks = |cell: &&&Cell| cell.workers == workers && cell.status != Status::Skipped && cell.value().is_none();
    match rivals.into_iter().flat_map(|series| &series.cells).filter(lacks).count() {
        0 => String::new(),
        1 => "; 1 other has no number".to_owned(),
        missing => format!("; {missing} others have no number"),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}
