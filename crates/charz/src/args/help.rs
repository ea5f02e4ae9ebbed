//! Help texts that follow from the tables of mappers, kernels, formats and exit codes.

use std::io::{self, Write};
use std::time::Duration;

use charz_topology::mappers;
use clap::{Arg, Command};

use crate::provenance::tool;
use crate::view::{self, look, plan};
use charz_data::params::PARAMS;
use charz_data::report::Tool;
use charz_data::units;
use charz_measure::plan::{
    LARGER_BUDGET, LARGER_QUICK_BUDGET, QUICK_BUDGET, QUICK_REPETITIONS, USUAL_BUDGET, narrowed_until,
};
use charz_render::formats::SWEPT;
use charz_render::wrapped::{self, labelled};

pub(super) fn mappings(first: &str) -> String {
    let lines = mappers().map(|mapper| {
        let parameter = mapper.parameter.map(|parameter| format!(":{parameter}")).unwrap_or_default();
        format!("  {}{parameter}{}: {}", mapper.name, view::also(mapper), mapper.about)
    });
    format!("{first}\n\n{}", lines.collect::<Vec<_>>().join("\n"))
}

pub(super) fn kernels() -> String {
    "Kernels, by name or prefix, e.g. arith-int or ring-*; see charz kernels".into()
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
        lines(&SWEPT.map(|format| (format.name, format.about))),
        lines(&plan::FORMATS.iter().map(|format| (format.name, format.about)).collect::<Vec<_>>()),
    ]
    .map(|lines| lines.join("\n"));
    format!("Output format [default: summary]\n\n{report}\n\nWith --dry-run, of the plan:\n\n{plan}")
}

/// How a program of the user's is named.
pub(super) const COMMAND: &str = "--command './bench --threads {threads}'";

pub(super) const BUDGET: &str = "Longest duration of the sweep, e.g. 90s, 10m; what does not fit stays pending";

pub(super) const SHORT_BUDGET: &str = "Longest duration, e.g. 90s, 10m";

pub(super) const PLANNED_BUDGET: &str = "Longest duration, e.g. 90s, 10m

auto is the time of the document, 1 to 6 min, or 1.5 times what six runs of every configuration take, if that is more; --dry-run prints it";

pub(super) fn budget() -> String {
    format!(
        "{BUDGET}\n\nauto is {}, or {} if six runs of every configuration would not fit well; intervals are narrowed for a little \
         more than half of the time that the numbers took. With a duration they are narrowed until it is over, or they are as \
         narrow as --precision asks",
        units::duration(USUAL_BUDGET),
        units::duration(LARGER_BUDGET)
    )
}

pub(super) fn quick() -> String {
    format!(
        "A coarse look in {} s, or {} s past very large caches: one thread and a thread per CPU, blocks beyond the caches, {} iterations \
         per run",
        QUICK_BUDGET.as_secs(),
        LARGER_QUICK_BUDGET.as_secs(),
        QUICK_REPETITIONS
    )
}

/// What `charz --help` prints: the commands that people begin with, then all of them by what they are for.
pub(super) fn overview() -> String {
    let (quiet, large) = (narrowed_until(Duration::ZERO).as_secs(), LARGER_BUDGET.as_secs().div_ceil(60));
    let sweep = format!("benchmark this machine ({quiet} s; a busy or large one up to {large} min)");
    let first = [
        ("sweep", sweep.as_str()),
        ("topo", "sockets, cores, caches, NUMA nodes"),
        ("doctor", "is this machine set up for benchmarking?"),
        ("render last", "the newest report again; --format html: a page to send (--anonymous: without names)"),
        ("compare A B", "slower, faster or same"),
    ];
    let last = [
        ("charz COMMAND --help", "options and examples"),
        ("charz docs exit-codes", "exit codes"),
        ("charz --version", "version, commit, target"),
    ];
    const TERMS: &str = "Terms: a socket contains NUMA nodes, cores and CPUs (strands, hardware threads). A mapping is the order in which \
        threads take CPUs. A run is a fresh process. A number ends in ~ if it is noisy.";
    let width = look::tables().min(OVERVIEW);
    let mut text = Vec::new();
    let write = |out: &mut dyn Write| -> io::Result<()> {
        wrapped::hanging("charz - measure a multi-core machine and find where threads run best", 8, width, out)?;
        writeln!(out)?;
        first.iter().try_for_each(|(verb, about)| labelled(&format!("  charz {verb}"), 23, about, width, out))?;
        writeln!(out)?;
        GROUPS.iter().try_for_each(|(name, verbs)| labelled(name, 10, &verbs.join("  "), width, out))?;
        writeln!(out)?;
        wrapped::hanging(TERMS, 0, width, out)?;
        writeln!(out)?;
        last.iter().try_for_each(|(line, about)| labelled(line, 23, about, width, out))
    };
    // A vector takes all.
    let _ = write(&mut text);
    String::from_utf8_lossy(&text).trim_end().to_owned()
}

