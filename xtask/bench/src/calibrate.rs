//! `calibrate`: whether the numbers of charz are as good as it says.
//!
//! Sweeps run on the machine as it is and beside programs that disturb it. Each cell is compared with the truth: what
//! short repetitions of the same loop, without charz, show just before and after the sweep with nothing beside them. A
//! disturbance makes a loop slower, never faster, and of many short repetitions some fit between disturbances; so the
//! fastest twentieth of each 50 ms shows what the machine did then. Where these differ, the machine itself changed, as by
//! its clock, and the truth is their range. A truth that is known, as what a core can do in a cycle, is given with `--truth`.

mod condition;
mod culprits;
mod report;
mod results;
mod table;
mod truth;

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use xtask::arguments::number;
use xtask::{Failure, Outcome, process, setup, workspace};

use condition::{CONDITIONS, Condition, Held, Running};
use culprits::{DISTURBANCES, Found};
use report::{Cell, SelfTest, Status};
use results::Results;
use table::{Judged, Share};
use truth::{Given, Known, Reference, TARGETS};

/// Sweeps of memory bandwidth beside the memory hog, and the seconds that each may take.
const MEMORY_SWEEPS: u64 = 10;
const MEMORY_SECONDS: u64 = 8;

/// Comparisons of equal sides in the self-test, and the seconds that all may take.
const ROUNDS: u64 = 30;
const SELFTEST_SECONDS: u64 = 110;

/// The time that a program may take beyond its budget, as to wait for another charz.
const GRACE: Duration = Duration::from_secs(120);

const PARTS: [&str; 4] = ["confusion", "culprits", "memory", "selftest"];

pub fn start(words: &[String]) -> Outcome {
    let request = Request::parse(words)?;
    setup::quietly()?;
    let bench = Bench::new(&request)?;
    let mut results = Results::default();
    if request.has("confusion") {
        bench.confusion(&request, &mut results)?;
    }
    if request.has("culprits") {
        bench.culprits(&request, &mut results);
    }
    if request.has("memory") {
        results.memory = Some(bench.memory(&mut results.notes));
    }
    if request.has("selftest") {
        let result = bench.selftest();
        results.selftest = noted("selftest", result, &mut results.notes);
    }
    print!("{}", results.markdown());
    match &request.json {
        Some(file) => fs::write(file, format!("{:#}\n", results.json()))
            .map_err(|error| Failure::io(format!("write {file:?}"), &error)),
        None => Ok(()),
    }
}

/// What was asked for.
#[derive(Debug, PartialEq)]
struct Request {
    charz: Option<PathBuf>,
    parts: Vec<String>,
    conditions: Vec<String>,
    /// Sweeps under each condition.
    sweeps: u64,
    /// The budget of each.
    seconds: u64,
    given: Given,
    json: Option<PathBuf>,
}

impl Request {
    fn parse(words: &[String]) -> Outcome<Self> {
        let mut request = Request {
            charz: None,
            parts: PARTS.map(str::to_owned).to_vec(),
            conditions: CONDITIONS.map(|condition| condition.name.to_owned()).to_vec(),
            sweeps: 1,
            seconds: 12,
            given: Given::new(),
            json: None,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| Failure::usage(format!("{word} needs a value")))?;
            match word.as_str() {
                "--charz" => request.charz = Some(value.into()),
                "--part" => request.parts = chosen(word, value, &request.parts)?,
                "--condition" => request.conditions = chosen(word, value, &request.conditions)?,
                "--sweeps" => request.sweeps = number(word, value, &(1..=1000))?,
                "--seconds" => request.seconds = number(word, value, &(2..=600))?,
                "--truth" => request.given = truth::given(value)?,
                "--json" => request.json = Some(value.into()),
                _ => return Err(Failure::usage(format!("`calibrate` does not know {word:?}"))),
            }
        }
        Ok(request)
    }

    fn has(&self, part: &str) -> bool {
        self.parts.iter().any(|chosen| chosen == part)
    }
}

/// Names, separated by commas.
fn chosen(option: &str, list: &str, known: &[String]) -> Outcome<Vec<String>> {
    let names: Vec<String> = list.split(',').map(str::to_owned).collect();
    match names.iter().find(|name| !known.contains(name)) {
        Some(name) => Err(Failure::usage(format!("{option} {name}: one of {} is required", known.join(", ")))),
        None => Ok(names),
    }
}

/// The programs, and where they run.
struct Bench {
    charz: PathBuf,
    /// The example that runs kernels without charz.
    kernel: PathBuf,
    /// The CPUs of the first two workers.
    seats: Vec<u64>,
    /// Reports and what was printed, of the last calibration.
    folder: PathBuf,
}

