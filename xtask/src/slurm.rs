//! `slurm`: the guide for many nodes on a real Slurm of four nodes, on this machine.

use std::fs;
use std::path::Path;
use std::process::Command;

use xtask::packages::{self, HWLOC, Need};
use xtask::{Failure, Outcome, process, workspace};

const SLURM: Need =
    Need::new("slurmctld", "it is the batch system", ["slurmctld slurmd slurm-client munge", "", "", ""]);
const PYTHON: Need = Need::new("python3", "it reads the reports", ["python3"; 4]);

/// Starts the nodes, runs the guide on them, and ends them, whatever came of it.
pub fn start(words: &[String]) -> Outcome {
    if !words.is_empty() {
        return Err(Failure::usage("slurm takes no arguments"));
    }
    if !process::is_root() {
        return Err(Failure::environment("nodes with host names of their own need root"));
    }
    packages::ensure(&[HWLOC, SLURM, PYTHON])?;
    process::run(workspace::cargo().args(["build", "--release", "--locked", "--package", "charz"]))?;
    let failed = |what: &str, error| Failure::io(what.to_owned(), &error);
    let folder = workspace::target().join("tmp/slurm");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| failed("remove an old cluster", error))?;
    }
    fs::create_dir_all(folder.join("work")).map_err(|error| failed("make a folder", error))?;
    let scripts = workspace::root().join("xtask/src/slurm");
    let begun = process::run(bash(&scripts.join("cluster.sh")).arg(&folder));
    let done = begun.and_then(|()| process::run(&mut guide(&scripts, &folder)?));
    let _ = process::succeeds(&mut bash(&folder.join("stop.sh")));
    done
}

fn bash(script: &Path) -> Command {
    let mut command = Command::new("bash");
    command.arg(script);
    command
}

/// The program is found as a user's would be.
fn guide(scripts: &Path, folder: &Path) -> Outcome<Command> {
    let path = process::path_with(workspace::built("release"))?;
    let mut command = bash(&scripts.join("guide.sh"));
    command.arg(workspace::root()).current_dir(folder.join("work"));
    command.env("PATH", path).env("SLURM_CONF", folder.join("slurm.conf"));
    Ok(command)
}
