//! What two reports differ in besides their numbers.

use charz_kernels::Knob;

use super::Caveat;
use crate::report::{Report, SCHEMA_MAJOR, SCHEMA_MINOR, Strand};

/// A difference that makes numbers incomparable unless somebody says otherwise.
pub(super) struct Difference {
    /// What is other.
    pub(super) caveat: Caveat,
    /// A clause, e.g. `they were measured on different processors ("A" and "B")`.
    pub(super) sentence: String,
}

/// The share by which the installed memory of one machine may differ from boot to boot: what firmware and kernel keep for
/// themselves moves by less, a module of memory is more.
const MEMORY_MOVES: f64 = 0.02;

/// All differences, the weightiest first.
pub(super) fn between(base: &Report, new: &Report) -> Vec<Difference> {
    [machine(base, new), build(base, new), plan(base, new)].into_iter().flatten().collect()
}

fn machine(base: &Report, new: &Report) -> Option<Difference> {
    let (one, other) = (&base.machine, &new.machine);
    let bytes = |report: &Report| report.host.memory.total_bytes;
    let sentence = if base.host.processor != new.host.processor {
        format!(
            "they were measured on different processors ({} and {})",
            told(base.host.processor.as_deref()),
            told(new.host.processor.as_deref())
        )
    } else if places(&one.strands) != places(&other.strands)
        || (one.packages, one.cores) != (other.packages, other.cores)
    {
        format!(
            "the machines differ in their strands ({} packages, {} cores and {} strands; {}, {} and {})",
            one.packages,
            one.cores,
            one.strands.len(),
            other.packages,
            other.cores,
            other.strands.len()
        )
    } else if one.numa_nodes != other.numa_nodes || moved(bytes(base), bytes(new)) {
        format!(
            "the machines differ in their memory ({} on {} NUMA nodes, and {} on {})",
            size(bytes(base)),
            one.numa_nodes,
            size(bytes(new)),
            other.numa_nodes
        )
    } else {
        return None;
    };
    Some(Difference { caveat: Caveat::OtherMachine, sentence })
}

/// Where strands are. Whether they could be used shows in the seats of each cell; their caches older reports do not tell.
fn places(strands: &[Strand]) -> Vec<Strand> {
    let place = |strand: &Strand| Strand { usable: true, cache: None, cache_bytes: Vec::new(), ..strand.clone() };
    strands.iter().map(place).collect()
}

fn moved(base: Option<u64>, new: Option<u64>) -> bool {
    match (base, new) {
        (Some(base), Some(new)) => base.abs_diff(new) as f64 > MEMORY_MOVES * base.max(new) as f64,
        (base, new) => base != new,
    }
}

/// The kernels' hash of a report from before there was one.
const UNKNOWN: &str = "unknown";

fn build(base: &Report, new: &Report) -> Option<Difference> {
    let (one, other) = (&base.tool, &new.tool);
    let table = [
        ("kernels' source code", &one.kernels, &other.kernels),
        ("compiler", &one.rustc, &other.rustc),
        ("compiler flags", &one.rustflags, &other.rustflags),
        ("build profile", &one.profile, &other.profile),
        ("target", &one.target, &other.target),
    ];
    let found = table.iter().find(|(_, one, other)| one != other || *one == UNKNOWN);
    found.map(|(what, one, other)| Difference {
        caveat: Caveat::OtherBuild,
        sentence: match *one == UNKNOWN && one == other {
            true => format!("of neither the {what} is known"),
            false => format!("they were measured by builds that differ in the {what} ({one:?} and {other:?})"),
        },
    })
}

/// The number of iterations is no difference: rates are by step, and sweeps choose it by what their budget allows.
fn plan(base: &Report, new: &Report) -> Option<Difference> {
    let (one, other) = (&base.plan, &new.plan);
    let number = |number: u64| number.to_string();
    // Reports from before there were sections have none, which is nobody's business where no kernel has one.
    let obeys = |knob: Knob| {
        let mut kernels = one.kernels.iter().chain(&other.kernels).filter_map(|name| charz_kernels::find(name));
        kernels.any(|kernel| kernel.card().knobs.contains(&knob))
    };
    let (sections, period, timeout) = (obeys(Knob::Sections), obeys(Knob::Period), obeys(Knob::Timeout));
    let steps = |steps: u64| if sections { number(steps) } else { String::new() };
    let every = |every: &str| if period { every.to_owned() } else { String::new() };
    let wait = |nanos: u64| if timeout { format!("{nanos}ns") } else { String::new() };
    let table = [
        ("critical section", "--critical", steps(one.critical), steps(other.critical)),
        ("parallel section", "--parallel", steps(one.parallel), steps(other.parallel)),
        ("period of samples", "--period", every(&one.period), every(&other.period)),
        ("timeout", "--timeout", wait(one.timeout_ns), wait(other.timeout_ns)),
        ("kind of pages", "--pages", one.pages.clone(), other.pages.clone()),
        ("size of a block", "--size", number(one.size_bytes), number(other.size_bytes)),
        ("stride of loads", "--stride", number(one.stride_bytes), number(other.stride_bytes)),
        ("number of chains", "--chains", number(one.chains), number(other.chains)),
        ("delay between portions", "--delay", number(one.delay), number(other.delay)),
        ("layout of inputs", "--layout", one.layout.clone(), other.layout.clone()),
        ("clock", "--clock", one.clock.clone(), other.clock.clone()),
        ("binder", "--binder", one.binder.clone(), other.binder.clone()),
    ];
    let found = table.into_iter().find(|(_, _, one, other)| one != other);
    found.map(|(what, flag, one, other)| Difference {
        caveat: Caveat::OtherPlan,
        sentence: format!("their plans differ in the {what} ({flag} {one:?} and {other:?})"),
    })
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
    let (one, other) = (&base.host, &new.host);
    // Reports from before it was read say nothing of it.
    let slack = one.timer_slack_ns.zip(other.timer_slack_ns);
    let [one_slack, other_slack] =
        slack.map(|(one, other)| [one, other].map(|nanos| Some(format!("{nanos}ns")))).unwrap_or_default();
    let table = [
        ("host", &one.name, &other.name),
        ("system's kernel", &one.kernel, &other.kernel),
        ("clock source", &one.clock_source, &other.clock_source),
        ("policy of transparent huge pages", &one.transparent_huge_pages, &other.transparent_huge_pages),
        ("frequency governor", &one.frequency_governor, &other.frequency_governor),
        ("timer slack", &one_slack, &other_slack),
        ("processor quota", &one.cpu_quota, &other.cpu_quota),
    ];
    let differing = table.iter().filter(|(_, one, other)| one != other);
    notes.extend(differing.map(|(what, one, other)| {
        format!("the {what} is another one ({} and {})", told(one.as_deref()), told(other.as_deref()))
    }));
    notes
}

fn told(word: Option<&str>) -> String {
    word.map_or_else(|| "unknown".into(), |word| format!("{word:?}"))
}

fn size(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "an unknown size".into(), crate::render::human::iec)
}
