//! Comparing by instructions: the benches `pure`, `answers` and `loops`, one case a process, under callgrind.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use xtask::{Failure, Outcome, process, workspace};

use super::programs::{self, Build, COUNTED, Side};
use super::{Row, Verdict, base};

/// The function of those benches inside which instructions are counted, and where it was in a base of before.
const INSIDE: [&str; 2] = ["--toggle-collect=*cases::counted*", "--toggle-collect=*pure::counted*"];

/// The variable that makes a bench plant a slowdown, in percent.
pub const PLANT: &str = "CHARZ_BENCH_PLANT";

/// The variable that says how often a case whose instructions are counted is run.
const TIMES: &str = "CHARZ_BENCH_TIMES";

/// So often where a slowdown of some percent can be planted, which is some times more.
const OFTEN: u32 = 10;

/// A larger ratio of instructions counts as slower. Counts of the same program repeat to the instruction but for what depends
/// on addresses, such as how a copy is aligned; on the benches here that is far below 0.1 %. Code that is only moved between
/// crates is inlined otherwise, though, which whole-program optimisation makes up for, and a quick build does not.
const SLOWER: f64 = 1.01;
const SLOWER_QUICK: f64 = 1.05;

/// A difference of at most this many instructions does not fail the gate, even if its share is large.
const FEW: u64 = 2000;

/// A commit trailer that accepts a slowdown: `Slower: CASE and the reason`; `*` at the end of CASE matches any end.
const TRAILER: &str = "--format=%(trailers:key=Slower,valueonly)";

/// Why instructions of a base are not compared.
pub const OTHERWISE: &str = "benches/cases.rs has changed, so the base does not count the same";

type Counts = BTreeMap<String, u64>;

/// Compares two sides that are built.
pub fn compare(base: &Side, head: &Side, plant: u32) -> Outcome<Vec<Row>> {
    let times = OFTEN + OFTEN * plant / 100;
    Ok(rows(&count(base, OFTEN)?, &count(head, times)?, SLOWER, ""))
}

/// Builds what is counted and compares. Counts of a commit are kept: the head of today is a base tomorrow. `Err` says why
/// there is nothing to compare with.
pub fn quick(commit: &str) -> Outcome<Result<Vec<Row>, String>> {
    if base::is_same(commit)? {
        return Ok(Err("nothing that is counted has changed".into()));
    }
    if !base::counts_alike(commit) {
        return Ok(Err(OTHERWISE.into()));
    }
    let known = fs::read_to_string(kept(commit)?).ok();
    let base = match known.and_then(|text| serde_json::from_str(&text).ok()) {
        Some(counts) => counts,
        None => {
            let side = match programs::base(commit, Build::Pure) {
                Ok(Some(side)) => side,
                Ok(None) => return Ok(Err("the base has no benches".into())),
                Err(failure) => return Ok(Err(format!("the base does not build: {failure}"))),
            };
            match count(&side, 1) {
                Ok(counts) => keep(commit, counts)?,
                Err(failure) => return Ok(Err(format!("the base cannot be counted: {failure}"))),
            }
        }
    };
    let mut head = count(&programs::head(Build::Pure)?, 1)?;
    if let Some(commit) = base::clean_head() {
        head = keep(&commit, head)?;
    }
    println!("slower: more than {:.0} % and {FEW} instructions above the base", (SLOWER_QUICK - 1.0) * 100.0);
    let mut log = Command::new("git");
    log.current_dir(workspace::root()).args(["log", TRAILER, &format!("{commit}..HEAD")]);
    Ok(Ok(rows(&base, &head, SLOWER_QUICK, &process::read(&mut log)?)))
}

/// Where the counts of a commit are kept: another compiler has others.
fn kept(commit: &str) -> Outcome<PathBuf> {
    let rustc = process::read(Command::new("rustc").arg("--version"))?;
    let rustc: String = rustc.trim().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    Ok(programs::folder().join(format!("counts-{commit}-{rustc}")))
}

fn keep(commit: &str, counts: Counts) -> Outcome<Counts> {
    let file = kept(commit)?;
    fs::write(&file, serde_json::json!(counts).to_string())
        .map_err(|error| Failure::io(format!("write {file:?}"), &error))?;
    Ok(counts)
}

