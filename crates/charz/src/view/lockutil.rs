//! Shares of a machine that waited for locks: one format a line in [`FORMATS`].

use std::io::{self, Write};

use serde::Serialize;

use super::look;
use charz_analysis::lock_waits::{LockWait, LockWaits};
use charz_data::escape::{counted, plain};
use charz_render::report::csv::{harmless, record};
use charz_render::{json, wrapped};

pub type Format = charz_render::formats::Format<fn(&Page<'_>, &mut dyn Write) -> io::Result<()>>;

pub static FORMATS: &[Format] = &[
    Format { name: "table", about: "", write: table },
    Format { name: "json", about: "", write: write_json },
    Format { name: "csv", about: "", write: csv },
];

pub struct Page<'a> {
    pub found: &'a LockWaits,
    pub cpus: usize,
    pub elapsed_s: Option<f64>,
}

impl Page<'_> {
    fn share(&self, wait: &LockWait) -> f64 {
        wait.share(self.cpus, self.elapsed_s).unwrap_or(0.0)
    }

    /// Of waiters that do not sleep; `None` of those of different times.
    fn total(&self) -> Option<f64> {
        // From 0: a sum of nothing is -0.
        let sum = || self.found.waits.iter().filter(|wait| !wait.sleeps).fold(0.0, |sum, wait| sum + self.share(wait));
        (!self.found.is_apart).then(sum)
    }

    /// The time that was watched: that of the listing is exact.
    fn own_elapsed_s(&self) -> Option<f64> {
        self.found.waits.iter().find_map(|wait| wait.elapsed_s)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.found.notes.clone();
        if self.elapsed_s.is_some() && self.own_elapsed_s().is_some() {
            notes.push("--elapsed is not used: the input has its own time".to_owned());
        }
        if self.total().is_some_and(|total| total > MOST_TOTAL) {
            notes.push(
                "TOTAL is above 1, more than all CPUs have: check -n and --elapsed, and add up one listing at a time"
                    .to_owned(),
            );
        }
        notes
    }
}

/// All CPUs, with what rounding in the listings adds.
const MOST_TOTAL: f64 = 1.01;

/// The columns of the `lockutil` that S. Sistare described.
fn table(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, " CPU-util  {:<20} Caller", "Lock")?;
    for wait in &page.found.waits {
        let mark = if wait.sleeps { '*' } else { ' ' };
        writeln!(out, "{:9.3}{mark} {:<20} {}", page.share(wait), plain(&wait.lock), plain(&wait.caller))?;
    }
    if let Some(total) = page.total() {
        writeln!(out, "{total:9.3}  {:<20} TOTAL", "TOTAL")?;
    }
    let mut notes = Vec::new();
    if page.found.waits.iter().any(|wait| wait.sleeps) {
        notes.push("* its waiters sleep: the share of the CPUs' time that they waited, which is no use of a CPU and not in TOTAL".to_owned());
    }
    notes.extend(page.notes().iter().map(|note| plain(note)));
    if page.found.unknown > 0 {
        let first: Vec<String> = page.found.first_unknown.iter().map(|line| format!("{:?}", plain(line))).collect();
        notes.push(format!("{} could not be read: {}", counted(page.found.unknown, "line"), first.join(", ")));
    }
    notes.iter().try_for_each(|note| wrapped::hanging(note, 2, look::tables(), out))
}

#[derive(Serialize)]
struct Row<'a> {
    cpu_util: f64,
    lock: &'a str,
    caller: &'a str,
    count: f64,
    waited_s: f64,
    sleeps: bool,
}

impl<'a> Row<'a> {
    fn of(wait: &'a LockWait, cpu_util: f64) -> Self {
        let LockWait { lock, caller, count, waited_s, sleeps, .. } = wait;
        Row { cpu_util, lock, caller, count: *count, waited_s: *waited_s, sleeps: *sleeps }
    }
}

#[derive(Serialize)]
struct Told<'a> {
    cpus: usize,
    elapsed_s: Option<f64>,
    locks: Vec<Row<'a>>,
    total: Option<f64>,
    notes: Vec<String>,
    unknown_lines: usize,
    first_unknown: &'a [String],
}

fn write_json(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let told = Told {
        cpus: page.cpus,
        elapsed_s: page.own_elapsed_s().or(page.elapsed_s),
        locks: page.found.waits.iter().map(|wait| Row::of(wait, page.share(wait))).collect(),
        total: page.total(),
        notes: page.notes(),
        unknown_lines: page.found.unknown,
        first_unknown: &page.found.first_unknown,
    };
    json::write_pretty_line(&told, out)
}

fn csv(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    record(out, ["cpu_util", "lock", "caller", "count", "waited_s", "sleeps"])?;
    page.found.waits.iter().try_for_each(|wait| {
        let [count, waited] = [wait.count, wait.waited_s].map(|number| number.to_string());
        let share = page.share(wait).to_string();
        record(out, [share, harmless(&wait.lock), harmless(&wait.caller), count, waited, wait.sleeps.to_string()])
    })
}
