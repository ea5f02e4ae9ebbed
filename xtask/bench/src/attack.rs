//! `attack`: files, command lines, limits, neighbours and signals that charz has to withstand, for as long as one lets it.
//!
//! What holds for every run is in `laws`. A case that breaks a law is kept below `target/attack` with its command lines.

mod budgets;
mod case;
mod directed;
mod grammar;
mod kills;
mod laws;
mod limits;
mod lines;
mod mutant;
mod neighbour;
mod planted;
mod reports;
mod words;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fastrand::Rng;
use rustix::process::Signal;
use xtask::arguments::number;
use xtask::{Failure, Outcome, process, setup, workspace};

use case::Case;
use grammar::{Grammar, Verb};
use laws::Run;
use neighbour::Hostile;
use reports::Base;

/// How long all parts take together by default, in seconds.
const SECONDS: u64 = 60;

/// How many cases run at a time: most wait, for programs or for time that has to pass.
const LANES: usize = 2;

/// The most cases of a part that are kept: the next ones are mostly of the same cause.
const KEPT: u64 = 20;

/// When a line that measures is stopped, whatever it was made to do.
const STOPPED: Duration = Duration::from_secs(2);

/// What of a part cannot be tried on this machine, each with its reason; an error where nothing can.
type Lacks = Result<Vec<String>, String>;

struct Part {
    name: &'static str,
    /// How many cases a minute has: more of those that are cheap.
    a_minute: u64,
    try_case: fn(&Target, &mut Case<'_>, &mut Rng) -> Outcome,
    lacks: fn() -> Lacks,
}

#[rustfmt::skip]
static PARTS: [Part; 7] = [
    Part { name: "directed", a_minute: 1, try_case: directed::case, lacks: directed::lacks },
    Part { name: "kills", a_minute: 4, try_case: kills::case, lacks: nothing },
    Part { name: "budgets", a_minute: 8, try_case: budgets::case, lacks: nothing },
    Part { name: "neighbour", a_minute: 250, try_case: neighbour::case, lacks: neighbour::lacks },
    Part { name: "limits", a_minute: 12, try_case: limits::case, lacks: limits::lacks },
    Part { name: "reports", a_minute: 12, try_case: reports::case, lacks: nothing },
    Part { name: "arguments", a_minute: 80, try_case: words::case, lacks: nothing },
];

fn nothing() -> Lacks {
    Ok(Vec::new())
}

/// What is attacked, as far as it describes itself.
struct Target {
    charz: PathBuf,
    codes: Vec<i32>,
    verbs: Vec<Verb>,
    prepared: Prepared,
}

/// The files that cases begin with.
#[derive(Clone, Default)]
struct Prepared {
    bases: Vec<Base>,
    hostile: Hostile,
}

/// A part in an attack.
struct Turn {
    part: &'static Part,
    /// How many cases it is to have, and how many it had.
    count: u64,
    cases: u64,
    /// Whether a case of it runs: two of one part would be in each other's way.
    is_busy: bool,
    failures: u64,
    /// Where the first that broke a law is kept.
    first: Option<PathBuf>,
    lacks: Lacks,
}

/// The parts of a request, with their counts for this time.
fn turns(request: &Request) -> Vec<Turn> {
    let turn = |part: &&'static Part| {
        let lacks = (part.lacks)();
        let count = request.cases.unwrap_or_else(|| (part.a_minute * request.seconds / SECONDS).max(1));
        let count = if lacks.is_ok() { count } else { 0 };
        Turn { part, count, cases: 0, is_busy: false, failures: 0, first: None, lacks }
    };
    request.parts.iter().map(turn).collect()
}

