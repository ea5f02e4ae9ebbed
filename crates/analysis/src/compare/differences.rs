//! What two reports differ in besides their numbers.

use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, UNIX_EPOCH};

use charz_data::machine::{Machine, Strand};
use charz_data::params::{self, PARAMS, Param};
use charz_data::program::{ProgramFile, ProgramIdentity};
use charz_data::{Program, Role, cpulist};

use super::pairing::{Place, place, places, usable_cpus};
use super::terms::Caveat;
use charz_claims::card::MEMORY;
use charz_data::escape::counted;
use charz_data::report::{Cell, Report, SCHEMA_MAJOR, SCHEMA_MINOR};

/// A difference that makes numbers incomparable unless a flag allows it: a clause, e.g. `they were measured on different processors
/// ("A" and "B")`.
type Difference = (Caveat, String);

/// The share by which the installed memory of one machine may differ from boot to boot: what firmware and kernel keep for
/// themselves moves by less, a module of memory is more.
const MEMORY_MOVES: f64 = 0.02;

/// All differences, the weightiest first.
pub(super) fn between(base: &Report, new: &Report) -> Vec<Difference> {
    let machine = other_machine(base, new).map(|clause| (Caveat::OtherMachine, clause));
    [machine, build(base, new), plan(base, new)].into_iter().flatten().collect()
}

/// Whether two names may be of one host: a batch system has the name alone where the system's has a domain too.
pub fn is_one_host(one: &str, other: &str) -> bool {
    let is_short = |name: &str, whole: &str| whole.split_once('.').is_some_and(|(first, _)| first == name);
    one == other || is_short(one, other) || is_short(other, one)
}

/// What shows that two reports are of different machines: a clause. `None` where they may be of one.
pub fn other_machine(base: &Report, new: &Report) -> Option<String> {
    let (one, other) = (&base.machine, &new.machine);
    let counts = |machine: &Machine| (machine.packages.len(), machine.cores.len(), machine.strands.len());
    let strands = || one.strands.iter().zip(&other.strands);
    let bytes = |report: &Report| report.host.memory.total_bytes;
    if base.host.processor != new.host.processor {
        Some(format!(
            "they were measured on different processors ({} and {})",
            quoted(base.host.processor.as_deref()),
            quoted(new.host.processor.as_deref())
        ))
    } else if counts(one) != counts(other) {
        let named = |machine: &Machine| {
            let (packages, cores, strands) = counts(machine);
            [counted(packages, "socket"), counted(cores, "core"), counted(strands, "CPU")].join(", ")
        };
        Some(format!("the machines differ in their CPUs ({} against {})", named(one), named(other)))
    } else if let Some((one, other)) = strands().find(|(one, other)| position(one) != position(other)) {
        let id = |id: Option<u32>| id.map_or_else(|| "none".to_owned(), |id| id.to_string());
        let named = |strand: &Strand| {
            format!("CPU {} of core {}, socket {}", strand.os_id, id(strand.core), id(strand.package))
        };
        Some(format!("the machines differ in their CPUs ({} against {})", named(one), named(other)))
    } else if one.numa_nodes.len() != other.numa_nodes.len() || moved(bytes(base), bytes(new)) {
        Some(format!(
            "the machines differ in their memory ({} on {} NUMA nodes, and {} on {})",
            size(bytes(base)),
            one.numa_nodes.len(),
            size(bytes(new)),
            other.numa_nodes.len()
        ))
    } else {
        let (one, other) = strands().find(|(one, other)| one.numa_nodes != other.numa_nodes)?;
        let [on, instead] = [one, other].map(|strand| cpulist::print(&strand.numa_nodes));
        Some(format!("the machines differ in their NUMA nodes (CPU {} on node {on:?} against {instead:?})", one.os_id))
    }
}

/// Where a strand is. Whether it could be used shows in each cell, and the caches and groups that it is in may be described in another way by
/// a later version of the system.
fn position(strand: &Strand) -> (u32, Option<u32>, Option<u32>) {
    (strand.os_id, strand.package, strand.core)
}

