//! Files that are no longer what charz wrote, reports above all, and every command line that names them.

use std::path::Path;
use std::time::Duration;
use std::{fs, thread};

use fastrand::Rng;
use rustix::process::Signal;
use xtask::{Failure, Outcome, workspace};

use super::Target;
use super::case::{Case, failed};
use super::lines::{self, LINES, PLAIN};
use super::mutant;

/// What writes the reports that are changed.
const SWEEPS: [&str; 4] = [
    "sweep --kernel noop,arith-int,lock-std --threads 1,2 --steps 20000 --iterations 2",
    "sweep --kernel chase-random,level-read,read-monotonic --threads 1 --size 16KiB,64KiB --samples 50 --iterations 2",
    "c2c --mode cas,read-write",
    "numa --size 2MiB",
];
/// As many invocations as comparisons ask for.
const SHORT: &str = "--runs 6 --budget 4s --output r.json --force";

/// A report of an idle machine: on a busy one no number is reliable, and what needs one has nothing to say.
const RELIABLE: &str = "tests/golden/reports/arithmetic.json";

/// What writes the other files, in this order.
const OTHERS: [(&str, &str); 4] = [
    (HISTORY, "history add r.json --db h.db"),
    ("f.db", "fleet add r.json --db f.db"),
    ("b.toml", "fleet baseline r.json --output b.toml"),
    ("m.xml", "topo --format xml --output m.xml"),
];

/// When these end at the latest.
const MEASURED: Duration = Duration::from_secs(30);

pub const REPORT: &str = "r.json";
pub const JOURNAL: &str = "r.json.journal";
const HISTORY: &str = "h.db";

/// A file as charz takes it, under the name that it has in command lines.
#[derive(Clone)]
pub struct Base {
    pub name: &'static str,
    pub bytes: Vec<u8>,
}

/// The files that are changed, as charz writes them here: first the reports.
pub fn bases(target: &Target, scratch: &Path) -> Outcome<Vec<Base>> {
    let report = &|at: usize| -> Outcome<Vec<u8>> {
        let (sweep, mut case) = (SWEEPS[at], target.case(&scratch.join(format!("base-{at}")))?);
        let words: Vec<&str> = sweep.split(' ').chain(SHORT.split(' ')).collect();
        let mut run = case.run(&words, &[REPORT], Some((MEASURED, Signal::INT)))?;
        let why = || Failure::environment(format!("{sweep}: {}", String::from_utf8_lossy(&run.err)));
        run.after.remove(REPORT).ok_or_else(why)
    };
    // Beside each other: only their shape counts.
    let measured = thread::scope(|scope| {
        let runs: Vec<_> = (0..SWEEPS.len()).map(|at| scope.spawn(move || report(at))).collect();
        runs.into_iter().map(|run| run.join().expect("it does not panic")).collect::<Vec<_>>()
    });
    let reliable = fs::read(workspace::root().join(RELIABLE)).map_err(failed)?;
    let reports = measured.into_iter().chain([Ok(reliable.clone())]);
    let mut bases: Vec<Base> = reports.map(|bytes| Ok(Base { name: REPORT, bytes: bytes? })).collect::<Outcome<_>>()?;
    let mut case = target.case(&scratch.join("others"))?;
    case.put(REPORT, &reliable)?;
    for (name, line) in OTHERS {
        let mut run = case.run(&line.split(' ').collect::<Vec<_>>(), &[name], None)?;
        let why = || Failure::found(format!("{line}: {}", String::from_utf8_lossy(&run.err)));
        bases.push(Base { name, bytes: run.after.remove(name).ok_or_else(why)? });
    }
    bases.extend(PLAIN.map(|(name, text)| Base { name, bytes: text.into() }));
    case.empty()?;
    let words: Vec<&str> = SWEEPS[0].split(' ').chain(["--output", REPORT]).collect();
    // After the pilots, and long before the end.
    let mut run = case.run(&words, &[REPORT], Some((Duration::from_millis(1500), Signal::KILL)))?;
    bases.extend(run.after.remove(JOURNAL).map(|bytes| Base { name: JOURNAL, bytes }));
    Ok(bases)
}

pub fn case(target: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    let base = &target.prepared.bases[rng.usize(..target.prepared.bases.len())];
    // Comparisons find the same cells in both.
    let unchanged = if base.name == REPORT { base } else { &target.prepared.bases[0] };
    case.put("base.json", &unchanged.bytes)?;
    case.put(base.name, &mutant::of(&base.bytes, rng))?;
    // Most mutants are refused: one more line reads them. Those that are accepted are read by all.
    let accepted = match base.name {
        REPORT | JOURNAL => render(target, case, rng, base.name)?,
        _ => true,
    };
    let name = if base.name == JOURNAL { REPORT } else { base.name };
    let named = |line: &&str| line.split(' ').any(|word| word == name);
    let mut all: Vec<&str> = LINES.into_iter().filter(named).collect();
    if base.name == JOURNAL {
        all.retain(|line| line.starts_with("sweep"));
    }
    rng.shuffle(&mut all);
    all.truncate(if accepted { usize::MAX } else { 1 });
    for line in all {
        let words = lines::with_format(lines::words(line), &target.verbs, rng);
        for name in words.iter().filter(|name| *name != base.name) {
            if let Some(other) = target.file(name).filter(|_| !case.work().join(name).exists()) {
                case.put(name, other)?;
            }
        }
        target.run(case, &words)?;
    }
    Ok(())
}

/// Whether the file can be shown; then it is shown in every format.
fn render(target: &Target, case: &mut Case<'_>, rng: &mut Rng, file: &str) -> Outcome<bool> {
    if case.run(&["render", file], &[], None)?.code == Some(2) {
        return Ok(false);
    }
    for format in target.formats("render") {
        let run = case.run(&["render", file, "--format", format], &[], None)?;
        let err = String::from_utf8_lossy(&run.err).into_owned();
        if let Some((_, figures)) = err.trim_end().rsplit_once("--figure: ") {
            let figures: Vec<&str> = figures.split(", ").collect();
            let figure = figures[rng.usize(..figures.len())];
            case.run(&["render", file, "--format", format, "--figure", figure], &[], None)?;
        }
    }
    Ok(true)
}
