//! Comparing by instructions, which no neighbour can move: one case a process, under callgrind.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use serde::{Deserialize, Serialize};
use xtask::{Failure, Outcome, process};

use super::programs::{self, Side};
use super::{Row, Target, Verdict};
use crate::tree::remove;

/// The functions inside of which instructions are counted: that of the benches, and that of the harness' workers, which are threads of
/// their own.
const INSIDE: [&str; 2] = ["--toggle-collect=*cases::once*", "--toggle-collect=*WorkerContext*serve*"];

/// The function at which what has been counted since is written to a file.
const EACH: &str = "--dump-before=*cases::told*";

/// A difference of at most this many instructions does not fail the gate, even if its share is large: the start of a thread, or a lock that
/// was taken at the second try.
const FEW: u64 = 2000;

/// A commit trailer that accepts a slowdown: `Slower: CASE and the reason`; `*` at the end of CASE matches any end.
const TRAILER: &str = "--format=%(trailers:key=Slower,valueonly)";

/// The ratio, in place of its target's, of a case that does what it gets to: in an emulator it looks at its watch after less work, and the
/// looks, which are part of its instructions, after more work or less each time.
const SLOWER_BY_TIME: f64 = 1.09;

type Counts = BTreeMap<String, Count>;

/// The instructions of a case.
#[derive(Clone, Copy, Deserialize, Serialize)]
struct Count {
    instructions: u64,
    /// Whether they are those of a million units of what it gets to; else those of the same work each time.
    by_time: bool,
}

/// What is kept with a program: another machine has other instructions.
#[derive(Deserialize, Serialize)]
struct Kept {
    machine: u64,
    counts: Counts,
}

