//! Who else is at work: neighbours on this system and below it.

use charz_system::{pressure, stat};

use super::root::start;
use super::timed::{PRESSURES, Processors, Timed};
use super::{Item, Look, NOTHING_IN_A_GUEST, Seen};
use crate::invoke::culprits::KERNEL_THREAD;
use charz_data::checks;
use charz_data::escape::{counted, plain};
use charz_data::report::{Culprit, CulpritKind};
use charz_data::units;

pub(super) const ITEMS: &[Item] = &[
    Item {
        name: "steal",
        key: "steal",
        effect: "The host takes time from the guest's CPUs: all rates are lower by that, and vary.",
        checks: &["V05", "V04", "V13"],
        look: steal,
    },
    Item {
        name: "other load",
        key: "load",
        effect: "Other programs take CPUs from threads, and use caches, memory bandwidth, power and turbo.",
        checks: &["V03", "V06", "V08", "V13"],
        look: load,
    },
    Item {
        name: "processor pressure",
        key: "cpu-pressure",
        effect: "Tasks wait for processors; threads will be among them.",
        checks: &["V03", "V06"],
        look: |look| pressure(look, 0, true),
    },
    Item {
        name: "memory pressure",
        key: "memory-pressure",
        effect: "Memory is being reclaimed: blocks are evicted, huge pages are not given, faults stop threads.",
        checks: &["V04", "V20", "V22"],
        look: |look| pressure(look, 1, true),
    },
    Item {
        name: "disk pressure",
        key: "disk-pressure",
        effect: "The disk is busy: interrupts hit threads, and saving a configuration takes longer.",
        checks: &["V03"],
        look: |look| pressure(look, 2, false),
    },
];

/// Work of others in strands' worth from which on it will be noticed: a tenth of a strand makes about a tenth of a worker's
/// repetitions dirty, which makes a cell suspect.
pub(super) const BUSY_STRANDS: f64 = 0.1;
/// The most programs that are named.
const MOST_NAMED: usize = 3;

/// The programs that used most, where that is worth a word: `12 × sh use 0.80 CPUs, python3 (pid 5) 0.34`.
pub fn busiest<'a>(users: impl Iterator<Item = &'a Culprit>) -> Option<String> {
    let cpus = |user: &Culprit| user.cpu_ns as f64 / user.time_ns.max(1) as f64;
    let is_named = |user: &&Culprit| user.kind == CulpritKind::Process && !user.name.starts_with(KERNEL_THREAD);
    let users: Vec<&Culprit> = users.filter(is_named).take(MOST_NAMED).collect();
    let is_busy = users.iter().map(|user| cpus(user)).sum::<f64>() > BUSY_STRANDS;
    let named = users.iter().enumerate().map(|(at, user)| {
        let (name, cpus) = (plain(&user.name), cpus(user));
        let (who, verb) = match (user.others, user.pid) {
            (0, Some(pid)) => (format!("{name} (pid {pid})"), "uses"),
            (others, _) => (format!("{} × {name}", others.saturating_add(1)), "use"),
        };
        if at == 0 { format!("{who} {verb} {cpus:.2} CPUs") } else { format!("{who} {cpus:.2}") }
    });
    is_busy.then(|| named.collect::<Vec<_>>().join(", "))
}

/// What to do about them.
pub(super) fn quieten(look: &Look) -> String {
    let named = busiest(look.timed.iter().flat_map(|timed| &timed.users));
    let named = named.as_deref().unwrap_or("`top` lists them");
    format!("Stop other programs ({named}), or measure with `--wait-quiet`")
}

fn limit(check: &checks::Check) -> f64 {
    check.note.or(check.suspect).unwrap_or(0.0)
}

fn steal(look: &Look) -> Result<Seen, String> {
    let no_time = || "/proc/stat: counts no time".to_owned();
    let ever = Processors::read(&look.root)?.stolen().ok_or_else(no_time)?;
    let mut read = format!("{} since the start of the system", units::percent(ever));
    let now = match &look.timed {
        Some(timed) => Some(timed.processors.clone()?.stolen().ok_or_else(no_time)?),
        None => None,
    };
    if let Some(now) = now {
        read += &format!(", {} now", units::percent(now));
    }
    let most = limit(&checks::V05);
    let is_stolen = ever > most || now.is_some_and(|now| now > most);
    Ok(if is_stolen { Seen::limits(read, NOTHING_IN_A_GUEST) } else { Seen::ok(read) })
}

fn load(look: &Look) -> Result<Seen, String> {
    let running = stat::running(&look.root.text(stat::FILE)?)?;
    // We run, too.
    let others = running.saturating_sub(1);
    let mut tasks = format!("{} runnable now", counted(others as usize, "other task"));
    if let Ok(average) = look.root.text("/proc/loadavg") {
        let minute = average.split_whitespace().next().unwrap_or_default();
        tasks += &format!("; load average {}", start(minute));
    }
    let mut read = tasks.clone();
    let busy = match &look.timed {
        Some(Timed { processors, .. }) => {
            let processors = processors.clone()?;
            let busy = processors.busy().ok_or("/proc/stat: counts no time")?;
            read = format!("{busy:.2} of {} busy; {tasks}", counted(processors.strands as usize, "CPU"));
            busy > BUSY_STRANDS
        }
        None => others > 0,
    };
    Ok(if busy { Seen::disturbs(read, quieten(look)) } else { Seen::ok(read) })
}

fn pressure(look: &Look, kind: usize, disturbs: bool) -> Result<Seen, String> {
    let path = format!("/proc/pressure/{}", PRESSURES[kind]);
    let (share, when) = match &look.timed {
        Some(timed) => (timed.pressure[kind].clone()?, "now"),
        None => (
            pressure::recent(&look.root.text(&path)?).ok_or_else(|| format!("{path}: has no average of some"))?,
            "over 10 s",
        ),
    };
    let read = format!("PSI some {} {when}", units::percent(share));
    Ok(match (share > limit(&checks::V06), disturbs) {
        (false, _) => Seen::ok(read),
        (true, true) => Seen::disturbs(read, quieten(look)),
        (true, false) => Seen::limits(read, quieten(look)),
    })
}
