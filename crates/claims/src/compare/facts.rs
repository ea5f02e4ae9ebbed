//! What reports say of where and how they were measured, besides the machine: one fact a line.

use std::collections::BTreeSet;

use charz_data::program::{ProgramFile, ProgramIdentity, ProgramValue};
use charz_data::report::Report;

/// A fact of a report.
#[derive(Debug)]
pub struct Fact {
    /// E.g. `microcode`; of [`TERMS`] the flag.
    pub name: &'static str,
    /// `None` where the report does not have it.
    pub of: fn(&Report) -> Option<Said<'_>>,
    absence: Absence,
}

/// What a report says of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said<'a> {
    /// In its own words.
    Text(&'a str),
    /// A version and a commit.
    Version([&'a str; 2]),
    /// A time in nanoseconds.
    Nanos(u64),
    /// CPUs by their ids, in their order.
    Cpus(Vec<u32>),
    /// The files of a program.
    Files(&'a [ProgramFile]),
    /// Several words, each once.
    Words(BTreeSet<&'a str>),
    /// Where the number of a program comes from.
    Value(&'a ProgramValue),
    /// Exit codes; `None` where there are none.
    Codes(Option<&'a [u8]>),
}

/// What a report that does not have a fact says by that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Absence {
    /// That there is none.
    Told,
    /// Nothing: those of earlier versions lack it, or it is only of a program.
    Silent,
    /// Nothing where it is anonymous.
    Anonymous,
    /// Nothing, for both reasons.
    SilentOrAnonymous,
}

use Absence::{Anonymous, Silent, SilentOrAnonymous, Told};
use Said::{Codes, Cpus, Files, Nanos, Text, Value, Version, Words};

type Of = fn(&Report) -> Option<Said<'_>>;

const fn fact(name: &'static str, absence: Absence, of: Of) -> Fact {
    Fact { name, of, absence }
}

/// What makes two builds run the same loops.
pub static BUILD: [Fact; 5] = [
    fact("kernels' source code", Told, |report| Some(Text(&report.tool.kernels))),
    fact("compiler", Told, |report| Some(Text(&report.tool.rustc))),
    fact("compiler flags", Told, |report| Some(Text(&report.tool.rustflags))),
    fact("build profile", Told, |report| Some(Text(&report.tool.profile))),
    fact("target", Told, |report| Some(Text(&report.tool.target))),
];

/// What does not prevent a comparison.
pub static SURROUNDINGS: [Fact; 13] = [
    fact("host", Anonymous, |report| text(report.host.name.as_deref())),
    fact("system's kernel", Anonymous, |report| text(report.host.kernel.as_deref())),
    fact("microcode", Silent, |report| text(report.host.microcode.as_deref())),
    fact("firmware", SilentOrAnonymous, |report| text(report.host.firmware.as_deref())),
    fact("clock source", Told, |report| text(report.host.clock_source.as_deref())),
    fact("policy of transparent huge pages", Told, |report| text(report.host.transparent_huge_pages.as_deref())),
    fact("frequency governor", Told, |report| text(report.host.frequency_governor.as_deref())),
    fact("timer slack", Silent, |report| report.host.timer_slack_ns.map(Nanos)),
    fact("CPU quota", Told, |report| Some(Text(report.host.cpu_quota.as_deref().unwrap_or("none")))),
    fact("list of usable CPUs", Told, |report| Some(usable_cpus(report))),
    PROGRAM,
    FOLDER,
    fact("way in which the program was followed", Silent, followed),
];

const PROGRAM: Fact = fact("program", Silent, |report| Some(Files(&report.plan.program_identity.as_ref()?.files)));
const FOLDER: Fact =
    fact("program's folder", Silent, |report| Some(Text(&report.plan.program_identity.as_ref()?.folder)));

/// What changes the meaning of a number besides parameters: flags.
pub static TERMS: [Fact; 11] = [
    fact("clock", Told, |report| Some(Text(&report.plan.clock))),
    fact("binder", Told, |report| Some(Text(&report.plan.binder))),
    fact("command", Silent, |report| Some(Text(&report.plan.program.as_ref()?.command))),
    fact("value", Silent, |report| Some(Value(&report.plan.program.as_ref()?.value))),
    fact("program-output", Silent, |report| or_empty(report.plan.program.as_ref()?.output.as_deref())),
    fact("verify", Silent, |report| or_empty(report.plan.program.as_ref()?.verify.as_deref())),
    fact("setup", Silent, |report| or_empty(report.plan.program.as_ref()?.setup.as_deref())),
    fact("ignore-failure", Silent, |report| Some(Codes(report.plan.program.as_ref()?.ignored_failures.as_deref()))),
    fact("follow", Silent, |report| {
        Some(Text(report.plan.program.as_ref()?.follow.map_or("", |follow| follow.name())))
    }),
    fact("unit", Silent, |report| Some(Text(report.plan.program.as_ref()?.unit.symbol.as_str()))),
    fact("direction", Silent, |report| Some(Text(report.plan.program.as_ref()?.unit.better.name()))),
];

static VERSION: Fact = fact("charz", Told, |report| Some(Version([&report.tool.version, &report.tool.commit])));

/// What may have changed between two reports of one machine with the same cells.
pub(crate) fn environment() -> impl Iterator<Item = &'static Fact> {
    [&VERSION].into_iter().chain(&SURROUNDINGS).chain(&BUILD).chain(&TERMS[..2])
}

/// What two reports say of a fact.
pub type Both<'a> = [Option<Said<'a>>; 2];

impl Fact {
    /// What two reports say of it, where that differs.
    pub fn differs<'a>(&self, reports: [&'a Report; 2]) -> Option<Both<'a>> {
        let said = reports.map(self.of);
        let is_silent = matches!(self.absence, Silent | SilentOrAnonymous) && said.iter().any(Option::is_none);
        let is_hidden =
            matches!(self.absence, Anonymous | SilentOrAnonymous) && reports[0].anonymous != reports[1].anonymous;
        (said[0] != said[1] && !is_silent && !is_hidden).then_some(said)
    }
}

fn text(text: Option<&str>) -> Option<Said<'_>> {
    text.map(Text)
}

fn or_empty(text: Option<&str>) -> Option<Said<'_>> {
    Some(Text(text.unwrap_or_default()))
}

/// The CPUs that the process of a report could use.
pub(super) fn usable_cpus(report: &Report) -> Said<'_> {
    let mut ids: Vec<u32> = report.machine.usable_strands().map(|strand| strand.os_id).collect();
    ids.sort_unstable();
    Cpus(ids)
}

/// How a program with seats was followed, all ways where there are several; `None` where there is none.
fn followed(report: &Report) -> Option<Said<'_>> {
    let seated = report.cells.iter().filter(|cell| cell.seats.iter().any(Option::is_some));
    let evidence = seated.flat_map(|cell| &cell.invocations).filter_map(|one| one.evidence.as_ref()?.program.as_ref());
    let ways: BTreeSet<&str> = evidence.map(|seen| seen.followed.as_str()).filter(|way| !way.is_empty()).collect();
    (!ways.is_empty()).then_some(Words(ways))
}

/// What two identities of a program differ in.
pub fn other_program<'a>(
    one: &'a ProgramIdentity,
    other: &'a ProgramIdentity,
) -> Option<(&'static str, [Said<'a>; 2])> {
    let files = (one.files != other.files).then(|| (PROGRAM.name, [Files(&one.files), Files(&other.files)]));
    files.or_else(|| (one.folder != other.folder).then(|| (FOLDER.name, [Text(&one.folder), Text(&other.folder)])))
}
