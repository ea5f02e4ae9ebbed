//! Whether the attack finds what it is for: charz is built with one defect after the other, and each has to be found.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use xtask::{Failure, Outcome, process, workspace};

use super::reports::Base;
use super::{PARTS, Request, Target, is_of_charz, random};

/// A defect: what is wrong, and the change of a file that makes it so.
struct Plant {
    what: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
}

const PLANTS: [Plant; 10] = [
    Plant {
        what: "the reader takes two cells that are the same",
        file: "crates/data/src/report/read.rs",
        from: "keys.find(|key| !seen.insert(*key)) {",
        to: "keys.find(|key| !seen.insert(*key) && false) {",
    },
    Plant {
        what: "a control character of the second block steers the terminal",
        file: "crates/data/src/escape.rs",
        from: "matches!(mark, ' '..='~')",
        to: "matches!(mark, ' '..='~' | '\\u{80}'..='\\u{9f}')",
    },
    Plant {
        what: "a line of the journal does not wait for the disk",
        file: "crates/measure/src/journal.rs",
        from: "self.file.write_all(&line).and_then(|()| self.file.sync_data())",
        to: "self.file.write_all(&line)",
    },
    Plant {
        what: "a program outlives the charz exec that is killed",
        file: "crates/launch/src/sys/trace.rs",
        from: "    | libc::PTRACE_O_EXITKILL;",
        to: "    | 0;",
    },
    Plant {
        what: "an archive is read whatever it grows to",
        file: "crates/data/src/report/read.rs",
        from: "if packed && length > ANY_RATIO && ratio > MOST_RATIO {",
        to: "if packed && length > ANY_RATIO && ratio > u64::MAX - MOST_RATIO {",
    },
    Plant {
        what: "a report leaves the file that it was written to first",
        file: "crates/measure/src/atomic_file.rs",
        from: "    let file = temporary(path, mode)?;\n",
        to: "    let file = temporary(path, mode)?;\n    let _ = temporary(path, mode)?.keep();\n",
    },
    Plant {
        what: "the last line of a journal is lost",
        file: "crates/measure/src/journal.rs",
        from: "    Ok(recovered)\n}",
        to: "    recovered.records.pop();\n    Ok(recovered)\n}",
    },
    Plant {
        what: "a wrong command line has an exit code that no page names",
        file: "crates/charz/src/program.rs",
        from: "ExitCode::from(exit.code())",
        to: "ExitCode::from(if exit.code() == 2 { 64 } else { exit.code() })",
    },
    Plant {
        what: "a history takes reports of other machines",
        file: "crates/charz/src/history.rs",
        from: "if let Some(difference) = other_machine(&first.report, report) {",
        to: "if let Some(difference) = other_machine(report, report) {",
    },
    Plant {
        what: "a list of CPUs that is too long ends in a panic",
        file: "crates/data/src/cpulist.rs",
        from: "        .filter(|id| *id <= MAX_ID)\n",
        to: "        .inspect(|id: &u32| assert!(*id <= MAX_ID))\n",
    },
];

/// How many have to be found.
const ENOUGH: usize = 9;