/// The part of whose cases the smallest share is done, if one is left. Each has one, and no more begin when the time is over.
fn next(turns: &mut [Turn], is_over: bool) -> Option<usize> {
    let is_left = |turn: &Turn| !turn.is_busy && turn.cases < if is_over { turn.count.min(1) } else { turn.count };
    let left = (0..turns.len()).filter(|at| is_left(&turns[*at]));
    let share = |one: &Turn, other: &Turn| (one.cases * other.count).cmp(&(other.cases * one.count));
    let at = left.min_by(|one, other| share(&turns[*one], &turns[*other]))?;
    (turns[at].cases, turns[at].is_busy) = (turns[at].cases + 1, true);
    Some(at)
}

/// Runs cases until the counts are reached or the time is over. `found` gets each that breaks a law, and says whether to go on.
fn run(
    target: &Target,
    request: &Request,
    scratch: &Path,
    turns: Vec<Turn>,
    found: impl Fn(&mut Turn, u64, &Case<'_>, &Failure) -> Outcome<bool> + Sync,
) -> Outcome<Vec<Turn>> {
    let end = Instant::now() + Duration::from_secs(request.seconds);
    let (turns, goes_on) = (Mutex::new(turns), AtomicBool::new(true));
    let turns_now = || turns.lock().unwrap_or_else(PoisonError::into_inner);
    let lane = |lane: usize| -> Outcome {
        while goes_on.load(Relaxed) {
            let mut locked = turns_now();
            let Some(at) = next(&mut locked, Instant::now() >= end) else { break };
            let (part, number) = (locked[at].part, request.case.unwrap_or(locked[at].cases));
            drop(locked);
            let mut case = target.case(&scratch.join(lane.to_string()))?;
            case.number = number;
            let tried = (part.try_case)(target, &mut case, &mut random(request.seed, number));
            let turn = &mut turns_now()[at];
            turn.is_busy = false;
            if let Err(failure) = tried {
                let goes = is_of_charz(&failure).then(|| found(turn, number, &case, &failure));
                goes_on.fetch_and(goes.unwrap_or_else(|| Err(failure.within(part.name)))?, Relaxed);
            }
        }
        Ok(())
    };
    let lane = &|at| lane(at).inspect_err(|_| goes_on.store(false, Relaxed));
    thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|at| scope.spawn(move || lane(at))).collect();
        lanes.into_iter().try_for_each(|lane| lane.join().expect("it does not panic"))
    })?;
    Ok(turns.into_inner().unwrap_or_else(PoisonError::into_inner))
}

pub fn start(words: &[String]) -> Outcome {
    let request = Request::parse(words)?;
    setup::quietly()?;
    if request.plants {
        return planted::all(&request);
    }
    let charz = request.charz.clone().map_or_else(build, Ok)?;
    let folder = workspace::target().join("attack").join(request.seed.to_string());
    let scratch = folder.join("scratch");
    println!("seed {}; what fails is kept in {}", request.seed, folder.display());
    // Relative to the root of the checkout, as for other tasks: cases run elsewhere.
    let mut target = Target::new(workspace::root().join(charz))?;
    let turns = turns(&request);
    target.prepare(&scratch, &turns)?;
    let turns = run(&target, &request, &scratch, turns, |turn, number, case, failure| {
        turn.failures += 1;
        let name = turn.part.name;
        if turn.failures <= KEPT {
            let kept = folder.join(format!("{name}-{number}"));
            let again = format!("cargo xtask attack {name} --seed {} --case {number}", request.seed);
            case.keep(&kept, &format!("Broken: {failure}\nAgain: {again}"))?;
            eprintln!("{name} {number}: broken: {failure}");
            turn.first.get_or_insert(kept.join("case.txt"));
        }
        Ok(true)
    })?;
    turns.iter().for_each(|turn| println!("{}", said(turn)));
    let _ = std::fs::remove_dir_all(scratch);
    // Where nothing was kept.
    let _ = std::fs::remove_dir(folder);
    match turns.iter().map(|turn| turn.failures).sum() {
        0_u64 => Ok(()),
        failures => Err(Failure::found(format!("cases that break a law: {failures}"))),
    }
}