/// Judges the counts; `accepted` has a line for what may be slower.
fn rows(base: &Counts, head: &Counts, slower: f64, accepted: &str) -> Vec<Row> {
    let gone = base.keys().filter(|case| !head.contains_key(*case));
    let gone = gone.map(|case| Row::unmatched(case.clone(), Verdict::Gone));
    let judged = head.iter().map(|(case, &new)| {
        let bench = case.clone();
        let Some(&old) = base.get(case) else { return Row::unmatched(bench, Verdict::New) };
        let worth = |more: u64, less: u64| more as f64 > less as f64 * slower && more.saturating_sub(less) > FEW;
        let percent = (new as f64 / old.max(1) as f64 - 1.0) * 100.0;
        let mut evidence = format!("{percent:+.3} %  {old} -> {new} instructions");
        let verdict = match accepted.lines().find(|line| accepts(line, case)) {
            Some(reason) if worth(new, old) => {
                evidence += &format!("; slower, accepted: {reason}");
                Verdict::Same
            }
            _ if worth(new, old) => Verdict::Slower,
            _ if worth(old, new) => Verdict::Faster,
            _ => Verdict::Same,
        };
        Row { bench, verdict, evidence }
    });
    judged.chain(gone).collect()
}

/// Whether a trailer names the case.
fn accepts(trailer: &str, case: &str) -> bool {
    let named = trailer.split_whitespace().next().unwrap_or_default();
    named.strip_suffix('*').map_or(named == case, |start| case.starts_with(start))
}

/// Counts every case of a side, run so often, as many at a time as there are strands: a neighbour costs no instructions.
fn count(side: &Side, times: u32) -> Outcome<Counts> {
    let mut cases = Vec::new();
    let counted = |name: &str| COUNTED.iter().any(|target| name.ends_with(&format!("-{target}")));
    for (_, program) in side.programs.iter().filter(|(name, _)| counted(name)) {
        let listed = process::read(Command::new(program).arg("--list"))?;
        cases.extend(listed.lines().map(|case| (program, case.to_owned())));
    }
    let (next, counted) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((program, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let count = one(program, case, times).map(|count| (case.clone(), count));
                    counted.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(count);
                }
            });
        }
    });
    let counted = counted.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    counted.into_iter().collect::<Outcome<_>>().map_err(|failure| failure.within(side.name))
}

fn one(program: &PathBuf, case: &str, times: u32) -> Outcome<u64> {
    let file = programs::folder().join(format!("callgrind-{case}.out"));
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--tool=callgrind"]).args(INSIDE);
    command.arg(format!("--callgrind-out-file={}", file.display())).arg(program).args(["--case", case]);
    // What the program prints is of no interest here, and an inherited variable would be counted as a difference.
    command.env(TIMES, times.to_string()).stdin(Stdio::null()).stdout(Stdio::null());
    process::run(&mut command)?;
    let text = fs::read_to_string(&file).map_err(|error| Failure::io(format!("read {file:?}"), &error))?;
    let _ = fs::remove_file(&file);
    total(&text).ok_or_else(|| Failure::found(format!("callgrind counted nothing in {case}")))
}

/// The total of the first event, which is instructions; `None` when nothing was counted.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("totals:").or_else(|| line.strip_prefix("summary:")))?;
    line.split_whitespace().next()?.parse().ok().filter(|count| *count > 0)
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
        let of = |count| Counts::from([("order-dumb".to_owned(), count)]);
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
            ("order-dumb checks more", Verdict::Same),
            ("order-*: checks more", Verdict::Slower),
            ("order-* checks more", Verdict::Same),
            ("order-dumber", Verdict::Slower),
        ] {
            assert_eq!(verdict(10_000, 20_000, accepted), expected, "{accepted}");
        }
        assert_eq!(rows(&Counts::new(), &of(1), 1.01, "")[0].verdict, Verdict::New);
        assert_eq!(rows(&of(1), &Counts::new(), 1.01, "")[0].verdict, Verdict::Gone);
    }
}
