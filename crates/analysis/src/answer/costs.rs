//! What single operations cost: calls, wake-ups, locks, clocks.

use super::Reading;
use charz_data::card::Waiter;
use charz_data::report::{Cell, Report};
use charz_data::{Arrange, Role};
use charz_estimate::{Best, Estimate, Estimates, Quantity, grouped, kind};

/// The kernels of one kind, the cheapest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    pub kind: String,
    /// Each kernel's name and its number, all under the mapping and with the number of threads that most of them have; of those that
    /// lack it the best with the fewest threads, with these behind the name.
    pub kernels: Vec<(String, Reading)>,
    /// The mapping and the number of threads of those that have none behind the name: `pair:core x2`; `None` where all have.
    pub place: Option<String>,
    /// The names of those that are not apart from the cheapest, it included.
    pub fastest: Vec<String>,
    /// The same of the dearest; empty where that is among the cheapest.
    pub slowest: Vec<String>,
    /// Whether all numbers are what the machine gave.
    pub is_delivered: bool,
}

impl Costs {
    /// The kind, and what its numbers are.
    pub fn title(&self) -> String {
        format!("{}{}", self.kind, if self.is_delivered { ", as delivered" } else { "" })
    }

    /// `cas or exchange`: kernels that are not apart.
    pub fn joined(&self, names: &[String]) -> String {
        names.iter().map(|name| self.short(name)).collect::<Vec<_>>().join(" or ")
    }

    /// A kernel's name without the kind that it begins with.
    pub fn short<'a>(&self, kernel: &'a str) -> &'a str {
        kernel.strip_prefix(self.kind.as_str()).and_then(|rest| rest.strip_prefix('-')).unwrap_or(kernel)
    }
}

pub(super) fn costs<'a>(report: &'a Report) -> Vec<Costs> {
    let is_cost = |cell: &&Cell| !cell.unit.more_is_better() && kind(report, cell).is_some();
    let numbers = Estimates::of(report).estimates(report.cells.iter().filter(is_cost));
    let kernels = grouped(numbers, |number| number.cell.kernel.as_str());
    let kind = |cell: &'a Cell| match report.role(&cell.kernel) {
        // No thread sleeps.
        Role::HandOff(Waiter::Spinning) => cell.kernel.split('-').next().unwrap_or_default(),
        _ => kind(report, cell).unwrap_or_default(),
    };
    let kinds = grouped(kernels, |numbers| kind(numbers[0].cell));
    // The beginning of one name is no kind.
    let (kinds, others): (Vec<_>, Vec<_>) =
        kinds.into_iter().partition(|kernels| kernels.len() > 1 || FIRST.contains(&kind(kernels[0][0].cell)));
    let others = Some(others.concat()).filter(|others| !others.is_empty());
    let named = kinds.into_iter().map(|kernels| (kind(kernels[0][0].cell).to_owned(), kernels));
    let kinds = named.chain(others.map(|others| (OTHERS.to_owned(), others)));
    let list = |(kind, kernels): (String, Vec<Vec<Estimate<'_>>>)| {
        let is_delivered = kernels.iter().flatten().all(|number| number.quantity == Quantity::Delivered);
        let place = commonest(&kernels);
        let mut shown: Vec<(String, Estimate<'_>)> = match &kernels[..] {
            [only] => by_mapping(only),
            _ => kernels.iter().filter_map(|numbers| at(numbers, place)).collect(),
        };
        shown.arrange_by(|one, other| one.1.value.total_cmp(&other.1.value));
        let alike = |end: Option<&(String, Estimate<'_>)>| -> Vec<String> {
            let all = shown.iter().filter(|(_, number)| end.is_some_and(|(_, end)| number.meets(end)));
            all.map(|(name, _)| name.clone()).collect()
        };
        let (fastest, mut slowest) = (alike(shown.first()), alike(shown.last()));
        slowest.retain(|_| shown.last().is_some_and(|(name, _)| !fastest.contains(name)));
        let reading = |number: Estimate<'_>| {
            let origin = if is_delivered { Quantity::Capacity } else { number.quantity };
            Reading { origin, ..Reading::of(&number) }
        };
        let place = shown.iter().find(|(name, number)| *name == number.cell.kernel).map(|(_, number)| placed(number));
        let place = place.map(|(mapping, threads)| format!("{mapping} x{threads}"));
        let kernels = shown.into_iter().map(|(name, number)| (name, reading(number))).collect();
        Costs { kind, kernels, place, fastest, slowest, is_delivered }
    };
    let mut costs: Vec<Costs> = kinds.map(list).collect();
    let place = |kind: &str| FIRST.iter().position(|first| *first == kind).unwrap_or(FIRST.len());
    costs.arrange_by_key(|costs| (costs.kind == OTHERS, place(&costs.kind)));
    costs
}

/// The number of a kernel at a place, or where it has none there the best with its fewest threads, with these behind the name.
fn at<'a>(numbers: &[Estimate<'a>], place: Option<(&str, u64)>) -> Option<(String, Estimate<'a>)> {
    let there = numbers.iter().copied().filter(|number| Some(placed(number)) == place).min_by(Estimate::by_value);
    let name = &numbers.first()?.cell.kernel;
    if let Some(number) = there {
        return Some((name.clone(), number));
    }
    let fewest = numbers.iter().map(|number| number.cell.workers).min()?;
    let with: Vec<Estimate<'_>> = numbers.iter().copied().filter(|number| number.cell.workers == fewest).collect();
    let best = Best::of(&with)?.number;
    Some((format!("{name} ({} x{fewest})", best.cell.mapping), best))
}

/// The best of a kernel under each of its mappings, named where there are several.
fn by_mapping<'a>(numbers: &[Estimate<'a>]) -> Vec<(String, Estimate<'a>)> {
    let mappings = grouped(numbers.iter().copied(), |number| number.cell.mapping.as_str());
    let named = |best: Estimate<'_>| match mappings.len() {
        1 => best.cell.kernel.clone(),
        _ => format!("{} ({} x{})", best.cell.kernel, best.cell.mapping, best.cell.workers),
    };
    let bests = mappings.iter().filter_map(|numbers| numbers.iter().copied().min_by(Estimate::by_value));
    bests.map(|best| (named(best), best)).collect()
}

fn placed<'a>(number: &Estimate<'a>) -> (&'a str, u64) {
    (&number.cell.mapping, number.cell.workers)
}

/// The mapping and the number of threads that most of these kernels have a number for; of several the fewest threads, then those with a CPU
/// each, then the first.
fn commonest<'a>(kernels: &[Vec<Estimate<'a>>]) -> Option<(&'a str, u64)> {
    let places = grouped(kernels.iter().flatten().copied(), placed);
    let rank = |numbers: &&Vec<Estimate<'a>>| {
        let own = grouped(numbers.iter(), |number| number.cell.kernel.as_str()).len();
        (own, std::cmp::Reverse(numbers[0].cell.workers), numbers[0].cell.has_own_cpus())
    };
    places.iter().rev().max_by_key(rank).map(|numbers| placed(&numbers[0]))
}

/// The kinds that a reader asks for first.
const FIRST: [&str; 4] = ["wake-up", "lock", "barrier", "c2c"];

/// What kernels are called together that are the only ones of their kind.
const OTHERS: &str = "other";
