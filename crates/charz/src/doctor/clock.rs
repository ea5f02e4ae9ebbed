//! The clock that laps are stamped with.

use super::load::QUIETEN;
use super::{Item, Look, Seen};
use charz_data::checks;
use charz_data::units;

pub(super) const ITEMS: &[Item] = &[
    Item {
        name: "clock source",
        effect: "Reading this clock is a call into the kernel, or slower: short repetitions hold the reading.",
        checks: &["V09", "V10"],
        look: source,
    },
    Item {
        name: "timer",
        effect: "The strand was elsewhere while it only read the clock, or the clock is coarse: repetitions have to be \
                 longer.",
        checks: &["V03", "V09"],
        look: timer,
    },
];

/// The longest gap between two readings of the clock that is no disturbance, in nanoseconds: 1% of a repetition of 0.1 s.
const GAP_NS: u64 = 1_000_000;

/// Clock sources that are read without a call into the kernel.
const FAST_SOURCES: [&str; 4] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];

fn source(look: &Look) -> Result<Seen, String> {
    const FOLDER: &str = "/sys/devices/system/clocksource/clocksource0";
    let current = look.root.text(format!("{FOLDER}/current_clocksource"))?;
    let choices = look.root.text(format!("{FOLDER}/available_clocksource")).unwrap_or_default();
    let better = choices.split_whitespace().find(|choice| FAST_SOURCES.contains(choice));
    let mend = match better {
        Some(better) => format!("`echo {better} > {FOLDER}/current_clocksource`"),
        None => "See why the kernel dropped the time-stamp counter: `dmesg | grep -i clocksource`".into(),
    };
    let fast = FAST_SOURCES.contains(&current.as_str());
    Ok(if fast { Seen::ok(current) } else { Seen::disturbs(current, mend) })
}

fn timer(look: &Look) -> Result<Seen, String> {
    let timer = look.timed.as_ref().ok_or("nobody watched")?.timer;
    let nanos = |nanos: u64| units::nanos(nanos as f64);
    let (step, cost) = (timer.resolution_ns, timer.overhead_ns);
    let read =
        format!("steps of {}, {} a reading, {} the longest gap", nanos(step), nanos(cost), nanos(timer.worst_gap_ns));
    Ok(if timer.worst_gap_ns > GAP_NS {
        Seen::disturbs(read, QUIETEN)
    } else if checks::needed_ns(step as f64, cost as f64) > checks::needed_ns(0.0, 0.0) {
        Seen::limits(read, "Give repetitions more work: `--iterations`, `--size`.")
    } else {
        Seen::ok(read)
    })
}