/// What became of a part, and what was not tried.
fn said(Turn { part, count, cases, failures, first, lacks, .. }: &Turn) -> String {
    let lacks = match lacks {
        Err(why) => return format!("{:<9}  not run: {why}", part.name),
        Ok(lacks) => lacks.iter().map(|lack| format!("; not tried: {lack}")).collect::<String>(),
    };
    let of = if cases < count { format!(" of {count}, for want of time") } else { String::new() };
    let first = first.as_ref().map_or(String::new(), |first| format!(", first {}", first.display()));
    format!("{:<9}  {cases:>6} cases{of}, {failures} failures{first}{lacks}", part.name)
}

/// Any other failure is of this task.
fn is_of_charz(failure: &Failure) -> bool {
    failure.code == Failure::found("").code
}

/// Each case of a seed has its own.
fn random(seed: u64, case: u64) -> Rng {
    Rng::with_seed(Rng::with_seed(seed).u64(..).wrapping_add(case))
}

fn pick<'t, T>(table: &'t [T], rng: &mut Rng) -> &'t T {
    &table[rng.usize(..table.len())]
}

/// A build that checks for overflow.
fn build() -> Outcome<PathBuf> {
    process::run(workspace::cargo().args(["build", "--locked", "--package", "charz"]))?;
    Ok(workspace::built("debug").join("charz"))
}

impl Target {
    fn new(charz: PathBuf) -> Outcome<Self> {
        let grammar = process::read(Command::new(&charz).args(["docs", "grammar"]))?;
        let Some(Grammar { verbs, codes }) = grammar::read(&grammar) else {
            return Err(Failure::found("`charz docs grammar` does not list commands and exit codes"));
        };
        let target = Target { charz, codes, verbs, prepared: Prepared::default() };
        if target.formats("render").is_empty() || target.codes.is_empty() {
            return Err(Failure::found("charz lists no formats of render, or no exit codes"));
        }
        match &lines::missing(&target.verbs)[..] {
            [] => Ok(target),
            missing => Err(Failure::usage(format!("attack/lines.rs has no line of charz {}", missing.join(", ")))),
        }
    }

    /// Writes the files that cases begin with.
    fn prepare(&mut self, scratch: &Path, turns: &[Turn]) -> Outcome {
        let with_neighbour = turns.iter().any(|turn| turn.part.name == neighbour::NAME && turn.count > 0);
        let target = &*self;
        let (bases, hostile) = thread::scope(|scope| {
            let hostile = scope.spawn(|| match with_neighbour {
                true => neighbour::hostile(target.case(&scratch.join("hostile"))?),
                false => Ok(Hostile::default()),
            });
            (reports::bases(target, scratch), hostile.join().expect("it does not panic"))
        });
        self.prepared = Prepared { bases: bases?, hostile: hostile? };
        Ok(())
    }

    fn case(&self, scratch: &Path) -> Outcome<Case<'_>> {
        Case::new(&self.charz, &self.codes, scratch.to_owned())
    }

    fn formats(&self, verb: &str) -> &[String] {
        self.verbs.iter().find(|found| found.words == [verb]).map_or(&[], Verb::formats)
    }

    /// A file that command lines name, as charz takes it.
    fn file(&self, name: &str) -> Option<&[u8]> {
        // Comparisons find the same cells in both.
        let name = if name == "base.json" { reports::REPORT } else { name };
        self.prepared.bases.iter().find(|base| base.name == name).map(|base| &base.bytes[..])
    }

    /// The signal that stops what measures.
    fn signal(&self, words: &[String]) -> Option<(Duration, Signal)> {
        lines::verb(&self.verbs, words).is_some_and(Verb::measures).then_some((STOPPED, Signal::INT))
    }

    /// Runs a line, which may write the files that it names for it.
    fn run(&self, case: &mut Case<'_>, words: &[String]) -> Outcome<Run> {
        let typed: Vec<&str> = words.iter().map(String::as_str).collect();
        case.run(&typed, &lines::outputs(words), self.signal(words))
    }
}

