//! The pairs of strands that are going to be measured, for `charz c2c --dry-run`.

use std::io::{self, Write};

use charz_data::machine::Machine;

use crate::plan::Plan;
use charz_analysis::page::matrix::class_name;
use charz_analysis::pairs::{Choice, Chosen};
use charz_data::escape::counted;
use charz_data::units;
use charz_render::grid;

/// Every class of pairs with how many there are and are going to be measured, then the totals.
///
/// # Errors
/// Those of the output.
pub fn write(choice: &Choice, machine: &Machine, plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    let row =
        |chosen: &Chosen| [class_name(&chosen.class, machine), chosen.pairs.to_string(), chosen.chosen.to_string()];
    let rows: Vec<_> = choice.classes.iter().map(row).collect();
    grid::columns(&["distance", "pairs", "to measure"], &[0], &rows, out)?;
    let all: u64 = choice.classes.iter().map(|chosen| chosen.pairs).sum();
    writeln!(
        out,
        "\n{} of {all}, {}, {} each: about {} of a budget of {}, the rest of which narrows wide intervals",
        counted(choice.pairs.len(), "pair"),
        counted(plan.cells.len(), "cell"),
        counted(plan.invocations.least, "invocation"),
        units::duration(plan.predicted()),
        units::duration(plan.budget),
    )
}
