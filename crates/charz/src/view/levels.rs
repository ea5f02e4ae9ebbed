//! The levels that latencies show, and what contradicts a topology.

use std::io::{self, Write};

use charz_audit::{Contradiction, Latencies, Layout, Level, Undecided, Why};
use charz_data::cpulist;
use charz_data::escape::counted;
use charz_render::grid::columns;
use charz_render::json;
use charz_render::look::TerminalStyle;
use charz_render::wrapped;
use charz_topology::Machine;
use serde_json::{Value, json as object};

use super::{look, topo};

/// What was inferred from latencies.
pub struct Levels {
    pub latencies: Latencies,
    pub layout: Layout,
    /// A machine of these levels.
    pub machine: Machine,
    /// What contradicts the topology; `None` where none was named.
    pub contradictions: Option<Vec<Contradiction>>,
}

/// Shows the levels as a machine: the JSON has the levels, and the summary begins with them.
pub(crate) fn write(
    levels: &Levels,
    format: &topo::Format,
    look: &TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format.name {
        "json" => {
            json::write_compact(&as_json(levels), out)?;
            writeln!(out)
        }
        "summary" => {
            table(levels, look, out)?;
            if levels.layout.levels.is_empty() {
                return levels.machine.doubts.iter().try_for_each(|doubt| writeln!(out, "warning: {doubt}"));
            }
            writeln!(out)?;
            (format.write)(&levels.machine, look, out)
        }
        _ => (format.write)(&levels.machine, look, out),
    }
}

fn as_json(levels: &Levels) -> Value {
    let Levels { latencies, layout, contradictions, machine } = levels;
    let level = |level: &Level| {
        object!({
            "name": level.name.to_string(), "groups": level.groups, "confidence": level.confidence,
            "within_ns": level.within, "across_ns": level.across, "gap": level.gap,
        })
    };
    let open = |open: &Undecided| {
        let mut found = level(&open.level);
        found["cpus"] = object!(open.cpus);
        found["why"] = object!(match open.why {
            Why::Torn => "several_groups_fit",
            Why::InPart => "part_of_the_machine",
            Why::Crossing => "crosses_a_clearer_level",
        });
        found
    };
    let contradiction = |found: &Contradiction| object!({ "name": found.name.to_string(), "claimed": found.claimed, "measured": found.measured });
    object!({
        "source": machine.source, "cpus": latencies.ids(), "pairs": latencies.pairs().count(),
        "levels": layout.levels.iter().map(level).collect::<Vec<_>>(),
        "undecided": layout.undecided.iter().map(open).collect::<Vec<_>>(),
        "contradictions": contradictions.as_ref().map(|all| all.iter().map(contradiction).collect::<Vec<_>>()),
    })
}

/// The most groups of a level that are listed.
const MOST_LISTED: usize = 4;

/// A row for each level, from the innermost.
pub(crate) fn table(levels: &Levels, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let Levels { latencies, layout, contradictions, .. } = levels;
    let (cpus, pairs) = (latencies.len(), latencies.pairs().count());
    let of = counted(cpus, "CPU");
    let found = match layout.levels.len() {
        0 if cpus == 2 => "no level: two CPUs have one latency, and none to compare it with".to_owned(),
        0 => format!("no level below the whole: {of} are about as far from each other"),
        count => format!("{} by the latencies of {of}", counted(count, "level")),
    };
    let missing = cpus * (cpus - 1) / 2 - pairs;
    let missing = if missing > 0 { format!("; {} not known", counted(missing, "pair")) } else { String::new() };
    wrapped::hanging(&format!("{found}{missing}"), 0, look::paragraph(), out)?;
    if !layout.levels.is_empty() {
        let heading = ["level", "groups", "CPUs each", "within ns", "across ns", "confidence", "CPUs"];
        let rows: Vec<[String; 7]> = layout.levels.iter().map(row).collect();
        columns(&heading, &[0, heading.len() - 1], &[4, 3], &rows, look, out)?;
    }
    let agrees = contradictions.as_ref().is_some_and(Vec::is_empty) && !layout.levels.is_empty();
    if agrees {
        wrapped::hanging("No level contradicts the topology.", 0, look::paragraph(), out)?;
    }
    Ok(())
}

fn row(level: &Level) -> [String; 7] {
    let sizes = level.groups.iter().map(Vec::len);
    let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
    [
        level.name.to_string(),
        level.groups.len().to_string(),
        if least == most { most.to_string() } else { format!("{least}-{most}") },
        format!("{:.1}", level.within),
        format!("{:.1}", level.across),
        format!("{:.3}", level.confidence),
        listed(&level.groups),
    ]
}

/// The first groups, each as a list of CPUs.
fn listed(groups: &[Vec<u32>]) -> String {
    let lists: Vec<String> = groups.iter().take(MOST_LISTED).map(|group| cpulist::print(group)).collect();
    lists.join("  ") + if groups.len() > MOST_LISTED { "  ..." } else { "" }
}

/// What a description of the levels leaves open, and what contradicts a topology.
pub(crate) fn doubts(layout: &Layout, contradictions: &[Contradiction]) -> Vec<String> {
    let open = layout.undecided.iter().map(|open| {
        let (name, groups) = (open.level.name, counted(open.level.groups.len(), "group"));
        match open.why {
            Why::Torn => {
                let cpus = cpulist::print(&open.cpus);
                format!("{name} is undecided: {groups}, and CPUs {cpus} fit several of them or none")
            }
            Why::InPart => format!(
                "{name} is undecided: {groups}, and at most half of the CPUs are in larger groups than without it"
            ),
            Why::Crossing => format!("{name} is undecided: its {groups} cross those of a clearer level"),
        }
    });
    let against = contradictions.iter().map(|found| {
        let name = found.name;
        match found.claimed.is_empty() {
            true => format!(
                "latencies show {name} groups that the topology does not have: CPUs {}",
                listed(&found.measured)
            ),
            false if found.measured.is_empty() => {
                format!("the topology has {name} groups that latencies do not show: CPUs {}", listed(&found.claimed))
            }
            false => format!(
                "{name} differs: CPUs {} by the topology, CPUs {} by latencies",
                listed(&found.claimed),
                listed(&found.measured)
            ),
        }
    });
    open.chain(against).collect()
}
