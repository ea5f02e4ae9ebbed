//! `attack`: inputs, command lines and signals that charz has to withstand, for as long as one lets it.
//!
//! What holds for every run is in `laws`. A case that breaks a law is kept below `target/attack` with its command lines.

mod case;
mod directed;
mod grammar;
mod kills;
mod laws;
mod mutant;
mod planted;
mod reports;
mod words;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fastrand::Rng;
use serde_json::Value;
use xtask::arguments::number;
use xtask::{Failure, Outcome, process, setup, workspace};

use case::Case;
use grammar::{Grammar, Verb};
use reports::Base;

/// How long all parts take together by default, in seconds.
const SECONDS: u64 = 60;

/// The most cases of a part that are kept: the next ones are mostly of the same cause.
const KEPT: u64 = 20;

type Part = (&'static str, fn(&Target, &mut Case<'_>, &mut Rng) -> Outcome);

const PARTS: [Part; 4] =
    [("directed", directed::case), ("reports", reports::case), ("arguments", words::case), ("kills", kills::case)];

/// What is attacked, as far as it describes itself.
struct Target {
    charz: PathBuf,
    codes: Vec<i32>,
    verbs: Vec<Verb>,
    documents: Vec<String>,
    bases: Vec<Base>,
}

pub fn start(words: &[String]) -> Outcome {
    let request = Request::parse(words)?;
    setup::quietly()?;
    if request.plants {
        return planted::all(&request);
    }
    let charz = request.charz.clone().map_or_else(build, Ok)?;
    // Relative to the root of the checkout, as for other tasks: cases run elsewhere.
    let mut target = Target::new(workspace::root().join(charz))?;
    let folder = workspace::target().join("attack").join(request.seed.to_string());
    println!("seed {}; what fails is kept in {}", request.seed, folder.display());
    let scratch = folder.join("scratch");
    target.prepare(&scratch)?;
    let mut failures = 0;
    for (part, try_case) in &request.parts {
        let end = Instant::now() + Duration::from_secs(request.seconds) / request.parts.len() as u32;
        let (mut cases, mut failed, mut first) = (0, 0, None);
        while cases == 0 || Instant::now() < end {
            cases += 1;
            let (mut case, mut rng) = (target.case(&scratch)?, random(request.seed, cases));
            let Err(failure) = try_case(&target, &mut case, &mut rng) else { continue };
            if !is_of_charz(&failure) {
                return Err(failure.within(part));
            }
            failed += 1;
            if failed <= KEPT {
                let kept = folder.join(format!("{part}-{cases}"));
                case.keep(&kept, &format!("seed {}, case {cases} of {part}; broken: {failure}", request.seed))?;
                eprintln!("{part} {cases}: broken: {failure}");
                first.get_or_insert(format!(", first {}", kept.join("case.txt").display()));
            }
        }
        println!("{part:<9}  {cases:>6} cases, {failed} failures{}", first.unwrap_or_default());
        failures += failed;
    }
    let _ = std::fs::remove_dir_all(scratch);
    // Where nothing was kept.
    let _ = std::fs::remove_dir(folder);
    if failures == 0 { Ok(()) } else { Err(Failure::found(format!("cases that break a law: {failures}"))) }
}

/// Any other failure is of this task.
fn is_of_charz(failure: &Failure) -> bool {
    failure.code == Failure::found("").code
}

/// Each case of a seed has its own.
fn random(seed: u64, case: u64) -> Rng {
    Rng::with_seed(Rng::with_seed(seed).u64(..).wrapping_add(case))
}

/// A build that checks for overflow.
fn build() -> Outcome<PathBuf> {
    process::run(workspace::cargo().args(["build", "--locked", "--package", "charz"]))?;
    Ok(workspace::built("debug").join("charz"))
}

impl Target {
    fn new(charz: PathBuf) -> Outcome<Self> {
        let ask = |words: &[&str]| process::read(Command::new(&charz).args(words));
        let Some(Grammar { verbs, codes }) = grammar::read(&ask(&["docs", "grammar"])?) else {
            return Err(Failure::found("`charz docs grammar` does not list commands and exit codes"));
        };
        let names = |words: &[&str], member: &str| -> Outcome<Vec<String>> {
            let list: Value = serde_json::from_str(&ask(words)?).unwrap_or_default();
            let names = list.as_array().into_iter().flatten().filter_map(|item| item[member].as_str());
            Ok(names.map(str::to_owned).collect())
        };
        let documents = names(&["replicate", "--list", "--json"], "document")?;
        let target = Target { verbs, codes, documents, bases: Vec::new(), charz };
        match target.formats("render").is_empty() || target.documents.is_empty() || target.codes.is_empty() {
            true => Err(Failure::found("charz lists no formats of render, no documents or no exit codes")),
            false => Ok(target),
        }
    }

    /// Writes the files that are changed.
    fn prepare(&mut self, scratch: &Path) -> Outcome {
        self.bases = reports::bases(self.case(scratch)?)?;
        Ok(())
    }

    fn case(&self, scratch: &Path) -> Outcome<Case<'_>> {
        Case::new(&self.charz, &self.codes, scratch.to_owned())
    }

    fn formats(&self, verb: &str) -> &[String] {
        self.verbs.iter().find(|found| found.words == [verb]).map_or(&[], Verb::formats)
    }
}

struct Request {
    charz: Option<PathBuf>,
    parts: Vec<Part>,
    seconds: u64,
    seed: u64,
    /// Whether charz is attacked with a defect planted in it, one after the other.
    plants: bool,
}

impl Request {
    fn parse(words: &[String]) -> Outcome<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as u64);
        let mut request = Request { charz: None, parts: Vec::new(), seconds: SECONDS, seed: now, plants: false };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| Failure::usage(format!("{word} needs a value")));
            match word.as_str() {
                "--planted" => request.plants = true,
                "--charz" => request.charz = Some(Path::new(value()?).into()),
                "--seconds" => request.seconds = number(word, value()?, &(1..=1_000_000))?,
                "--seed" => request.seed = number(word, value()?, &(0..=u64::MAX))?,
                name => match PARTS.iter().find(|(part, _)| *part == name) {
                    Some(part) => request.parts.push(*part),
                    None => {
                        let known = PARTS.map(|(part, _)| part).join(", ");
                        return Err(Failure::usage(format!("`attack` does not know {word:?}; the parts are {known}")));
                    }
                },
            }
        }
        if request.plants && !(request.parts.is_empty() && request.charz.is_none()) {
            return Err(Failure::usage("--planted takes --seconds and --seed only"));
        }
        if request.parts.is_empty() {
            request.parts.extend(PARTS);
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
        let names = |request: &Request| request.parts.iter().map(|(part, _)| *part).collect::<Vec<_>>();
        assert_eq!(names(&parsed("").unwrap()), PARTS.map(|(part, _)| part));
        let some = parsed("kills --seed 7 --seconds 5 --charz a reports").unwrap();
        assert_eq!(names(&some), ["kills", "reports"]);
        assert_eq!((some.seed, some.seconds, some.charz), (7, 5, Some("a".into())));
        assert!(parsed("--planted --seconds 30").unwrap().plants);
        for line in ["--seconds", "--seconds 0", "--seed x", "fuzz", "--quick", "--planted kills"] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
