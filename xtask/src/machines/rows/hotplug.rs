//! CPUs that go offline during a sweep and come back.

use crate::machines::Machine;
use crate::machines::checks::{self, Checks};
use crate::machines::console::Transcript;
use xtask::json::Json;

/// The CPU that goes, and comes back.
const CPU: u32 = 3;

/// A second CPU goes for good.
const GONE: u32 = 9;

pub(super) fn script(_: &Machine) -> String {
    let sweep = |name: &str, mapping: &str, invocations: u32| {
        format!(
            "step {name} charz sweep --quiet --kernel arith-int --threads 1,2 --mapping {mapping} --steps 300000 --iterations 4 \
             --runs {invocations} --budget 1m --output {name}.json\nstep {name}-report cat {name}.json\n"
        )
    };
    // A sweep has begun when its journal is there.
    let begun = |name: &str| format!("until ls -A | grep -q {name}.json; do sleep 0.1; done; sleep 4");
    let switch = |cpu: u32, on: u32| format!("echo {on} > /sys/devices/system/cpu/cpu{cpu}/online");
    format!(
        "({}; {}; sleep 3; {}) &\n{}({}; {}) &\n{}",
        begun("returns"),
        switch(CPU, 0),
        switch(CPU, 1),
        sweep("returns", &format!("list:0,{CPU}"), 6),
        begun("leaves"),
        switch(GONE, 0),
        sweep("leaves", &format!("list:0,{GONE}"), 3),
    )
}

pub(super) fn check(_: &Machine, transcript: &Transcript, checks: &mut Checks) {
    for (step, cpu) in [("returns", CPU), ("leaves", GONE)] {
        let Some(report) = checks.given(transcript.json(&format!("{step}-report"))) else { continue };
        for (cell, derived) in report["cells"].list().iter().zip(report["derived"]["cells"].list()) {
            let has_number = derived["value"] != Json::Null;
            let is_hit = cell["seats"].ids().contains(&cpu);
            let what = checks::label(step, cell);
            checks.holds(has_number || (is_hit && step == "leaves"), || {
                format!("{what}: no number: {}", derived["reason"].text())
            });
            if is_hit {
                named(checks, &what, [cell, derived], cpu);
            } else {
                // One that was running when the CPU went or came is made again.
                let mut failed = failures(cell);
                failed.retain(|reason| !reason.starts_with("the machine changed meanwhile: online strands"));
                checks.holds(failed.is_empty(), || format!("{what}: runs failed without CPU {cpu}: {failed:?}"));
            }
        }
    }
}

/// What ended the runs of a cell that have no number.
fn failures(cell: &Json) -> Vec<String> {
    let invocations = cell["runs"].list().iter();
    let reasons = invocations.map(|invocation| invocation["reason"].text()).filter(|reason| !reason.is_empty());
    reasons.map(str::to_owned).collect()
}

/// The words for a CPU that is not there.
fn named(checks: &mut Checks, what: &str, [cell, derived]: [&Json; 2], cpu: u32) {
    let mut words = failures(cell);
    words.push(derived["reason"].text().to_owned());
    words.extend(derived["marks"].list().iter().map(|mark| mark["reason"].text().to_owned()));
    let sentence = format!("CPU {cpu} is offline");
    checks.holds(words.iter().any(|text| text.contains(&sentence)), || {
        format!("{what}: nothing says {sentence:?}: {words:?}")
    });
}
