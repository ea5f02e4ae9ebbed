//! `bench-gate`: whether a change made anything slower, on a machine that is never quiet.
//!
//! What takes the same work each time is compared by the instructions that it takes, which no neighbour can move; and everything by the
//! clock, where both revisions take turns and only a shift beyond noise counts. A program that is the same to the byte is not compared.

mod base;
mod clock;
mod counts;
mod planted;
mod programs;

use std::time::Duration;

use xtask::failure::{Failure, Outcome};
use xtask::packages::{self, VALGRIND};

use base::{Base, Record};
use programs::Side;

/// A bench program, and what counts as slower of its cases.
struct Target {
    name: &'static str,
    /// The ratio of instructions. Counts of one program repeat to a tenth of a percent, and to 4% where a lock is in the way; code that is moved
    /// between files or crates is inlined otherwise.
    counted: f64,
    /// The share of the time. Where the linker happens to place a loop moves it by a few percent without any change of its code.
    margin: f64,
}

/// All of them: `docs/benches.md` says what they are for.
static TARGETS: [Target; 4] = [
    Target { name: "kernels", counted: 1.05, margin: 0.10 },
    Target { name: "harness", counted: 1.03, margin: 0.05 },
    Target { name: "discovery", counted: 1.03, margin: 0.10 },
    Target { name: "reports", counted: 1.03, margin: 0.10 },
];

/// How long the clock's comparison of a change may take, and that of a night.
const CLOCKED: Duration = Duration::from_secs(60);
const CLOCKED_BY_NIGHT: Duration = Duration::from_secs(20 * 60);

/// What can be said of one bench.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    /// Beyond threshold and noise: this fails the gate.
    Slower,
    /// Slower, and a commit says why.
    Accepted,
    Faster,
    Same,
    /// Too noisy for a verdict: this does not fail the gate.
    Undecided,
    /// Only in the head.
    New,
    /// Only in the base.
    Gone,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Verdict::Slower => "SLOWER",
            Verdict::Accepted => "accepted",
            Verdict::Faster => "faster",
            Verdict::Same => "same",
            Verdict::Undecided => "undecided",
            Verdict::New => "new",
            Verdict::Gone => "gone",
        }
    }
}

/// The line of one bench.
#[derive(Debug)]
struct Row {
    bench: String,
    verdict: Verdict,
    evidence: String,
}

impl Row {
    /// The row of a bench that only one side has.
    fn unmatched(bench: String, verdict: Verdict) -> Self {
        Row { bench, verdict, evidence: String::new() }
    }

    /// The same, where a line of `accepted` names the bench and it is slower.
    fn accepted(mut self, accepted: &str) -> Self {
        let line = accepted.lines().find(|line| counts::accepts(line, &self.bench));
        if let Some(reason) = line.filter(|_| self.verdict == Verdict::Slower) {
            self.verdict = Verdict::Accepted;
            self.evidence += &format!("; {reason}");
        }
        self
    }
}

/// Compares, and fails on a slowdown.
pub fn start(arguments: &[String]) -> Outcome {
    let request = Request::parse(arguments)?;
    match request.task {
        Task::Record => return Record::Passed.add_head(),
        Task::Planted => {
            packages::ensure(&[VALGRIND])?;
            return planted::all();
        }
        Task::Compare | Task::Count => packages::ensure(&[VALGRIND]).map(drop)?,
    }
    let record = if request.night { Record::Nights } else { Record::Passed };
    let base = match base::choose(request.base.as_deref(), record)? {
        Ok(Base { id, why }) => {
            println!("base: {} ({why})", &id[..12]);
            id
        }
        Err(why) => return not_gated(&why),
    };
    // The base first: what it has in common with the head is compiled then.
    let old = match programs::commit(&base) {
        Ok(old) => old,
        Err(failure) => return not_gated(&format!("the base does not build: {failure}")),
    };
    if !TARGETS.iter().any(|target| counts::has_cases(&old, target)) {
        return not_gated("the base has other benches");
    }
    let sides = [old, programs::head()?];
    let [old, new] = &sides;
    let targets = differing(&sides, request.all);
    for target in &targets {
        new.runs(target.name)?;
    }
    if request.task == Task::Count {
        return counts::prepare(old, new, &targets);
    }
    let most = if request.night { CLOCKED_BY_NIGHT } else { CLOCKED };
    let accepted = counts::accepted(&base);
    let mut found = by_instructions(&sides, &targets, &accepted)?;
    found.extend(by_clock(&sides, &targets, &accepted, most, request.night)?);
    if request.night {
        Record::Nights.add_head()?;
    }
    if found.is_empty() { Ok(()) } else { Err(Failure::found(failed(&found))) }
}