/// Attacks charz as it is, for as long as the others may take each, and then with each defect until it is found.
pub fn all(request: &Request) -> Outcome {
    let tree = Tree::export()?;
    let each = Duration::from_secs(request.seconds);
    let sound = tree.build()?;
    // What is changed later was written without a defect.
    let mut target = Target::new(sound.clone())?;
    target.prepare(&scratch())?;
    let bases = target.bases;
    if let Some(found) = hunt(&sound, &bases, request.seed, each)?.broken {
        return Err(Failure::found(format!("without a planted defect: {found}")));
    }
    println!("{:>7.1} s  nothing  without a planted defect", each.as_secs_f64());
    let mut found = 0;
    for plant in &PLANTS {
        let Hunt { cases, took, broken } = tree.with(plant, |charz| hunt(charz, &bases, request.seed, each))?;
        found += usize::from(broken.is_some());
        let verdict = if broken.is_some() { "found" } else { "MISSED" };
        let by = broken.map_or_else(String::new, |by| format!(" ({by})"));
        println!("{:>7.1} s  {verdict:<7}  {}: case {cases}{by}", took.as_secs_f64(), plant.what);
    }
    println!("{found} of {} planted defects are found", PLANTS.len());
    if found >= ENOUGH { Ok(()) } else { Err(Failure::found(format!("at least {ENOUGH} have to be found"))) }
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

/// A case of the part that had the least time so far, until one breaks a law or time is up.
fn hunt(charz: &Path, bases: &[Base], seed: u64, most: Duration) -> Outcome<Hunt> {
    let (start, scratch) = (Instant::now(), scratch());
    let mut hunt = Hunt { cases: 0, took: Duration::ZERO, broken: None };
    let mut target = match Target::new(charz.to_owned()) {
        Ok(target) => target,
        Err(failure) => {
            return Ok(Hunt { broken: Some(format!("what it lists: {failure}")), took: start.elapsed(), ..hunt });
        }
    };
    target.bases = bases.to_vec();
    let mut had = [Duration::ZERO; PARTS.len()];
    while hunt.broken.is_none() && start.elapsed() < most {
        let turn = (0..PARTS.len()).min_by_key(|part| had[*part]).unwrap_or(0);
        let ((part, try_case), begun) = (PARTS[turn], Instant::now());
        hunt.cases += 1;
        match try_case(&target, &mut target.case(&scratch)?, &mut random(seed, hunt.cases)) {
            Err(failure) if is_of_charz(&failure) => hunt.broken = Some(format!("{part}: {failure}")),
            tried => tried?,
        }
        had[turn] += begun.elapsed();
    }
    let _ = fs::remove_dir_all(scratch);
    Ok(Hunt { took: start.elapsed(), ..hunt })
}

/// A copy of the files that git knows, as they are now. It is kept between runs, so the next one builds only what changed.
struct Tree(PathBuf);

impl Tree {
    fn export() -> Outcome<Self> {
        let root = workspace::root();
        let tree = workspace::target().join("planted/source");
        let known = process::read(Command::new("git").current_dir(root).args(["ls-files", "--cached"]))?;
        for file in known.lines() {
            let (from, to) = (root.join(file), tree.join(file));
            let Ok(bytes) = fs::read(&from) else { continue };
            write(&to, &bytes)?;
        }
        Ok(Tree(tree))
    }

    fn build(&self) -> Outcome<PathBuf> {
        let target = workspace::target().join("planted/target");
        let mut cargo = workspace::cargo();
        cargo
            .args(["build", "--quiet", "--locked", "--package", "charz", "--manifest-path"])
            .arg(self.0.join("Cargo.toml"));
        process::run(cargo.env("CARGO_TARGET_DIR", &target).env("CARGO_PROFILE_DEV_DEBUG", "false"))?;
        Ok(target.join("debug/charz"))
    }

    /// Does something with a build that has the defect.
    fn with<T>(&self, plant: &Plant, work: impl FnOnce(&Path) -> Outcome<T>) -> Outcome<T> {
        let path = self.0.join(plant.file);
        let sound = fs::read_to_string(&path).map_err(|error| Failure::io(format!("read {path:?}"), &error))?;
        let broken = planted(plant, &sound)?;
        write(&path, broken.as_bytes())?;
        let worked = self.build().and_then(|charz| work(&charz));
        write(&path, sound.as_bytes())?;
        worked
    }
}

fn planted(plant: &Plant, sound: &str) -> Outcome<String> {
    match sound.matches(plant.from).count() {
        1 => Ok(sound.replace(plant.from, plant.to)),
        count => Err(Failure::found(format!("{}: {:?} is there {count} times, not once", plant.file, plant.from))),
    }
}

/// Writes a file if it is another one: cargo builds again what is newer.
fn write(path: &Path, bytes: &[u8]) -> Outcome {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    let failed = |error| Failure::io(format!("write {path:?}"), &error);
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    fs::write(path, bytes).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_defect_still_has_its_place() {
        for plant in &PLANTS {
            let sound = fs::read_to_string(workspace::root().join(plant.file)).unwrap();
            assert_ne!(planted(plant, &sound).unwrap(), sound);
        }
    }
}