/// The width of the overview where there is room.
const OVERVIEW: usize = 98;

/// Every command, by what it is for.
pub(super) const GROUPS: [(&str, &[&str]); 4] = [
    ("Measure", &["sweep", "c2c", "numa", "audit", "ab", "selftest", "replicate"]),
    ("Place", &["advise", "predict", "map", "exec"]),
    ("Inspect", &["topo", "doctor", "watch", "lockutil", "kernels", "explain", "config"]),
    ("Reports", &["render", "import", "compare", "history", "fleet", "docs", "completions"]),
];

/// The options of a sweep, or of two, that are used daily, under their headings; `-h` shows these.
const DAILY: [(&str, &[&str]); 4] = [
    ("Sides", &["a", "b", "a_program", "b_program"]),
    ("What", &["kernel", "family", "command", "threads", "mapping", "size"]),
    ("How long", &["quick", "budget", "wait_quiet"]),
    ("Output", &["output", "verbose", "resume", "dry_run"]),
];

/// An option of a sweep under its heading.
pub(super) fn grouped(arg: Arg) -> Arg {
    let id = arg.get_id().as_str().to_owned();
    match DAILY.iter().find(|(_, ids)| ids.contains(&id.as_str())) {
        Some((heading, _)) => arg.help_heading(*heading),
        None => arg.help_heading(ADVANCED).hide_short_help(true),
    }
}

const ADVANCED: &str = "Advanced";

/// The commands whose options are too many to describe at length: `--help` has a line for each, and the man page the rest.
const LARGE: [&str; 2] = ["sweep", "ab"];

/// What `--help` prints of a large command: the daily options first. The parameters of kernels are where the kernels are described.
pub(super) fn all_options(command: &Command, variable: impl Fn(&Arg) -> Option<String>) -> Option<String> {
    if !LARGE.contains(&command.get_name()) {
        return None;
    }
    let headings: Vec<&str> = DAILY.iter().map(|(heading, _)| *heading).chain([ADVANCED]).collect();
    let rank = |arg: &Arg| headings.iter().position(|heading| arg.get_help_heading() == Some(heading));
    let is_daily = |arg: &Arg| rank(arg).is_some_and(|rank| headings[rank] != ADVANCED);
    let is_param = |arg: &Arg| PARAMS.iter().any(|param| arg.get_long() == Some(param.name));
    let mut args: Vec<&Arg> = command.get_arguments().collect();
    args.sort_by_key(|arg| rank(arg).unwrap_or(headings.len()));
    let args = args.into_iter().map(|arg| {
        let help = match arg.get_id().as_str() {
            "help" => "This list; -h has the daily options only".to_owned(),
            _ => arg.get_help().map(ToString::to_string).unwrap_or_default(),
        };
        let variable = variable(arg).map(|variable| format!(" [env: {variable}]")).unwrap_or_default();
        let heading = arg.get_help_heading().unwrap_or(ADVANCED).to_owned();
        arg.clone()
            .help_heading(heading)
            .hide_short_help(false)
            .hide(is_param(arg) && !is_daily(arg))
            .help(help + &variable)
    });
    let name = command.get_bin_name().unwrap_or_default().to_owned();
    let shown = Command::new(name.clone()).bin_name(name.clone()).disable_help_flag(true).max_term_width(MOST_COLUMNS);
    let shown = shown.override_usage(format!("{name} [OPTIONS]")).args(args);
    let shown = shown.about(command.get_about().cloned().unwrap_or_default());
    let page = name.replace(' ', "-");
    let more = format!(
        "More: man {page} (or charz docs man-{}) describes each option at length; charz kernels NAME has the parameters of a kernel \
         (--steps, --stride, --pages, …) with their defaults and limits.",
        command.get_name()
    );
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    Some(shown.after_help(format!("{more}\n\n{examples}")).render_help().to_string())
}

/// The widest help.
pub(super) const MOST_COLUMNS: usize = 110;
