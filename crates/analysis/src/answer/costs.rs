//! What single operations cost: calls, wake-ups, locks, clocks.

use super::Reading;
use crate::group::grouped;
use crate::number::{Best, Number};
use charz_data::Role;
use charz_data::card::Family;
use charz_data::report::{Cell, Report};

/// The kernels of one kind, the cheapest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    pub kind: String,
    /// Each kernel's name and its number with the fewest threads that were measured.
    pub kernels: Vec<(String, Reading)>,
}

impl Costs {
    /// A kernel's name without the kind that it begins with.
    pub fn short<'a>(&self, kernel: &'a str) -> &'a str {
        kernel.strip_prefix(self.kind.as_str()).and_then(|rest| rest.strip_prefix('-')).unwrap_or(kernel)
    }
}

pub(super) fn costs(report: &Report) -> Vec<Costs> {
    let is_cost = |cell: &&Cell| {
        let family = report.card(&cell.kernel).map(|card| card.family);
        matches!(family, Some(Family::Sync | Family::Timer | Family::Floor)) && !cell.unit.more_is_better()
    };
    let cells = report.cells.iter().filter(is_cost).filter_map(Number::of);
    let kernels = grouped(cells, |number| number.cell.kernel.as_str());
    let cheapest = kernels.iter().filter_map(|numbers| {
        let fewest = numbers.iter().map(|number| number.cell.workers).min()?;
        let with: Vec<Number<'_>> = numbers.iter().copied().filter(|number| number.cell.workers == fewest).collect();
        Best::of(&with).map(|best| best.number)
    });
    let kinds = grouped(cheapest, |number| kind(report, number.cell));
    // The beginning of one name is no kind.
    let (kinds, others): (Vec<_>, Vec<_>) =
        kinds.into_iter().partition(|numbers| numbers.len() > 1 || FIRST.contains(&&*kind(report, numbers[0].cell)));
    let others = Some(others.concat()).filter(|others| !others.is_empty());
    let named = kinds.into_iter().map(|numbers| (kind(report, numbers[0].cell), numbers));
    let kinds = named.chain(others.map(|others| (OTHERS.to_owned(), others)));
    let list = |(kind, mut numbers): (String, Vec<Number<'_>>)| {
        numbers.sort_by(|one, other| one.value.total_cmp(&other.value));
        Costs {
            kind,
            kernels: numbers.iter().map(|number| (number.cell.kernel.clone(), Reading::of(number))).collect(),
        }
    };
    let mut costs: Vec<Costs> = kinds.map(list).collect();
    let place = |kind: &str| FIRST.iter().position(|first| *first == kind).unwrap_or(FIRST.len());
    costs.sort_by_key(|costs| (costs.kind == OTHERS, place(&costs.kind)));
    costs
}

/// The kinds that a reader asks for first.
const FIRST: [&str; 4] = ["wake-up", "lock", "barrier", "c2c"];

/// What kernels are called together that are the only ones of their kind.
const OTHERS: &str = "other";

/// What kernels of a role are called together; others by how their names begin.
fn kind(report: &Report, cell: &Cell) -> String {
    match report.role(&cell.kernel) {
        Role::HandOff(_) => "wake-up".to_owned(),
        Role::LineTransfer(_) => "c2c".to_owned(),
        _ => cell.kernel.split('-').next().unwrap_or_default().to_owned(),
    }
}
