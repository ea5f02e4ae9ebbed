//! A machine of which charz may use a part.

use crate::machines::Machine;
use crate::machines::checks::{self, Checks, Expected, Home};
use crate::machines::console::Transcript;

use super::whole;

const OFFLINE: u32 = 5;
const ALLOWED: [u32; 7] = [2, 3, 4, 6, 7, 8, 9];

/// Mappings but for the list, which names CPUs that are not there.
fn mappings() -> impl Iterator<Item = &'static str> {
    whole::MAPPINGS.into_iter().filter(|mapping| !mapping.starts_with("list:"))
}

pub(super) fn script(_: &Machine) -> String {
    let mut script = format!(
        "echo 0 > /sys/devices/system/cpu/cpu{OFFLINE}/online\n\
         cd /sys/fs/cgroup\n\
         echo '+cpuset +cpu' > cgroup.subtree_control\n\
         mkdir box half\n\
         for group in box half; do echo 2-9 > $group/cpuset.cpus; echo 0 > $group/cpuset.mems; done\n\
         echo '50000 100000' > half/cpu.max\n\
         cd /tmp\n\
         step topo within box charz topo --json\n\
         step topo-quota within half charz topo --json\n\
         step exec within box charz exec --quiet --threads 7 -- guest threads 7 2\n\
         step exec-beyond within box charz exec --quiet --mapping list:{OFFLINE} --threads 1 -- true\n\
         step exec-forbidden within box charz exec --quiet --mapping list:12 --threads 1 -- true\n"
    );
    for mapping in mappings() {
        script += &format!("step map-{mapping} within box charz map --mapping {mapping} --threads 9 --format json\n");
    }
    script + &whole::sweep("sweep", "within box", "--threads 1,7 --mapping round-robin")
}

pub(super) fn check(machine: &Machine, transcript: &Transcript, checks: &mut Checks) {
    let online: Vec<_> = machine.strands().into_iter().filter(|strand| strand.id != OFFLINE).collect();
    let usable = online.iter().filter(|strand| ALLOWED.contains(&strand.id)).copied().collect();
    let expected = Expected { online, usable, nodes: machine.nodes };
    for step in ["topo", "topo-quota"] {
        checks::topology(checks, transcript, step, &expected);
    }
    for (step, quota) in [("topo", None), ("topo-quota", Some(0.5))] {
        if let Some(topo) = checks.given(transcript.json(step)) {
            checks.equal(&format!("{step}: quota"), topo["usable"]["quota_cpus"].number(), quota);
            checks.equal(&format!("{step}: nodes of the cpuset"), topo["usable"]["memory"].text(), "0");
        }
    }
    checks::exec(checks, transcript, "exec", ("round-robin", 7), &expected, Home::Only(0));
    let offline = format!("CPU {OFFLINE} is offline");
    for (step, words) in [("exec-beyond", offline.as_str()), ("exec-forbidden", "CPU 12 is not allowed")] {
        checks::refused(checks, transcript, step, words);
    }
    for mapping in mappings() {
        checks::mapping(checks, transcript, &format!("map-{mapping}"), mapping, &expected);
    }
    checks::sweep(checks, transcript, "sweep", &expected, Home::Only(0));
}
