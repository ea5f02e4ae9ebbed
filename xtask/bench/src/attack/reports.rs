//! Reports, journals and histories that are no longer what charz wrote, and every command that reads them.

use std::time::Duration;

use fastrand::Rng;
use rustix::process::Signal;
use xtask::{Failure, Outcome};

use super::Target;
use super::case::Case;
use super::grammar::Verb;
use super::mutant;

/// What writes the reports that are changed.
const SWEEPS: [&str; 4] = [
    "sweep --kernel noop,arith-int,lock-std --threads 1,2 --iterations 20000 --repetitions 2",
    "sweep --kernel chase-random,level-read,read-monotonic --threads 1 --size 16KiB,64KiB --samples 50 --repetitions 2",
    "c2c --mode cas,read-write",
    "numa --size 2MiB",
];
/// As many invocations as comparisons ask for.
const SHORT: &str = "--invocations 6 --budget 4s --output r.json --force";

/// When these end at the latest.
const MEASURED: Duration = Duration::from_secs(30);

/// When a sweep that is resumed is stopped, whatever its plan became.
const RESUMED: Option<(Duration, Signal)> = Some((Duration::from_secs(2), Signal::INT));

const REPORT: &str = "r.json";
const JOURNAL: &str = "r.json.journal";
const HISTORY: &str = "h.db";

/// A file that charz wrote, under the name that it has in a case.
#[derive(Clone)]
pub struct Base {
    name: &'static str,
    pub bytes: Vec<u8>,
}

/// The files that are changed, as charz writes them here.
pub fn bases(mut case: Case<'_>) -> Outcome<Vec<Base>> {
    let mut bases = Vec::new();
    for sweep in SWEEPS {
        let words: Vec<&str> = sweep.split(' ').chain(SHORT.split(' ')).collect();
        let run = case.run(&words, &[REPORT], Some((MEASURED, Signal::INT)))?;
        let Some(bytes) = run.after.get(REPORT) else {
            return Err(Failure::environment(format!("{sweep}: {}", String::from_utf8_lossy(&run.err))));
        };
        bases.push(Base { name: REPORT, bytes: bytes.clone() });
    }
    let run = case.run(&["history", "add", REPORT, "--db", HISTORY], &[HISTORY], None)?;
    bases.extend(run.after.get(HISTORY).map(|bytes| Base { name: HISTORY, bytes: bytes.clone() }));
    let words: Vec<&str> = SWEEPS[0].split(' ').chain(["--output", REPORT]).collect();
    std::fs::remove_file(case.work().join(REPORT)).map_err(|error| Failure::io("remove a report", &error))?;
    // After the pilots, and long before the end.
    let run = case.run(&words, &[REPORT], Some((Duration::from_millis(1500), Signal::KILL)))?;
    bases.extend(run.after.get(JOURNAL).map(|bytes| Base { name: JOURNAL, bytes: bytes.clone() }));
    Ok(bases)
}

pub fn case(target: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    let base = &target.bases[rng.usize(..target.bases.len())];
    case.put(base.name, &mutant::of(&base.bytes, rng))?;
    // Comparisons find the same cells in both.
    let unchanged = if base.name == REPORT { base } else { &target.bases[0] };
    case.put("base.json", &unchanged.bytes)?;
    match base.name {
        REPORT => report(target, case, rng),
        HISTORY => history(target, case, rng),
        _ => {
            render(target, case, rng, JOURNAL)?;
            case.run(&["sweep", "--resume", REPORT], &[REPORT], RESUMED).map(drop)
        }
    }
}

/// Most mutants are refused: one more command sees them. Those that are accepted are read by all.
fn report(target: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    let accepted = render(target, case, rng, REPORT)?;
    let document = &target.documents[rng.usize(..target.documents.len())];
    let mut lines: Vec<(Vec<&str>, &[&str])> = vec![
        (vec!["history", "add", REPORT, "--db", HISTORY], &[HISTORY]),
        (vec!["render", REPORT, "base.json"], &[]),
        (vec!["render", REPORT, "--format", "html", "-o", "page.html"], &["page.html"]),
        (vec!["sweep", "--resume", REPORT], &[REPORT]),
    ];
    for format in target.formats("replicate") {
        lines.push((vec!["replicate", document, "--from", REPORT, "--format", format], &[]));
    }
    for format in target.formats("topo") {
        lines.push((vec!["topo", "--measured", REPORT, "--format", format], &[]));
    }
    for format in target.formats("compare") {
        let options = ["--cross-machine", "--cross-build", "--cross-plan", "--allow-suspect", "--format", format];
        lines.push(([&["compare", "base.json", REPORT], &options[..]].concat(), &[]));
        lines.push((vec!["compare", REPORT, "base.json", "--format", format], &[]));
    }
    rng.shuffle(&mut lines);
    lines.truncate(if accepted { usize::MAX } else { 1 });
    for (words, outputs) in lines {
        case.run(&words, outputs, RESUMED.filter(|_| words[0] == "sweep"))?;
    }
    if accepted {
        case.run(&["history", "list", "--db", HISTORY], &[], None)?;
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

fn history(target: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    let named = |verb: &&Verb| verb.words.len() == 2 && verb.words[0] == "history";
    for verb in target.verbs.iter().filter(named) {
        let mut words: Vec<&str> = verb.words.iter().map(String::as_str).collect();
        let outputs: &[&str] = if words[1] == "add" { &[HISTORY] } else { &[] };
        words.extend((words[1] == "add").then_some("base.json"));
        words.extend(["--db", HISTORY]);
        if let Some(format) = rng.choice(verb.formats()) {
            words.extend(["--format", format]);
        }
        case.run(&words, outputs, None)?;
    }
    case.run(&["compare", "base.json", "--baseline", "newest", "--db", HISTORY], &[], None).map(drop)
}
