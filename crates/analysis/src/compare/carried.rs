//! Which suspicions leave a comparison as safe as it is without them.
//!
//! A mark doubts a number. A comparison asks for less: whether two numbers differ by more than what the values of the invocations
//! show of themselves.

use super::terms::{Design, Quantity};
use charz_data::checks::{Check, V03, V04, V08, V12, V15, V16, V28, V33, V34};
use charz_data::report::{Cell, Mark, Severity};

/// The number has a wide interval, or few values. The test and the interval of the difference allow for both.
static WIDTH: [&Check; 2] = [&V12, &V28];

/// Something else used the machine, or changed its speed, or the system cannot report whether it did. Two sides in turns meet the
/// same, by chance more or less of it, which spreads the values of both; and what was delivered is what was left of it. Two
/// capacities that were measured one after the other are safe from none of these: the mark says that the disturbance is in the number.
static DISTURBANCES: [&Check; 7] = [&V03, &V04, &V08, &V15, &V16, &V33, &V34];

/// Why the number of a suspect cell is not safe in such a comparison: the code of a mark that is not carried, or the reason of its status. Any of the other
/// suspicions is of something that the values do not show, such as pages of another kind, a clock that is too coarse, or a build
/// without optimisation.
pub(super) fn objection(cell: &Cell, design: Design, quantity: Quantity) -> Option<&str> {
    let disturbances = design == Design::Interleaved || quantity == Quantity::Delivered;
    let names = |checks: &[&Check], mark: &Mark| checks.iter().any(|check| check.code == mark.code);
    let is_carried = |mark: &Mark| {
        mark.severity < Severity::Invalid && (names(&WIDTH, mark) || (disturbances && names(&DISTURBANCES, mark)))
    };
    let mut doubts = cell.marks.iter().filter(|mark| mark.severity > Severity::Note).peekable();
    if doubts.peek().is_none() {
        return Some(cell.reason.as_deref().unwrap_or_default());
    }
    doubts.find(|mark| !is_carried(mark)).map(|mark| mark.code.as_str())
}