struct Request {
    charz: Option<PathBuf>,
    parts: Vec<&'static Part>,
    seconds: u64,
    seed: u64,
    /// How many cases each part has, whatever the time is.
    cases: Option<u64>,
    /// The only case of each part.
    case: Option<u64>,
    /// Whether charz is attacked with a defect planted in it, one after the other.
    plants: bool,
}

impl Request {
    fn parse(words: &[String]) -> Outcome<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as u64);
        let mut request = Request {
            charz: None,
            parts: Vec::new(),
            seconds: SECONDS,
            seed: now,
            cases: None,
            case: None,
            plants: false,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| Failure::usage(format!("{word} needs a value")));
            match word.as_str() {
                "--planted" => request.plants = true,
                "--charz" => request.charz = Some(Path::new(value()?).into()),
                "--seconds" => request.seconds = number(word, value()?, &(1..=1_000_000))?,
                "--cases" => request.cases = Some(number(word, value()?, &(1..=1_000_000))?),
                "--case" => request.case = Some(number(word, value()?, &(1..=1_000_000))?),
                "--seed" => request.seed = number(word, value()?, &(0..=u64::MAX))?,
                name => match PARTS.iter().find(|part| part.name == name) {
                    Some(part) => request.parts.push(part),
                    None => {
                        let known = PARTS.iter().map(|part| part.name).collect::<Vec<_>>().join(", ");
                        return Err(Failure::usage(format!("`attack` does not know {word:?}; the parts are {known}")));
                    }
                },
            }
        }
        if request.plants && !(request.parts.is_empty() && request.charz.is_none() && request.case.is_none()) {
            return Err(Failure::usage("--planted takes --seconds, --cases and --seed only"));
        }
        if request.case.is_some() {
            request.cases = Some(1);
        }
        if request.parts.is_empty() {
            request.parts.extend(&PARTS);
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        let parsed = |line: &str| Request::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let names = |request: &Request| request.parts.iter().map(|part| part.name).collect::<Vec<_>>();
        assert_eq!(names(&parsed("").unwrap()).len(), PARTS.len());
        let some = parsed("kills --seed 7 --seconds 5 --charz a reports").unwrap();
        assert_eq!(names(&some), ["kills", "reports"]);
        assert_eq!((some.seed, some.seconds, some.charz), (7, 5, Some("a".into())));
        assert!(parsed("--planted --seconds 30").unwrap().plants);
        assert_eq!(parsed("kills --cases 9").unwrap().cases, Some(9));
        let one = parsed("kills --case 9").unwrap();
        assert_eq!((one.case, one.cases), (Some(9), Some(1)));
        for line in ["--seconds", "--seconds 0", "--seed x", "fuzz", "--quick", "--planted kills", "--planted --case 1"]
        {
            assert!(parsed(line).is_err(), "{line}");
        }
    }

    #[test]
    fn each_part_has_its_share_and_at_least_one_case() {
        let turn = |(part, count): (&'static Part, u64)| Turn {
            part,
            count,
            cases: 0,
            is_busy: false,
            failures: 0,
            first: None,
            lacks: Ok(Vec::new()),
        };
        let mut turns: Vec<Turn> = PARTS.iter().zip([1, 2, 4, 0]).map(turn).collect();
        let mut order = |is_over: bool| -> Vec<usize> {
            let mut step = || {
                let at = next(&mut turns, is_over)?;
                turns[at].is_busy = false;
                Some(at)
            };
            std::iter::from_fn(&mut step).take(if is_over { 9 } else { 3 }).collect()
        };
        assert_eq!(order(false), [0, 1, 2]);
        assert_eq!(order(true), [0; 0]);
        assert_eq!(order(false), [2, 1, 2]);
        let mut turns: Vec<Turn> = PARTS.iter().zip([1, 2]).map(turn).collect();
        assert_eq!((next(&mut turns, true), next(&mut turns, true), next(&mut turns, false)), (Some(0), Some(1), None));
        turns[1].is_busy = false;
        assert_eq!((next(&mut turns, true), next(&mut turns, false)), (None, Some(1)));
    }
}
