//! A machine without limits: every command, on all of its CPUs.

use crate::machines::Machine;
use crate::machines::checks::{self, Checks, Expected, Home};
use crate::machines::console::Transcript;

pub(super) const MAPPINGS: [&str; 6] = ["round-robin", "numa", "dumb", "compact", "one-per-core", "list:3,1,7,2"];

/// Those with which threads are started.
const STARTED: [&str; 2] = ["round-robin", "compact"];

pub(super) fn script(machine: &Machine) -> String {
    let all = machine.strands().len();
    let mut script = "step topo charz topo --json\n".to_owned();
    for mapping in MAPPINGS {
        script += &format!("step map-{mapping} charz map --mapping {mapping} --threads {all} --format json\n");
    }
    for mapping in STARTED {
        script += &format!(
            "step exec-{mapping} charz exec --quiet --mapping {mapping} --threads {all} -- guest threads {all} 2\n"
        );
    }
    script += "step exec-memory charz exec --quiet --threads 4 --memory node:1 -- guest threads 4 2\n";
    // Workers that measure spin until all are there. An emulator of many CPUs runs one after the other, each for a tenth of a second.
    if machine.is_large() {
        return script + "step watch charz watch --format json 1 1\n";
    }
    script += &sweep("sweep", "", &format!("--threads {all} --mapping round-robin"));
    script += &sweep("sweep-compact", "", "--threads 3 --mapping compact");
    script += &sweep("sweep-memory", "", "--threads 2 --mapping round-robin --memory node:1");
    script += "step budget charz sweep --quiet --kernel arith-int --threads 1,2 --mapping round-robin --budget 5s --output budget.json\n";
    script + "step audit charz audit --json --budget 6s\n"
}

/// Steps that sweep with a short run per cell, so processes can be watched, and print the report. `within` begins the command.
pub(super) fn sweep(name: &str, within: &str, options: &str) -> String {
    format!(
        "step {name} {within} guest watch charz sweep --quiet --kernel mem-read --size 4MiB --steps 5 --iterations 3 --runs 1 \
         --budget 1m {options} --output {name}.json\nstep {name}-report cat {name}.json\n"
    )
}

pub(super) fn check(machine: &Machine, transcript: &Transcript, checks: &mut Checks) {
    let strands = machine.strands();
    let all = strands.len();
    let expected = Expected { online: strands.clone(), usable: strands, nodes: machine.nodes };
    checks::topology(checks, transcript, "topo", &expected);
    for mapping in MAPPINGS {
        checks::mapping(checks, transcript, &format!("map-{mapping}"), mapping, &expected);
    }
    for mapping in STARTED {
        checks::exec(checks, transcript, &format!("exec-{mapping}"), (mapping, all), &expected, Home::Local);
    }
    checks::exec(checks, transcript, "exec-memory", ("round-robin", 4), &expected, Home::Node(1));
    if machine.is_large() {
        checks::watch(checks, transcript, "watch", &expected);
    } else {
        checks::sweep(checks, transcript, "sweep", &expected, Home::Local);
        checks::sweep(checks, transcript, "sweep-compact", &expected, Home::Local);
        checks::sweep(checks, transcript, "sweep-memory", &expected, Home::Node(1));
        checks::budget(checks, transcript, "budget", 5.0);
        checks::budget(checks, transcript, "audit", 6.0);
        checks::audit(checks, transcript, "audit");
    }
}
