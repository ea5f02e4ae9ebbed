//! Whether the attack finds what it is for: charz is built with one defect after the other, and each has to be found.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use xtask::{Failure, Outcome, process, workspace};

use super::{PARTS, Prepared, Request, Target, run, turns};
use crate::tree::{Plant, Tree};

const PLANTS: [Plant; 17] = [
    Plant {
        what: "the reader takes two cells that are the same",
        by: "directed",
        from: "keys.find(|key| !seen.insert(*key)) {",
        to: "keys.find(|key| !seen.insert(*key) && false) {",
    },
    Plant {
        what: "a control character of the second block steers the terminal",
        by: "directed",
        from: "matches!(mark, ' '..='~')",
        to: "matches!(mark, ' '..='~' | '\\u{80}'..='\\u{9f}')",
    },
    Plant {
        what: "a line of the journal does not wait for the disk",
        by: "directed",
        from: "self.file.write_all(&line).and_then(|()| self.file.sync_data())",
        to: "self.file.write_all(&line)",
    },
    Plant {
        what: "a program outlives the charz exec that is killed",
        by: "directed",
        from: "    | libc::PTRACE_O_EXITKILL;",
        to: "    | 0;",
    },
    Plant {
        what: "an archive is read whatever it grows to",
        by: "directed",
        from: "if packed && length > ANY_RATIO && ratio > MOST_RATIO {",
        to: "if packed && length > ANY_RATIO && ratio > u64::MAX - MOST_RATIO {",
    },
    Plant {
        what: "a report leaves the file that it was written to first",
        by: "reports",
        from: "    let file = temporary(path, mode)?;\n",
        to: "    let file = temporary(path, mode)?;\n    let _ = temporary(path, mode)?.keep();\n",
    },
    Plant {
        what: "the last line of a journal is lost",
        by: "kills",
        from: "    Ok(recovered)\n}",
        to: "    recovered.records.pop();\n    Ok(recovered)\n}",
    },
    Plant {
        what: "a wrong command line has an exit code that no page names",
        by: "arguments",
        from: "ExitCode::from(exit.code())",
        to: "ExitCode::from(if exit.code() == 2 { 64 } else { exit.code() })",
    },
    Plant {
        what: "a history takes reports of other machines",
        by: "directed",
        from: "if let Some(difference) = other_machine([&first.report, report]) {",
        to: "if let Some(difference) = other_machine([report, report]) {",
    },
    Plant {
        what: "a list of CPUs that is too long ends in a panic",
        by: "directed",
        from: "        .filter(|id| *id <= MAX_ID)\n",
        to: "        .inspect(|id: &u32| assert!(*id <= MAX_ID))\n",
    },
    Plant {
        what: "a program that another user's report names is started",
        by: "neighbour",
        from: "    if !is_typed && !trusted {\n",
        to: "    if !is_typed && !trusted && false {\n",
    },
    Plant {
        what: "reading a collection writes into it what another user put beside it",
        by: "neighbour",
        from: "        refuse_others_aside(path, layout)?;\n        let mut database = Database::connect(path, path, OpenFlags::SQLITE_OPEN_READ_ONLY, layout)?;",
        to: "        let mut database = Database::connect(path, path, OpenFlags::SQLITE_OPEN_READ_WRITE, layout)?;",
    },
    Plant {
        what: "a thread that the system refuses is a panic",
        by: "limits",
        from: "let _ = thread::Builder::new().spawn_scoped(scope, help);",
        to: "thread::Builder::new().spawn_scoped(scope, help).unwrap();",
    },
    Plant {
        what: "a set-up has no time in the last second of a budget",
        by: "budgets",
        from: "    time_box.saturating_add(LEAST_DEADLINE)\n",
        to: "    time_box.saturating_sub(Duration::from_secs(1))\n",
    },
    Plant {
        what: "what a set-up left running outlives the sweep",
        by: "directed",
        from: "            others.kill_new();\n        }\n        let Talk",
        to: "            let _ = others;\n        }\n        let Talk",
    },
    Plant {
        what: "a mark that turns the direction of a text reaches the terminal",
        by: "directed",
        from: "mark if is_harmless(mark) => quoted.push(mark),",
        to: "mark if is_harmless(mark) || !mark.is_control() => quoted.push(mark),",
    },
    Plant {
        what: "a quiet sweep that fails says nothing",
        by: "directed",
        from: "why(&shown, exit).filter(|_| session.quiet)",
        to: "why(&shown, exit).filter(|_| !session.quiet)",
    },
];

