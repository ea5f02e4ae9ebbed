//! Shares of a machine that waited for locks: one format a line in [`FORMATS`].

use std::io::{self, Write};

use serde::Serialize;

use super::look;
use charz_analysis::lock_waits::{LockWait, LockWaits};
use charz_data::escape::{counted, plain};
use charz_render::look::TerminalStyle;
use charz_render::report::csv::{harmless, record};
use charz_render::{json, wrapped};

pub type Format = charz_render::formats::Format<fn(&Page<'_>, &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

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

    /// Of waiters that do not sleep, and with those of which that is not known; `None` of those of different times.
    fn total(&self) -> Option<[f64; 2]> {
        let sum = |sleeps: &[Option<bool>]| {
            let counted = self.found.waits.iter().filter(|wait| sleeps.contains(&wait.sleeps));
            // From 0: a sum of nothing is -0.
            counted.fold(0.0, |sum, wait| sum + self.share(wait))
        };
        (!self.found.is_apart).then(|| [sum(&[Some(false)]), sum(&[Some(false), None])])
    }

    /// The time that was watched: that of the listing is exact.
    fn own_elapsed_s(&self) -> Option<f64> {
        self.found.waits.iter().find_map(|wait| wait.elapsed_s)
    }

    /// What was left out and what could not be read.
    fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = self.notes().iter().map(|note| plain(note)).collect();
        if self.found.unknown > 0 {
            let first: Vec<String> = self.found.first_unknown.iter().map(|line| format!("{:?}", plain(line))).collect();
            remarks.push(format!("{} could not be read: {}", counted(self.found.unknown, "line"), first.join(", ")));
        }
        remarks
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.found.notes.clone();
        if self.elapsed_s.is_some() && self.own_elapsed_s().is_some() {
            notes.push("--elapsed is not used: the input has its own time".to_owned());
        }
        if self.total().is_some_and(|[least, _]| least > MOST_TOTAL) {
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
fn table(page: &Page<'_>, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, " CPU-util  {:<20} Caller", "Lock")?;
    for wait in &page.found.waits {
        let mark = match wait.sleeps {
            Some(true) => '*',
            Some(false) => ' ',
            None => '+',
        };
        writeln!(out, "{:9.3}{mark} {:<20} {}", page.share(wait), plain(&wait.lock), plain(&wait.caller))?;
    }
    let has = |sleeps| page.found.waits.iter().any(|wait| wait.sleeps == sleeps);
    if let Some([least, most]) = page.total() {
        let most = if has(None) { format!(" to {most:.3}") } else { String::new() };
        writeln!(out, "{least:9.3}{most}  {:<20} TOTAL", "TOTAL")?;
    }
    let mut notes = Vec::new();
    if has(None) {
        notes.push("+ its waiters may spin before they sleep: at most that share is use of a CPU".to_owned());
    }
    if has(Some(true)) {
        notes.push("* its waiters sleep: the share of the CPUs' time that they waited, which is no use of a CPU and not in TOTAL".to_owned());
    }
    notes.extend(page.remarks());
    notes.iter().try_for_each(|note| wrapped::hanging(note, 2, look.sentences(), out))
}

#[derive(Serialize)]
struct Row<'a> {
    cpu_util: f64,
    lock: &'a str,
    caller: &'a str,
    count: f64,
    waited_s: f64,
    sleeps: Option<bool>,
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
    total_at_most: Option<f64>,
    notes: Vec<String>,
    unknown_lines: usize,
    first_unknown: &'a [String],
}

fn write_json(page: &Page<'_>, _: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let told = Told {
        cpus: page.cpus,
        elapsed_s: page.own_elapsed_s().or(page.elapsed_s),
        locks: page.found.waits.iter().map(|wait| Row::of(wait, page.share(wait))).collect(),
        total: page.total().map(|[least, _]| least),
        total_at_most: page.total().map(|[_, most]| most),
        notes: page.notes(),
        unknown_lines: page.found.unknown,
        first_unknown: &page.found.first_unknown,
    };
    json::write_pretty_line(&told, out)
}

fn csv(page: &Page<'_>, _: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    // Rows have no place for these.
    page.remarks().iter().for_each(|remark| look::say(&format!("charz: {remark}")));
    record(out, ["cpu_util", "lock", "caller", "count", "waited_s", "sleeps"])?;
    page.found.waits.iter().try_for_each(|wait| {
        let [count, waited] = [wait.count, wait.waited_s].map(|number| number.to_string());
        let (share, sleeps) = (page.share(wait).to_string(), wait.sleeps.map(|sleeps| sleeps.to_string()));
        let sleeps = sleeps.unwrap_or_default();
        record(out, [share, harmless(&wait.lock), harmless(&wait.caller), count, waited, sleeps])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_analysis::lock_waits::read;

    #[test]
    fn the_total_is_a_range_where_waiters_may_spin() {
        let of = |kind: &str| {
            let rows = format!("9  58.00 s  {kind}  f+0x4\n9  1.00 s  spinlock  g+0x4\n");
            let found = read(&format!("contended  total wait  type  caller\n{rows}")).unwrap();
            let (page, mut out) = (Page { found: &found, cpus: 8, elapsed_s: Some(10.0) }, Vec::new());
            table(&page, &TerminalStyle::PLAIN, &mut out).unwrap();
            (page.total().unwrap(), String::from_utf8(out).unwrap())
        };
        for (kind, expected) in [("mutex", [1.0, 59.0]), ("rwsem:W", [1.0, 1.0]), ("rwlock:R", [59.0, 59.0])] {
            let (total, text) = of(kind);
            assert_eq!(total.map(|share| (share * 80.0).round()), expected, "{kind}");
            assert_eq!(text.contains("0.013 to 0.73"), kind == "mutex", "{text}");
        }
    }
}