type Indices = fn(&Strand) -> Vec<u32>;

/// What systems of two versions describe in other ways.
const DESCRIBED: [(&str, Indices); 4] = [
    ("caches", |strand| strand.caches.clone()),
    ("groups", |strand| strand.groups.clone()),
    ("ALU groups", |strand| vec![strand.alu, strand.slot]),
    ("kinds of core", |strand| strand.kind.into_iter().collect()),
];

fn moved(base: Option<u64>, new: Option<u64>) -> bool {
    match (base, new) {
        (Some(base), Some(new)) => base.abs_diff(new) as f64 > MEMORY_MOVES * base.max(new) as f64,
        (base, new) => base != new,
    }
}

/// The kernels' hash of a report from before there was one.
const UNKNOWN: &str = "unknown";

fn build(base: &Report, new: &Report) -> Option<Difference> {
    let mut table = built(base).into_iter().zip(built(new));
    let found = table.find(|((_, one), (_, other))| one != other || *one == UNKNOWN);
    found.map(|((what, one), (_, other))| match one == UNKNOWN && one == other {
        true => (Caveat::OtherBuild, format!("of neither the {what} is known")),
        false => {
            let clause = format!("they were measured by builds that differ in the {what} ({one:?} and {other:?})");
            (Caveat::OtherBuild, clause)
        }
    })
}

/// What makes two builds run the same loops, by name.
pub fn built(report: &Report) -> [(&'static str, &str); 5] {
    let tool = &report.tool;
    [
        ("kernels' source code", &tool.kernels),
        ("compiler", &tool.rustc),
        ("compiler flags", &tool.rustflags),
        ("build profile", &tool.profile),
        ("target", &tool.target),
    ]
}

/// The number of iterations is no difference: rates are by step, and sweeps choose it by what their budget allows.
fn plan(base: &Report, new: &Report) -> Option<Difference> {
    let (one, other) = (&base.plan, &new.plan);
    // A parameter is of no interest where no kernel of both obeys it; one without a card may.
    let both = || one.kernels.iter().filter(|name| other.kernels.contains(name));
    let obeys = |param: &Param| {
        let may = |report: &Report, name: &str| report.card(name).is_none_or(|card| card.obeys(param));
        both().any(|name| may(base, name) || may(new, name))
    };
    // Where each configuration has a value of its own, that is compared, and what the plan had for none of them is not. The plan's size is
    // a configuration's own where the other report has a size for it.
    let is_own = |report: &Report, others: &HashSet<Place<'_>>, param: &Param| {
        let mut obey =
            report.cells.iter().filter(|cell| report.card(&cell.kernel).is_none_or(|card| card.obeys(param)));
        let is_sized = |cell: &Cell| *param == params::SIZE && !others.contains(&place(cell));
        obey.clone().next().is_some() && obey.all(|cell| cell.point.has(param) || is_sized(cell))
    };
    let differs = |param: &&Param| {
        let differs = !param.is_amount() && !param.same(&one.params, &other.params) && obeys(param);
        differs && !(is_own(base, &places(new), param) && is_own(new, &places(base), param))
    };
    let param = PARAMS.iter().copied().find(differs);
    let param = param.map(|param| (param.name, (param.show)(&one.params), (param.show)(&other.params)));
    let others = [("clock", &one.clock, &other.clock), ("binder", &one.binder, &other.binder)];
    let other = others.into_iter().find(|(_, one, other)| one != other);
    let found = param.or_else(|| other.map(|(flag, one, other)| (flag, one.clone(), other.clone())));
    let found = found.or_else(|| programs(base, new));
    found.map(|(flag, one, other)| {
        (Caveat::OtherPlan, format!("their plans differ in --{flag} ({one:?} and {other:?})"))
    })
}