fn failed(slower: &[String]) -> String {
    format!(
        "slower than the base: {}; `Slower: CASE REASON` at the end of a commit message accepts one, * at the end of CASE those that begin so",
        slower.join(", ")
    )
}

/// The targets whose programs differ, or all.
fn differing([base, head]: &[Side; 2], all: bool) -> Vec<&'static Target> {
    let (same, differing): (Vec<_>, Vec<_>) =
        TARGETS.iter().partition(|target| !all && head.has_the_same(base, target.name));
    for Target { name, .. } in same {
        println!("{name}: the same program, to the byte");
    }
    differing
}

/// Compares by instructions, prints what there is to say, and gives the names of the slower benches.
fn by_instructions([base, head]: &[Side; 2], targets: &[&'static Target], accepted: &str) -> Outcome<Vec<String>> {
    let rows = counts::compare(base, head, targets, accepted)?;
    show("by instructions", &rows);
    Ok(slower(rows))
}

/// The same by the clock.
fn by_clock(
    [base, head]: &[Side; 2],
    targets: &[&'static Target],
    accepted: &str,
    most: Duration,
    thorough: bool,
) -> Outcome<Vec<String>> {
    let rows = clock::compare(base, head, targets, accepted, most, thorough)?;
    show("by the clock", &rows);
    Ok(slower(rows))
}

fn slower(rows: Vec<Row>) -> Vec<String> {
    rows.into_iter().filter(|row| row.verdict == Verdict::Slower).map(|row| row.bench).collect()
}

/// Nothing to compare with is no failure, but must not look like a comparison.
fn not_gated(why: &str) -> Outcome {
    println!("NOT GATED: {why}");
    Ok(())
}

/// Prints the rows, but for those of which there is nothing to say, which are counted.
fn show(how: &str, rows: &[Row]) {
    let told: Vec<&Row> = rows.iter().filter(|row| row.verdict != Verdict::Same).collect();
    println!("{how}: {} of {} benches are the same", rows.len() - told.len(), rows.len());
    let width = told.iter().map(|row| row.bench.len()).max().unwrap_or(0);
    for Row { bench, verdict, evidence } in told {
        println!("{}", format!("{:<9}  {bench:<width$}  {evidence}", verdict.word()).trim_end());
    }
}

/// What was asked for.
#[derive(Debug, PartialEq)]
struct Request {
    base: Option<String>,
    task: Task,
    /// Whether what is the same to the byte is compared, too.
    all: bool,
    /// With the last night's, and thoroughly.
    night: bool,
}

#[derive(Debug, PartialEq)]
enum Task {
    Compare,
    /// Builds and counts, and says nothing: a later comparison finds it done.
    Count,
    /// Slows down one thing after the other, and sees whether it would notice.
    Planted,
    /// Remembers the head as the base of what comes after it.
    Record,
}

impl Request {
    fn parse(arguments: &[String]) -> Outcome<Self> {
        let mut request = Request { base: None, task: Task::Compare, all: false, night: false };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| Failure::usage(format!("{word} needs a value")));
            match word.as_str() {
                "--base" => request.base = Some(value()?.clone()),
                "--all" => request.all = true,
                "--night" => request.night = true,
                "--count" => request.task = Task::Count,
                "--planted" => request.task = Task::Planted,
                "--passed" => request.task = Task::Record,
                _ => return Err(Failure::usage(format!("`bench-gate` does not know {word:?}"))),
            }
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Request, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Request::parse(&words).map_err(|failure| failure.to_string())
    }

    #[test]
    fn requests() {
        let usual = || Request { base: None, task: Task::Compare, all: false, night: false };
        assert_eq!(parsed(""), Ok(usual()));
        assert_eq!(parsed("--all --base main~2"), Ok(Request { base: Some("main~2".into()), all: true, ..usual() }));
        assert_eq!(parsed("--night"), Ok(Request { night: true, ..usual() }));
        assert_eq!(parsed("--planted"), Ok(Request { task: Task::Planted, ..usual() }));
        for line in ["--base", "--fast", "main"] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }

    #[test]
    fn a_slowdown_is_accepted_by_name() {
        let row = |verdict| Row { bench: "order/dumb".into(), verdict, evidence: String::new() };
        for (verdict, line, expected) in [
            (Verdict::Slower, "order/dumb checks more", Verdict::Accepted),
            (Verdict::Slower, "order/auto checks more", Verdict::Slower),
            (Verdict::Undecided, "order/* checks more", Verdict::Undecided),
        ] {
            assert_eq!(row(verdict).accepted(line).verdict, expected, "{line}");
        }
    }
}
