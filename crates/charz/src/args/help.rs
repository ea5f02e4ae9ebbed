//! Help texts that follow from the tables of mappers, kernels, formats and exit codes.

use charz_topology::mappers;

use crate::exit::EXITS;
use crate::plan::{LARGER_BUDGET, QUICK_BUDGET, QUICK_REPETITIONS, USUAL_BUDGET};
use crate::sweep::tool;
use crate::view::{self, plan};
use charz_data::report::Tool;
use charz_data::units;
use charz_render::formats::MEASURED;

pub(super) fn mappings(first: &str) -> String {
    let lines = mappers().map(|mapper| {
        let parameter = mapper.parameter.map(|parameter| format!(":{parameter}")).unwrap_or_default();
        format!("  {}{parameter}{}: {}", mapper.name, view::also(mapper), mapper.about)
    });
    format!("{first}\n\n{}", lines.collect::<Vec<_>>().join("\n"))
}

pub(super) fn kernels() -> String {
    "Kernels, separated by commas, by name or by how names begin, e.g. arith-int or ring-*; charz kernels lists them"
        .into()
}

/// What `--version` prints behind the name; `-V` has the first word of it.
pub(super) fn version() -> String {
    let Tool { version, commit, target, hwloc, rustc, .. } = tool();
    format!("{version}\ncommit: {commit}\ntarget: {target}\nhwloc: {hwloc}\nrustc: {rustc}")
}

/// What `charz sweep` prints when it ends, or the plan of it.
pub(super) fn sweep_formats() -> String {
    let lines = |formats: &[(&str, &str)]| -> Vec<String> {
        formats.iter().map(|(name, about)| format!("  {name}: {about}")).collect()
    };
    let [report, plan] = [
        lines(&MEASURED.map(|format| (format.name, format.about))),
        lines(&plan::FORMATS.iter().map(|format| (format.name, format.about)).collect::<Vec<_>>()),
    ]
    .map(|lines| lines.join("\n"));
    format!("Output format [default: table]\n\n{report}\n\nWith --dry-run, of the plan:\n\n{plan}")
}

pub(super) const BUDGET: &str =
    "The longest that the sweep may take, with a unit, e.g. 90s, 10m; cells that do not fit stay pending";

pub(super) const SHORT_BUDGET: &str = "The longest that it may take, with a unit, e.g. 90s, 10m";

pub(super) fn budget() -> String {
    format!(
        "{BUDGET}\n\nauto is {}, or {} if the \
         minimum number of invocations of all cells would not fit well",
        units::duration(USUAL_BUDGET),
        units::duration(LARGER_BUDGET)
    )
}

pub(super) fn quick() -> String {
    format!(
        "A coarse look in about {} seconds: 1 worker and one per strand, 128 MiB blocks, {} repetitions",
        QUICK_BUDGET.as_secs(),
        QUICK_REPETITIONS
    )
}

/// The examples, with the time that a sweep without flags takes: `2 to 4 minutes`.
pub(super) fn examples(examples: &str) -> String {
    let time = format!("{} to {} minutes", USUAL_BUDGET.as_secs() / 60, LARGER_BUDGET.as_secs().div_ceil(60));
    examples.replace("{sweep}", &time)
}

pub(super) fn after(text: &str) -> String {
    let codes: Vec<_> = EXITS.iter().map(|(exit, meaning)| format!("  {:<4} {meaning}", exit.code())).collect();
    format!("{}\n\nExit codes:\n{}", examples(text), codes.join("\n"))
}