/// What two programs differ in, where both reports have one: a flag and its values.
fn programs(base: &Report, new: &Report) -> Option<(&'static str, String, String)> {
    let (one, other) = (base.plan.program.as_ref()?, new.plan.program.as_ref()?);
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let parts = |program: &Program| {
        [
            ("command", program.command.clone()),
            ("value", program.value.to_string()),
            ("program-output", text(&program.output)),
            ("verify", text(&program.verify)),
            ("setup", text(&program.setup)),
            ("ignore-failure", program.ignored_failures.as_ref().map(|codes| format!("{codes:?}")).unwrap_or_default()),
            ("follow", program.follow.map(|follow| follow.name().to_owned()).unwrap_or_default()),
            ("unit", program.unit.symbol.as_str().to_owned()),
            ("direction", program.unit.better.to_string()),
        ]
    };
    let pairs = parts(one).into_iter().zip(parts(other));
    pairs.map(|((flag, one), (_, other))| (flag, one, other)).find(|(_, one, other)| one != other)
}

/// What is worth knowing, and no obstacle.
pub(super) fn notes(base: &Report, new: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    if !base.id.is_empty() && base.id == new.id {
        notes.push("both are the same report".into());
    }
    for (side, report) in [("base", base), ("new", new)] {
        let minor = report.schema.minor;
        if minor > SCHEMA_MINOR && report.schema.major == SCHEMA_MAJOR {
            notes.push(format!(
                "the {side} report has format version {SCHEMA_MAJOR}.{minor}, of which this program knows what \
                 {SCHEMA_MAJOR}.{SCHEMA_MINOR} has"
            ));
        }
        if !report.complete {
            notes.push(format!("the {side} report is not complete"));
        }
    }
    // Reports from before they were read say nothing of them, and an anonymous one leaves some out.
    let later = |what| [MICROCODE, FIRMWARE, SLACK, PROGRAM, FOLDER, FOLLOWED].contains(&what);
    let is_unsaid = |what| base.anonymous != new.anonymous && [HOST, KERNEL, FIRMWARE].contains(&what);
    let silent = |one: Option<&str>, other: Option<&str>, what| {
        is_unsaid(what) || (later(what) && (one.is_none() || other.is_none()))
    };
    for ((what, one), (_, other)) in surroundings(base).into_iter().zip(surroundings(new)) {
        let (one, other) = (one.as_deref(), other.as_deref());
        if one != other && !silent(one, other, what) {
            notes.push(format!("the {what} is another one ({} and {})", quoted(one), quoted(other)));
        }
    }
    let has_program = |report: &Report| report.plan.program.is_some();
    if base.id != new.id && [base, new].iter().all(|report| report.anonymous && has_program(report)) {
        notes.push("neither report names its program: they are taken for one".into());
    }
    let pairs = || base.machine.strands.iter().zip(&new.machine.strands);
    let differs = |of: Indices| pairs().any(|(one, other)| of(one) != of(other));
    let words: Vec<&str> = DESCRIBED.into_iter().filter(|(_, of)| differs(*of)).map(|(word, _)| word).collect();
    if !words.is_empty() && other_machine(base, new).is_none() {
        notes.push(format!("the descriptions of the CPUs differ in their {}", words.join(" and ")));
    }
    notes
}

/// That differences of memory say less, where a report is of a guest: the kernels of the cells that differ in it.
pub(crate) fn guest_memory(reports: &[&Report], differs: impl Fn(&Cell) -> bool) -> Option<String> {
    let is_guest = reports.iter().any(|report| report.host.virtual_machine == Some(true));
    let is_memory = |report: &Report, cell: &Cell| match cell.level.as_deref() {
        Some(level) => level == MEMORY,
        None => matches!(report.role(&cell.kernel), Role::MemoryBandwidth(_) | Role::LoadedLatency),
    };
    let cells = reports.iter().flat_map(|report| report.cells.iter().map(move |cell| (*report, cell)));
    let cells = cells.filter(|(report, cell)| is_guest && is_memory(report, cell) && differs(cell));
    let kernels: BTreeSet<&str> = cells.map(|(_, cell)| cell.kernel.as_str()).collect();
    let names = kernels.into_iter().collect::<Vec<_>>().join(", ");
    (!names.is_empty())
        .then(|| format!("memory of a guest is what its host gives in that hour, so another hour may differ: {names}"))
}

