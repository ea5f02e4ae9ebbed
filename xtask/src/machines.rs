//! `machines`: charz on machines that are not here. QEMU's emulator boots a Linux with the sockets, threads and NUMA nodes of a
//! row, in which a script runs charz; what it printed is checked here. Times mean nothing in an emulator, so no check is about speed.

mod boot;
mod checks;
mod console;
pub mod debian;
mod initramfs;
mod rows;
mod shape;

use std::time::{Duration, Instant};

use xtask::{Failure, Outcome, packages, workspace};

use boot::{Architecture, System};
use checks::Checks;
use console::Transcript;
use rows::MACHINES;
use shape::{Node, Shape, Strand};

/// What is between NUMA nodes, by the firmware's table.
const DISTANCE: u32 = 21;

/// A row of the table.
struct Machine {
    name: &'static str,
    about: &'static str,
    architecture: Architecture,
    shape: Shape,
    nodes: &'static [Node],
    /// What the machine runs, as a script of a shell.
    script: fn(&Machine) -> String,
    /// What has to hold of what it printed.
    checks: fn(&Machine, &Transcript, &mut Checks),
}

impl Machine {
    fn strands(&self) -> Vec<Strand> {
        self.shape.strands(self.nodes)
    }

    /// Whether it has so many CPUs that they are emulated one after the other.
    fn is_large(&self) -> bool {
        self.strands().len() > 16
    }
}

struct Result {
    checks: Checks,
    took: Duration,
}

pub fn start(words: &[String]) -> Outcome {
    if words == ["--list"] {
        MACHINES.iter().for_each(|machine| println!("{:<12}  {}", machine.name, machine.about));
        return Ok(());
    }
    let chosen = chosen(words)?;
    packages::ensure(&boot::QEMU)?;
    let width = chosen.iter().map(|machine| machine.name.len()).max().unwrap_or(0);
    let mut failed = Vec::new();
    let mut systems: Vec<(Architecture, System)> = Vec::new();
    for machine in &chosen {
        if systems.iter().all(|(architecture, _)| *architecture != machine.architecture) {
            systems.push((machine.architecture, System::new(machine.architecture)?));
        }
    }
    for machine in chosen {
        let system = systems.iter().find(|(architecture, _)| *architecture == machine.architecture);
        let result = system.map(|(_, system)| run(machine, system)).transpose()?;
        let Some(Result { checks, took }) = result else { continue };
        let verdict = if checks.failed.is_empty() { "passed" } else { "FAILED" };
        println!("{:width$}  {:>5} checks  {verdict}  {:>5.1} s", machine.name, checks.made, took.as_secs_f64());
        checks.failed.iter().for_each(|sentence| println!("{:width$}  {sentence}", ""));
        if !checks.failed.is_empty() {
            failed.push(machine.name);
        }
    }
    match failed[..] {
        [] => Ok(()),
        _ => Err(Failure::found(format!("{} failed; consoles are in target/machines", failed.join(", ")))),
    }
}

/// Installs the emulators, and fetches what each architecture boots.
pub fn prepare() -> Outcome {
    packages::ensure(&boot::QEMU)?;
    [Architecture::X86, Architecture::Arm].into_iter().try_for_each(|architecture| architecture.debian().map(drop))
}

fn chosen(names: &[String]) -> Outcome<Vec<&'static Machine>> {
    let find = |name: &String| {
        let known = || MACHINES.iter().map(|machine| machine.name).collect::<Vec<_>>().join(", ");
        let found = MACHINES.iter().find(|machine| machine.name == name);
        found.ok_or_else(|| Failure::usage(format!("there is no machine {name:?}; there are {}", known())))
    };
    if names.is_empty() { Ok(MACHINES.iter().collect()) } else { names.iter().map(find).collect() }
}

fn run(machine: &Machine, system: &System) -> Outcome<Result> {
    let start = Instant::now();
    let console = boot::boot(machine, system, &workspace::target().join("machines").join(machine.name))?;
    let transcript = Transcript::read(&console);
    let mut checks = Checks::default();
    checks.holds(transcript.ended, || match &transcript.unfinished {
        Some(step) => format!("{step}: did not end"),
        None => "the machine did not run its script to the end".to_owned(),
    });
    (machine.checks)(machine, &transcript, &mut checks);
    Ok(Result { checks, took: start.elapsed() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_unknown_ones_are_refused() {
        for (at, machine) in MACHINES.iter().enumerate() {
            assert!(MACHINES[..at].iter().all(|other| other.name != machine.name), "{} twice", machine.name);
        }
        assert_eq!(chosen(&["no-such-machine".to_owned()]).err().map(|failure| failure.code), Some(2));
        assert_eq!(chosen(&[]).unwrap().len(), MACHINES.len());
    }
}
