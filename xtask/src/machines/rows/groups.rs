//! Control groups: what a group allows is what charz goes by.

use crate::machines::Machine;
use crate::machines::checks::{self, Checks, Expected};
use crate::machines::console::Transcript;
use xtask::json::Json;

const MIB: f64 = (1 << 20) as f64;

/// The CPUs that the partition takes from all others.
const PARTITION: [u32; 4] = [4, 5, 6, 7];

pub(super) fn script(_: &Machine) -> String {
    let sweep =
        "charz sweep --quiet --kernel mem-read --size 4MiB --mapping round-robin --iterations 1 --runs 1 --budget 1m";
    format!(
        "cd /sys/fs/cgroup\n\
         echo '+cpuset +cpu +memory +pids' > cgroup.subtree_control\n\
         mkdir quota most high few partition\n\
         echo '150000 100000' > quota/cpu.max\n\
         echo 256M > most/memory.max\n\
         echo 256M > high/memory.high\n\
         echo 40 > few/pids.max\n\
         echo 4-7 > partition/cpuset.cpus\n\
         echo 0 > partition/cpuset.mems\n\
         echo root > partition/cpuset.cpus.partition\n\
         cd /tmp\n\
         step partition cat /sys/fs/cgroup/partition/cpuset.cpus.partition\n\
         step topo-quota within quota charz topo --json\n\
         step topo-partition within partition charz topo --json\n\
         step topo-beside charz topo --json\n\
         step map-partition within partition charz map --mapping round-robin --threads 5 --format json\n\
         step map-beside charz map --mapping compact --threads 13 --format json\n\
         step most within most {sweep} --threads 1,60 --oversubscribed=8 --output most.json\n\
         step most-report cat most.json\n\
         step high within high {sweep} --threads 1,60 --oversubscribed=8 --output high.json\n\
         step high-report cat high.json\n\
         step few within few {sweep} --threads 1,60 --oversubscribed=8 --output few.json\n"
    )
}

pub(super) fn check(machine: &Machine, transcript: &Transcript, checks: &mut Checks) {
    checks.equal("partition", transcript.out("partition").map(str::trim), Ok("root"));
    let online = machine.strands();
    let (inside, beside): (Vec<_>, Vec<_>) = online.iter().copied().partition(|strand| PARTITION.contains(&strand.id));
    for (step, map, mapping, usable) in
        [("topo-partition", "map-partition", "round-robin", inside), ("topo-beside", "map-beside", "compact", beside)]
    {
        let expected = Expected { online: online.clone(), usable, nodes: machine.nodes };
        checks::topology(checks, transcript, step, &expected);
        checks::mapping(checks, transcript, map, mapping, &expected);
    }
    if let Some(topo) = checks.given(transcript.json("topo-quota")) {
        checks.equal("topo-quota: quota", topo["usable"]["quota_cpus"].number(), Some(1.5));
    }
    for step in ["most", "high"] {
        let Some(report) = limited(checks, transcript, step, "memory") else { continue };
        let available = report["host"]["memory"]["available_bytes"].number().unwrap_or(f64::INFINITY) / MIB;
        checks.holds(available <= 256.0, || {
            format!("{step}: {available:.0} MiB are available of the 256 MiB of the group")
        });
    }
    checks::refused(checks, transcript, "few", "pids.max of the control group is 40");
}

/// The sweep of a group that is too small for the second of its cells: the first has a number, the second the reason.
fn limited(checks: &mut Checks, transcript: &Transcript, step: &str, word: &str) -> Option<Json> {
    checks.given(transcript.out(step))?;
    let report = checks.given(transcript.json(&format!("{step}-report")))?;
    let [one, many] = report["derived"]["cells"].list() else {
        checks.holds(false, || format!("{step}: {} cells, not 2", report["derived"]["cells"].list().len()));
        return None;
    };
    checks.holds(one["value"] != Json::Null, || format!("{step}: one worker has no number: {}", one["reason"].text()));
    checks.equal(&format!("{step}: status of 60 workers"), many["status"].text(), "skipped");
    let reason = many["reason"].text();
    checks.holds(reason.contains(word), || format!("{step}: the reason does not name {word}: {reason:?}"));
    Some(report)
}