const HOST: &str = "host";
const KERNEL: &str = "system's kernel";
const MICROCODE: &str = "microcode";
const FIRMWARE: &str = "firmware";
const SLACK: &str = "timer slack";
const PROGRAM: &str = "program";
const FOLDER: &str = "program's folder";
const FOLLOWED: &str = "way in which the program was followed";

/// The surroundings of a report's numbers that do not prevent a comparison, by name; `None` if the report does not have them.
pub fn surroundings(report: &Report) -> [(&'static str, Option<String>); 13] {
    let (host, identity) = (&report.host, report.plan.program_identity.as_ref());
    [
        (HOST, host.name.clone()),
        (KERNEL, host.kernel.clone()),
        (MICROCODE, host.microcode.clone()),
        (FIRMWARE, host.firmware.clone()),
        ("clock source", host.clock_source.clone()),
        ("policy of transparent huge pages", host.transparent_huge_pages.clone()),
        ("frequency governor", host.frequency_governor.clone()),
        (SLACK, host.timer_slack_ns.map(|nanos| format!("{nanos}ns"))),
        ("CPU quota", Some(host.cpu_quota.clone().unwrap_or_else(|| "none".to_owned()))),
        ("list of usable CPUs", Some(usable_cpus(report))),
        (PROGRAM, identity.map(|identity| files(&identity.files))),
        (FOLDER, identity.map(|identity| identity.folder.clone())),
        (FOLLOWED, followed(report)),
    ]
}

/// How a program with seats was followed, all ways where there are several; `None` where there is none.
fn followed(report: &Report) -> Option<String> {
    let seated = report.cells.iter().filter(|cell| cell.seats.iter().any(Option::is_some));
    let evidence = seated.flat_map(|cell| &cell.invocations).filter_map(|one| one.evidence.as_ref()?.program.as_ref());
    let ways: BTreeSet<&str> = evidence.map(|seen| seen.followed.as_str()).filter(|way| !way.is_empty()).collect();
    (!ways.is_empty()).then(|| ways.into_iter().collect::<Vec<_>>().join(", "))
}

/// What two identities of a program differ in: what it is, and how each is described.
pub fn other_program(one: &ProgramIdentity, other: &ProgramIdentity) -> Option<(&'static str, String, String)> {
    let found = (one.files != other.files).then(|| (PROGRAM, files(&one.files), files(&other.files)));
    found.or_else(|| (one.folder != other.folder).then(|| (FOLDER, one.folder.clone(), other.folder.clone())))
}

/// The files of a program with all that identifies them.
fn files(files: &[ProgramFile]) -> String {
    let shown = |file: &ProgramFile| {
        let ProgramFile { path, device, inode, bytes, modified_ns } = file;
        // Before 1970 and after 9999 there is no such text.
        let since = u64::try_from(*modified_ns).ok().map(Duration::from_nanos);
        let written = since.map_or_else(
            || format!("{modified_ns}ns"),
            |since| humantime::format_rfc3339_millis(UNIX_EPOCH + since).to_string(),
        );
        format!("{path} of {bytes} bytes, written {written}, inode {inode} of device {device}")
    };
    if files.is_empty() {
        "of a name for each run".to_owned()
    } else {
        files.iter().map(shown).collect::<Vec<_>>().join("; ")
    }
}

fn quoted(word: Option<&str>) -> String {
    word.map_or_else(|| "unknown".into(), |word| format!("{word:?}"))
}

fn size(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "an unknown size".into(), charz_data::units::iec)
}