/// Counts what differs between two sides, where it is not known yet.
pub fn prepare(base: &Side, head: &Side, targets: &[&'static Target]) -> Outcome {
    for target in targets {
        of(base, target)?;
        of(head, target)?;
    }
    Ok(())
}

/// Compares the counts of two sides; `accepted` has a line for what may be slower.
pub fn compare(base: &Side, head: &Side, targets: &[&'static Target], accepted: &str) -> Outcome<Vec<Row>> {
    let rows = |target: &&'static Target| Ok(rows(&of(base, target)?, &of(head, target)?, target.counted, accepted));
    Ok(targets.iter().map(rows).collect::<Outcome<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The slowdowns that the commits since a base accept.
pub fn accepted(commit: &str) -> String {
    super::base::git(&["log", TRAILER, &format!("{commit}..HEAD")]).unwrap_or_default()
}

/// Whether a side has the program of a target, and it says which of its cases can be counted.
pub fn has_cases(side: &Side, target: &Target) -> bool {
    let lists = |program: &PathBuf| process::succeeds(Command::new(program).arg("--counted"));
    side.program(target.name).is_some_and(|program| lists(&program))
}

/// Whether a trailer names the case.
pub fn accepts(trailer: &str, case: &str) -> bool {
    let named = trailer.split_whitespace().next().unwrap_or_default();
    named.strip_suffix('*').map_or(named == case, |start| case.starts_with(start))
}

/// The counts of a side's program: those that are kept with it, or new ones.
fn of(side: &Side, target: &Target) -> Outcome<Counts> {
    let Some(program) = side.program(target.name) else { return Ok(Counts::new()) };
    let (file, machine) = (side.beside(target.name, "counts"), machine());
    let kept = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice::<Kept>(&bytes).ok());
    if let Some(kept) = kept.filter(|kept| kept.machine == machine) {
        return Ok(kept.counts);
    }
    let kept = Kept { machine, counts: count(&program).map_err(|failure| failure.within(side.name))? };
    fs::write(&file, serde_json::json!(kept).to_string())
        .map_err(|error| Failure::io(format!("write {file:?}"), &error))?;
    Ok(kept.counts)
}

/// What decides which instructions a program chooses when it starts.
fn machine() -> u64 {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let of_first =
        |line: &&str| ["flags", "Features", "model name", "cache size"].iter().any(|key| line.starts_with(key));
    let mut hasher = DefaultHasher::new();
    text.split("\n\n").next().into_iter().flat_map(str::lines).filter(of_first).for_each(|line| line.hash(&mut hasher));
    hasher.finish()
}

/// The names of a program's cases that can be counted.
pub fn cases(program: &Path) -> Outcome<Vec<String>> {
    Ok(process::read(Command::new(program).arg("--counted"))?.lines().map(str::to_owned).collect())
}

/// Counts every case of a program, in as many processes as there are strands: a neighbour costs no instructions.
fn count(program: &Path) -> Outcome<Counts> {
    let cases = cases(program)?;
    let parts = thread::available_parallelism().map_or(1, usize::from).min(cases.len().max(1));
    let counted: Vec<Outcome<Vec<Count>>> = thread::scope(|scope| {
        let part = |first| scope.spawn(move || part(program, first, parts));
        let parts: Vec<_> = (0..parts).map(part).collect();
        parts.into_iter().map(|part| part.join().expect("it does not panic")).collect()
    });
    let mut counts = Counts::new();
    for (first, counted) in counted.into_iter().enumerate() {
        let (own, counted) = (cases.iter().skip(first).step_by(parts), counted?);
        if own.clone().count() != counted.len() {
            return Err(Failure::found(format!("callgrind wrote {} counts of {} cases", counted.len(), own.count())));
        }
        counts.extend(own.cloned().zip(counted));
    }
    Ok(counts)
}

/// Counts every so-manieth case. Callgrind writes a file each time that the function which is counted returns, and starts anew.
fn part(program: &Path, first: usize, step: usize) -> Outcome<Vec<Count>> {
    let place = programs::folder().join(format!("callgrind-{first}"));
    remove(&place)?;
    fs::create_dir_all(&place).map_err(|error| Failure::io(format!("create {place:?}"), &error))?;
    let out = place.join("out");
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--tool=callgrind"]).args(INSIDE).arg(EACH);
    command.arg(format!("--callgrind-out-file={}", out.display())).arg(program);
    let said = process::read(command.args(["--count", &first.to_string(), &step.to_string()]).stdin(Stdio::null()))?;
    let work = said.lines().filter_map(|line| line.parse::<u64>().ok().filter(|work| *work > 0));
    let file = |number: usize| fs::read_to_string(place.join(format!("out.{number}"))).ok();
    let each = |count: u64, work: u64| match work {
        1 => Count { instructions: count, by_time: false },
        _ => Count { instructions: (count as f64 / work as f64 * 1e6) as u64, by_time: true },
    };
    let counts = (1..).map_while(file).zip(work).map(|(text, work)| Some(each(total(&text)?, work)));
    let counts = counts.collect::<Option<_>>().ok_or_else(|| Failure::found("callgrind counted nothing in a case"));
    remove(&place)?;
    counts
}

/// The total of the first event, which is instructions; `None` when nothing was counted.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("totals:").or_else(|| line.strip_prefix("summary:")))?;
    line.split_whitespace().next()?.parse().ok().filter(|count| *count > 0)
}

/// Judges the counts; `slower` is the ratio beyond which a case is slower.
fn rows(base: &Counts, head: &Counts, slower: f64, accepted: &str) -> Vec<Row> {
    let gone = base.keys().filter(|case| !head.contains_key(*case));
    let gone = gone.map(|case| Row::unmatched(case.clone(), Verdict::Gone));
    let judged = head.iter().map(|(case, &new)| {
        let bench = case.clone();
        let Some(&old) = base.get(case) else { return Row::unmatched(bench, Verdict::New) };
        let slower = if new.by_time { SLOWER_BY_TIME } else { slower };
        let (old, new) = (old.instructions, new.instructions);
        let worth = |more: u64, less: u64| more as f64 > less as f64 * slower && more.saturating_sub(less) > FEW;
        let percent = (new as f64 / old.max(1) as f64 - 1.0) * 100.0;
        let verdict = match () {
            () if worth(new, old) => Verdict::Slower,
            () if worth(old, new) => Verdict::Faster,
            () => Verdict::Same,
        };
        Row { bench, verdict, evidence: format!("{percent:+.2} %  {old} -> {new} instructions") }.accepted(accepted)
    });
    judged.chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read() {
        let text = "version: 1\nevents: Ir\nsummary: 12345\n\nfn=(1) f\n10 12345\n\ntotals: 12345\n";
        assert_eq!(total(text), Some(12345));
        assert_eq!(total(&text.replace("12345", "0")), None);
        assert_eq!(total("events: Ir\n"), None);
    }

    #[test]
    fn counts_are_judged() {
        let counted = |instructions, by_time| Count { instructions, by_time };
        let of = |count| Counts::from([("order/dumb".to_owned(), counted(count, false))]);
        let by_time = |count| Counts::from([("order/dumb".to_owned(), counted(count, true))]);
        assert_eq!(rows(&by_time(1_000_000), &by_time(1_080_000), 1.01, "")[0].verdict, Verdict::Same);
        assert_eq!(rows(&by_time(1_000_000), &by_time(1_100_000), 1.01, "")[0].verdict, Verdict::Slower);
        let verdict = |base, head, accepted| rows(&of(base), &of(head), 1.01, accepted)[0].verdict;
        for (base, head, expected) in [
            (1_000_000, 1_009_000, Verdict::Same),
            (1_000_000, 1_011_000, Verdict::Slower),
            (1_000_000, 980_000, Verdict::Faster),
            // Small benches may move by a few instructions.
            (10_000, 11_000, Verdict::Same),
            (10_000, 12_500, Verdict::Slower),
            (0, 0, Verdict::Same),
        ] {
            assert_eq!(verdict(base, head, ""), expected, "{base} -> {head}");
        }
        for (accepted, expected) in [
            ("order/dumb checks more", Verdict::Accepted),
            ("order/*: checks more", Verdict::Slower),
            ("order/* checks more", Verdict::Accepted),
            ("order/dumber", Verdict::Slower),
        ] {
            assert_eq!(verdict(10_000, 20_000, accepted), expected, "{accepted}");
        }
        assert_eq!(rows(&Counts::new(), &of(1), 1.01, "")[0].verdict, Verdict::New);
        assert_eq!(rows(&of(1), &Counts::new(), 1.01, "")[0].verdict, Verdict::Gone);
    }
}