impl Bench {
    fn new(request: &Request) -> Outcome<Self> {
        let charz = request.charz.clone().map_or_else(workspace::build_charz, Ok)?;
        let map = ["map", "--mapping", "round-robin", "--threads", "2", "--format", "json"];
        let map: Value = serde_json::from_str(&process::read(Command::new(&charz).args(map))?).unwrap_or_default();
        let mut seats: Vec<u64> = map["seats"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        seats.dedup();
        if seats.is_empty() {
            return Err(Failure::environment("`charz map` gave no seats"));
        }
        let folder = workspace::target().join("calibrate");
        fs::create_dir_all(&folder).map_err(|error| Failure::io(format!("create {folder:?}"), &error))?;
        Ok(Bench { charz, kernel: workspace::built("release").join("examples/kernel"), seats, folder })
    }

    /// Runs charz under a condition and returns what it printed; an exit code that is not 0 is no failure, since a report with
    /// invalid cells has one.
    fn charz(&self, held: &mut Held, name: &str, words: &[&str], seconds: u64) -> Outcome<String> {
        let log = self.folder.join(format!("{name}.log"));
        let failed = |error| Failure::io(format!("write {log:?}"), &error);
        let file = File::create(&log).map_err(failed)?;
        let mut command = held.command(&self.charz);
        command.args(words).args(["--wait", "--budget", &format!("{seconds}s")]);
        command.stdout(file.try_clone().map_err(failed)?).stderr(file);
        Running::start(&mut command, false)?.wait(Duration::from_secs(seconds) + GRACE)?;
        held.check()?;
        Ok(fs::read_to_string(&log).unwrap_or_default())
    }

    /// The cells of a sweep under a condition.
    fn sweep(&self, condition: &Condition, name: &str, words: &[&str], seconds: u64) -> Outcome<Vec<Cell>> {
        let [report, _] = self.report(condition, name, words, seconds)?;
        report::cells(&report).map_err(|why| Failure::environment(format!("{name}: {why}")))
    }

    /// The report of a sweep under a condition, and what it printed.
    fn report(&self, condition: &Condition, name: &str, words: &[&str], seconds: u64) -> Outcome<[String; 2]> {
        let name = name.replace('/', "-");
        let report = self.folder.join(format!("{name}.json"));
        let _ = fs::remove_file(&report);
        let mut held = condition.hold(&self.seats, Duration::from_secs(seconds) + GRACE)?;
        let output = report.to_string_lossy();
        let words = [&["sweep", "--mapping", "round-robin", "--output", &output], words].concat();
        let printed = self.charz(&mut held, &name, &words, seconds)?;
        let text = fs::read_to_string(&report).map_err(|_| {
            let last = printed.lines().rfind(|line| !line.trim().is_empty());
            Failure::environment(format!("no report; charz printed {:?}", last.unwrap_or_default()))
        })?;
        Ok([text, printed])
    }

    /// What the machine does now, with nothing beside: of the kernels that no number is given for.
    fn reference(&self, given: &Given) -> Outcome<Reference> {
        let mut reference = Reference::new();
        let cells = TARGETS.iter().flat_map(|target| target.workers.iter().map(move |workers| (target, *workers)));
        for (target, workers) in cells {
            let key = (target.kernel, workers);
            // Of a cell without a clock, cycles say nothing.
            if workers > self.seats.len() as u64 || matches!(given.get(target.kernel), Some(Known::Number(_))) {
                continue;
            }
            // The example binds workers to the CPUs that it may use, in ascending order.
            let cpus: Vec<String> = self.seats[..workers as usize].iter().map(u64::to_string).collect();
            let mut command = Command::new("taskset");
            command.args(["-c", &cpus.join(",")]).arg(&self.kernel).arg(target.kernel);
            command.args(["--workers", &workers.to_string()]).args(target.reference.split(' '));
            let stretches = truth::stretches(target, &process::read(&mut command)?);
            if stretches.is_empty() {
                return Err(Failure::environment(format!("`{}` printed no repetitions", process::line(&command))));
            }
            reference.insert(key, stretches);
        }
        Ok(reference)
    }

    /// Sweeps under each condition, between references.
    fn confusion(&self, request: &Request, results: &mut Results) -> Outcome {
        let kernels = TARGETS.map(|target| target.kernel).join(",");
        let threads = if self.seats.len() > 1 { "1,2" } else { "1" };
        let words = ["--kernel", &kernels, "--threads", threads, "--size", truth::SIZE, "--pages", "thp"];
        let chosen = CONDITIONS.iter().filter(|condition| request.conditions.iter().any(|name| name == condition.name));
        let chosen: Vec<&Condition> = chosen.collect();
        let build = ["build", "--release", "--package", "charz-kernels", "--example", "kernel"];
        process::run(workspace::cargo().args(build))?;
        let mut before = self.reference(&request.given)?;
        for sweep in 1..=request.sweeps {
            for condition in &chosen {
                let name = format!("{}-{sweep}", condition.name);
                let cells = self.sweep(condition, &name, &words, request.seconds);
                let after = self.reference(&request.given)?;
                if let Some(cells) = noted(&name, cells, &mut results.notes) {
                    let truths = truth::truths(&cells, &request.given, &before, &after);
                    let judged: Vec<Judged> = table::judge(&cells, &truths).collect();
                    eprintln!("{name}: {} ok", table::figures(&judged).ok);
                    results.widths.extend(truths.values().map(|truth| truth.width()));
                    results.sweeps.push((condition.name, judged));
                }
                before = after;
            }
        }
        Ok(())
    }

    /// Sweeps beside each disturbance, and whom they name.
    fn culprits(&self, request: &Request, results: &mut Results) {
        for of in &DISTURBANCES {
            let condition = CONDITIONS.iter().find(|condition| condition.name == of.condition);
            let Some(condition) = condition.filter(|of| request.conditions.iter().any(|name| name == of.name)) else {
                continue;
            };
            let sweep = |sweep: u64| {
                let name = format!("culprits-{}-{sweep}", of.condition);
                let report = self.report(condition, &name, &["--kernel", "arith-int,mem-read"], request.seconds);
                let named = report
                    .and_then(|[report, printed]| culprits::named(&report, &printed).map_err(Failure::environment));
                eprintln!("{name}: {named:?}");
                noted(&name, named, &mut results.notes)
            };
            let sweeps: Vec<_> = (1..=request.sweeps).filter_map(sweep).collect();
            results.culprits.push(Found::new(of, &sweeps));
        }
    }

    /// How many cells of memory bandwidth are `ok` beside a program that takes bandwidth.
    fn memory(&self, notes: &mut Vec<String>) -> Share {
        let mut unmarked = Share { count: 0, of: 0 };
        for sweep in 1..=MEMORY_SWEEPS {
            let name = format!("mem-read-{sweep}");
            let words = ["--kernel", "mem-read", "--size", "256MiB", "--threads", "1"];
            let cells = self.sweep(&condition::MEMORY, &name, &words, MEMORY_SECONDS);
            let Some(cells) = noted(&name, cells, notes) else { break };
            unmarked.of += cells.len();
            unmarked.count += cells.iter().filter(|cell| cell.status == Status::Ok).count();
            eprintln!("{name}: {unmarked} ok");
        }
        unmarked
    }

    /// The self-test beside a hog on the worker's CPU.
    fn selftest(&self) -> Outcome<SelfTest> {
        let limit = Duration::from_secs(SELFTEST_SECONDS) + GRACE;
        let mut held = condition::DUTY.hold(&self.seats, limit)?;
        let rounds = ROUNDS.to_string();
        let words = ["selftest", "--aa", "--rounds", &rounds, "--format", "json"];
        let printed = self.charz(&mut held, "selftest", &words, SELFTEST_SECONDS)?;
        report::selftest(&printed).ok_or_else(|| {
            let last = printed.lines().rfind(|line| !line.trim().is_empty());
            Failure::environment(format!("no result; charz printed {:?}", last.unwrap_or_default()))
        })
    }
}

/// A measurement that failed is a note: the others are still worth having.
fn noted<T>(name: &str, result: Outcome<T>, notes: &mut Vec<String>) -> Option<T> {
    result.inspect_err(|failure| notes.push(format!("{name} was not measured: {failure}"))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Outcome<Request> {
        Request::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn requests() {
        let usual = parsed("").unwrap();
        assert!(PARTS.iter().all(|part| usual.has(part)));
        let some = parsed("--part memory --condition fork,spin-1/9 --sweeps 3 --seconds 5 --charz a --json b").unwrap();
        assert_eq!(PARTS.map(|part| some.has(part)), [false, false, true, false]);
        let expected = Request {
            charz: Some("a".into()),
            parts: vec!["memory".into()],
            conditions: vec!["fork".into(), "spin-1/9".into()],
            sweeps: 3,
            seconds: 5,
            json: Some("b".into()),
            ..usual
        };
        assert_eq!(some, expected);
        for line in ["--sweeps", "--sweeps 0", "--part all", "--condition spin,", "--truth x=1", "--quick 1"] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