/// How many may be missed.
const MISSED: usize = 1;

/// Attacks charz as it is, and then with each defect until it is found: each time with the counts of this time.
pub fn all(request: &Request) -> Outcome {
    Plant::check(&PLANTS)?;
    let tree = Tree::of_checkout(workspace::target().join("planted/source"))?;
    let sound = build(&tree)?;
    // What is changed later was written without a defect.
    let mut target = Target::new(sound.clone())?;
    target.prepare(&scratch(), &turns(request))?;
    let (prepared, each) = (target.prepared, Duration::from_secs(request.seconds));
    if let Some(found) = hunt(&sound, &prepared, request)?.broken {
        return Err(Failure::found(format!("without a planted defect: {found}")));
    }
    println!("{:>7.1} s  nothing  without a planted defect", each.as_secs_f64());
    let (mut found, mut tried) = (0, 0);
    for plant in &PLANTS {
        if let Some(why) = PARTS.iter().find(|part| part.name == plant.by).and_then(|part| (part.lacks)().err()) {
            println!("           not tried: {}: {} is not run: {why}", plant.what, plant.by);
            continue;
        }
        let Hunt { cases, took, broken } = tree.with(plant, || hunt(&build(&tree)?, &prepared, request))?;
        (found, tried) = (found + usize::from(broken.is_some()), tried + 1);
        let verdict = if broken.is_some() { "found" } else { "MISSED" };
        let by = broken.map_or_else(String::new, |by| format!(" ({by})"));
        println!("{:>7.1} s  {verdict:<7}  {}: case {cases}{by}", took.as_secs_f64(), plant.what);
    }
    println!("{found} of {tried} planted defects are found");
    match found + MISSED >= tried {
        true => Ok(()),
        false => Err(Failure::found(format!("no more than {MISSED} may be missed"))),
    }
}

fn scratch() -> PathBuf {
    workspace::target().join("planted/scratch")
}

struct Hunt {
    cases: u64,
    took: Duration,
    /// The part and the law.
    broken: Option<String>,
}

/// An attack that ends with the first case that breaks a law.
fn hunt(charz: &Path, prepared: &Prepared, request: &Request) -> Outcome<Hunt> {
    let (start, scratch) = (Instant::now(), scratch());
    let broken = Mutex::new(None);
    let cases = match Target::new(charz.to_owned()) {
        Err(failure) => {
            return Ok(Hunt { broken: Some(format!("what it lists: {failure}")), cases: 0, took: start.elapsed() });
        }
        Ok(target) => {
            let target = Target { prepared: prepared.clone(), ..target };
            let turns = run(&target, request, &scratch, turns(request), |turn, _, _, failure| {
                *broken.lock().expect("it does not panic") = Some(format!("{}: {failure}", turn.part.name));
                Ok(false)
            })?;
            turns.iter().map(|turn| turn.cases).sum()
        }
    };
    Ok(Hunt { cases, took: start.elapsed(), broken: broken.into_inner().expect("it does not panic") })
}

/// Builds a tree's charz.
fn build(tree: &Tree) -> Outcome<PathBuf> {
    let target = workspace::target().join("planted/target");
    let mut cargo = workspace::cargo();
    cargo
        .args(["build", "--quiet", "--locked", "--package", "charz", "--manifest-path"])
        .arg(tree.path().join("Cargo.toml"));
    process::run(cargo.env("CARGO_TARGET_DIR", &target).env("CARGO_PROFILE_DEV_DEBUG", "false"))?;
    Ok(target.join("debug/charz"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_defect_still_has_its_place() {
        Plant::check(&PLANTS).unwrap();
        for plant in &PLANTS {
            assert!(PARTS.iter().any(|part| part.name == plant.by), "{}", plant.by);
        }
    }
}
