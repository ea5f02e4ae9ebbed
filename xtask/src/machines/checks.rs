//! What has to hold of what a machine printed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use super::console::Transcript;
use super::shape::{self, Node, Strand};
use xtask::json::Json;

/// Checks that were made, and a sentence for each that failed.
#[derive(Default)]
pub(super) struct Checks {
    pub(super) made: usize,
    pub(super) failed: Vec<String>,
}

impl Checks {
    pub(super) fn holds(&mut self, holds: bool, sentence: impl FnOnce() -> String) {
        self.made += 1;
        if !holds {
            self.failed.push(sentence());
        }
    }

    pub(super) fn equal<T: PartialEq + Debug>(&mut self, what: &str, found: T, expected: T) {
        self.holds(found == expected, || format!("{what}: {found:?}, not {expected:?}"));
    }

    /// What is there is checked further; what is not is a failure.
    pub(super) fn given<T>(&mut self, result: Result<T, String>) -> Option<T> {
        self.made += 1;
        result.map_err(|sentence| self.failed.push(sentence)).ok()
    }
}

/// What charz has to find: the strands that the system shows, those of them that the process may use, and the NUMA nodes.
pub(super) struct Expected<'a> {
    pub(super) online: Vec<Strand>,
    pub(super) usable: Vec<Strand>,
    pub(super) nodes: &'a [Node],
}

impl Expected<'_> {
    /// The node that pages have to be on; `None` where there is no memory, so any node is right.
    fn home(&self, home: Home, seat: u32) -> Option<u32> {
        let node = match home {
            Home::Local => self.online.iter().find(|strand| strand.id == seat)?.node,
            Home::Node(node) | Home::Only(node) => node,
        };
        self.nodes.get(node as usize).filter(|found| found.mib > 0).map(|_| node)
    }

    fn seats(&self, mapping: &str, workers: usize) -> Option<Vec<u32>> {
        shape::order(mapping, &self.usable).map(|order| shape::seats(&order, workers))
    }
}

/// The strands, cores, packages and nodes that `charz topo --json` printed, each id as booted.
pub(super) fn topology(checks: &mut Checks, transcript: &Transcript, step: &str, expected: &Expected<'_>) {
    let Some(topo) = checks.given(transcript.json(step)) else { return };
    let Expected { online, usable, nodes } = expected;
    let usable: Vec<u32> = usable.iter().map(|strand| strand.id).collect();
    let strands = topo["strands"].list();
    checks.equal("topo: ids of strands", os_ids(strands), online.iter().map(|strand| strand.id).collect());
    let packages = os_ids(topo["packages"].list());
    let node_ids = os_ids(topo["numa_nodes"].list());
    for (found, strand) in strands.iter().zip(online) {
        let named = |ids: &[u32], name: &str| found[name].id().and_then(|at| ids.get(at as usize).copied());
        let what = |part: &str| format!("topo: {part} of CPU {}", strand.id);
        checks.equal(&what("socket"), named(&packages, "package"), Some(strand.package));
        checks.equal(&what("NUMA node"), named(&node_ids, "numa"), Some(strand.node));
        checks.equal(&what("usable"), &found["usable"], &Json::Bool(usable.contains(&strand.id)));
    }
    let cores: Vec<Option<u32>> = strands.iter().map(|strand| strand["core"].id()).collect();
    checks.equal(
        "topo: strands by core",
        grouped(&cores),
        grouped(&online.iter().map(|s| Some(s.core)).collect::<Vec<_>>()),
    );
    let expected: Vec<u32> = (0..nodes.len() as u32).collect();
    checks.equal("topo: ids of NUMA nodes", &node_ids, &expected);
    for (node, found) in nodes.iter().zip(topo["numa_nodes"].list()) {
        // Null is a node without memory.
        let mib = found["memory_bytes"].number().unwrap_or(0.0) / f64::from(1 << 20);
        // The kernel keeps some for itself.
        let range = f64::from(node.mib) * 0.7..=f64::from(node.mib);
        checks.holds(range.contains(&mib), || format!("topo: a NUMA node of {} MiB has {mib:.0} MiB", node.mib));
        let strands =
            online.iter().filter(|strand| node.cpus.is_some_and(|(first, last)| (first..=last).contains(&strand.id)));
        checks.equal("topo: strands of a NUMA node", found["strands"].id(), Some(strands.count() as u32));
    }
    let usable_count = topo["usable"]["strands"].id();
    checks.equal("topo: strands that may be used", usable_count, Some(usable.len() as u32));
}

fn os_ids(objects: &[Json]) -> Vec<u32> {
    objects.iter().filter_map(|object| object["os_id"].id()).collect()
}

/// Which places of a list hold the same value.
fn grouped<T: Ord>(values: &[T]) -> BTreeSet<Vec<usize>> {
    let mut groups: BTreeMap<&T, Vec<usize>> = BTreeMap::new();
    values.iter().enumerate().for_each(|(at, value)| groups.entry(value).or_default().push(at));
    groups.into_values().collect()
}

/// The seats that `charz map` printed, in a step called after the mapping.
pub(super) fn mapping(
    checks: &mut Checks,
    transcript: &Transcript,
    step: &str,
    mapping: &str,
    expected: &Expected<'_>,
) {
    if let Some(map) = checks.given(transcript.json(step)) {
        let seats = expected.seats(mapping, map["threads"].id().unwrap_or(0) as usize);
        checks.equal(step, Some(map["seats"].ids()), seats);
    }
}

/// A thread, and where it was seen.
#[derive(Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) mask: Vec<u32>,
    pub(super) cpu: u32,
}

/// What the probe saw of a process: its workers by rank, and its pages by NUMA node.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Process {
    pub(super) workers: BTreeMap<u32, Seen>,
    pub(super) pages: BTreeMap<u32, u64>,
}

/// Of `worker PID RANK mask LIST cpu N` and `memory PID pages NODE:COUNT,…`; of `rank R mask LIST cpu N pages …` as process 0.
pub(super) fn processes(probe: &str) -> BTreeMap<u32, Process> {
    let mut processes: BTreeMap<u32, Process> = BTreeMap::new();
    for line in probe.lines() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["worker", pid, rank, "mask", mask, "cpu", cpu] => {
                if let (Ok(pid), Ok(rank), Ok(cpu)) = (pid.parse(), rank.parse(), cpu.parse()) {
                    let process = processes.entry(pid).or_default();
                    process.workers.insert(rank, Seen { mask: shape::ids(mask), cpu });
                }
            }
            ["memory", pid, "pages", pages] => {
                if let Ok(pid) = pid.parse() {
                    processes.entry(pid).or_default().pages = counted(pages);
                }
            }
            ["rank", rank, "mask", mask, "cpu", cpu, "pages", pages] => {
                if let (Ok(rank), Ok(cpu)) = (rank.parse::<u32>(), cpu.parse()) {
                    let process = processes.entry(rank).or_default();
                    process.workers.insert(rank, Seen { mask: shape::ids(mask), cpu });
                    process.pages = counted(pages);
                }
            }
            _ => {}
        }
    }
    processes
}

fn counted(pages: &str) -> BTreeMap<u32, u64> {
    let pair = |word: &str| {
        let (node, count) = word.split_once(':')?;
        Some((node.parse().ok()?, count.parse().ok()?))
    };
    pages.split(',').filter_map(pair).collect()
}

/// Where pages have to be.
#[derive(Clone, Copy)]
pub(super) enum Home {
    /// On the node of the CPU that touches them first.
    Local,
    Node(u32),
    /// On the only node that the cpuset leaves, which nothing asked for.
    Only(u32),
}

/// Every thread of a program that `charz exec` started has the mask of its seat, is on that CPU, and its pages are where they
/// should be.
pub(super) fn exec(
    checks: &mut Checks,
    transcript: &Transcript,
    step: &str,
    (mapping, threads): (&str, usize),
    expected: &Expected<'_>,
    home: Home,
) {
    let Some(out) = checks.given(transcript.out(step)) else { return };
    let (seen, seats) = (processes(out), expected.seats(mapping, threads).unwrap_or_default());
    checks.equal(&format!("{step}: threads"), seen.len(), seats.len());
    for (rank, seat) in seats.iter().enumerate() {
        let Some(process) = seen.get(&(rank as u32)) else { continue };
        for (rank, worker) in &process.workers {
            placed(checks, &format!("{step}: thread {rank}"), worker, *seat);
        }
        if let Some(node) = expected.home(home, *seat) {
            let what =
                || format!("{step}: pages of thread {rank} are on nodes {:?}, not all on node {node}", process.pages);
            checks.holds(process.pages.keys().eq([&node]), what);
        }
    }
}

fn placed(checks: &mut Checks, what: &str, seen: &Seen, seat: u32) {
    checks.equal(&format!("{what}: mask"), &seen.mask[..], &[seat][..]);
    checks.equal(&format!("{what}: CPU"), seen.cpu, seat);
}

/// Every process that measured had its workers on the seats of one of the cells, every cell was seen in such a process, and its
/// pages were where they should be. Cells are those of the report; their seats are those of the mappings.
pub(super) fn sweep(checks: &mut Checks, transcript: &Transcript, step: &str, expected: &Expected<'_>, home: Home) {
    let report = format!("{step}-report");
    let Some(report) = checks.given(transcript.json(&report)) else { return };
    let cells = report["cells"].list();
    let endings = || cells.iter().flat_map(|cell| cell["runs"].list()).map(|invocation| invocation["ending"].text());
    let found = transcript.step(step);
    // An emulator may take longer than a run's time: all else that ends a sweep with 3 is a failure.
    let is_late = found.as_ref().is_ok_and(|found| found.code == 3)
        && endings().any(|ending| ending == "timed_out")
        && endings().all(|ending| !["refused", "died", "away"].contains(&ending));
    let out = found.and_then(|found| if is_late { Ok(&*found.out) } else { found.succeeded() });
    let Some(out) = checks.given(out) else { return };
    checks.holds(!cells.is_empty(), || format!("{step}: no cells in the report"));
    for cell in cells {
        let what = label(step, cell);
        let seats = cell["seats"].ids();
        if let Some(right) = expected.seats(cell["mapping"].text(), seats.len()) {
            checks.equal(&format!("{what}: seats"), &seats, &right);
        }
        if seats.iter().all(|seat| expected.home(home, *seat).is_some()) {
            resided(checks, &what, cell, home);
        }
    }
    let processes = processes(out);
    let known: BTreeSet<Vec<u32>> =
        cells.iter().chain(report["floor"].list()).map(|cell| cell["seats"].ids()).collect();
    let mut met = BTreeSet::new();
    // Where some worker was not seen in time, the ranks have a gap.
    let whole = |process: &&Process| process.workers.keys().copied().eq(0..process.workers.len() as u32);
    for process in processes.values().filter(|process| !process.workers.is_empty()).filter(whole) {
        let masks: Vec<&[u32]> = process.workers.values().map(|seen| &seen.mask[..]).collect();
        let cpus: Vec<u32> = process.workers.values().map(|seen| seen.cpu).collect();
        let Some(seats) = known.iter().find(|seats| seats.starts_with(&cpus)) else {
            checks.holds(false, || format!("{step}: workers were on CPUs {cpus:?}, the seats of no cell"));
            continue;
        };
        for (mask, seat) in masks.iter().zip(seats) {
            checks.equal(&format!("{step}: mask of a worker"), *mask, &[*seat][..]);
        }
        if seats.len() == cpus.len() {
            met.insert(seats.clone());
            lies(checks, step, process, seats, expected, home);
        }
    }
    for cell in cells {
        let seats = cell["seats"].ids();
        checks.holds(met.contains(&seats), || format!("{}: no process was seen with its workers", label(step, cell)));
    }
}

/// A cell in words.
pub(super) fn label(step: &str, cell: &Json) -> String {
    let workers = cell["workers"].id().unwrap_or(0);
    format!("{step}: {} {} x{workers}", cell["kernel"].text(), cell["mapping"].text())
}

/// What the report says of the pages of a cell.
fn resided(checks: &mut Checks, what: &str, cell: &Json, home: Home) {
    for invocation in cell["runs"].list() {
        let nodes = &invocation["evidence"]["nodes"];
        let (Some(all), Some(local)) = (nodes["bytes"].number(), nodes["local_bytes"].number()) else { continue };
        let right = match home {
            Home::Local => local,
            Home::Node(_) => nodes["asked_bytes"].number().unwrap_or(0.0),
            Home::Only(_) => continue,
        };
        checks.holds(right >= 0.99 * all, || {
            format!("{what}: the report has {right} of {all} bytes where they should be")
        });
    }
}

/// Pages of a worker's block in these sweeps: 4 MiB.
const PAGES: u64 = 1024;

/// The pages that the probe saw, a block per worker.
fn lies(checks: &mut Checks, step: &str, process: &Process, seats: &[u32], expected: &Expected<'_>, home: Home) {
    let all: u64 = process.pages.values().sum();
    let homes: Option<Vec<u32>> = seats.iter().map(|seat| expected.home(home, *seat)).collect();
    // Kernels without blocks have none, and a short run may have ended before it was looked at.
    let Some(homes) = homes.filter(|_| all >= PAGES * seats.len() as u64) else { return };
    let mut nodes: BTreeMap<u32, u64> = BTreeMap::new();
    homes.iter().for_each(|node| *nodes.entry(*node).or_default() += 1);
    for (node, workers) in nodes {
        let share = process.pages.get(&node).copied().unwrap_or(0) as f64 / all as f64;
        let right = workers as f64 / seats.len() as f64;
        let sentence = || format!("{step}: seats {seats:?}: node {node} has {share:.2} of the pages, not {right:.2}");
        checks.holds((share - right).abs() < 0.05, sentence);
    }
}

/// The step was refused, with these words among others.
pub(super) fn refused(checks: &mut Checks, transcript: &Transcript, step: &str, words: &str) {
    if let Some(found) = checks.given(transcript.step(step)) {
        let refused = found.code != 0 && found.err.contains(words);
        checks.holds(refused, || format!("{step}: ended with {}, without {words:?}: {}", found.code, found.err.trim()));
    }
}

/// The step took its budget and at most a quarter more, beside what `charz topo` takes here to start and to look.
pub(super) fn budget(checks: &mut Checks, transcript: &Transcript, step: &str, seconds: f64) {
    let steps = [transcript.step(step), transcript.step("topo")].map(|step| checks.given(step));
    if let [Some(found), Some(start)] = steps {
        checks.holds(found.seconds <= 1.25 * seconds + start.seconds, || {
            format!(
                "{step}: {:.1} s with a budget of {seconds} s, where a start takes {:.1} s",
                found.seconds, start.seconds
            )
        });
    }
}

/// No relation that is true is contradicted. The exit code says so too, but not which.
pub(super) fn audit(checks: &mut Checks, transcript: &Transcript, step: &str) {
    let audit =
        transcript.step(step).and_then(|found| Json::parse(&found.out).map_err(|error| format!("{step}: {error}")));
    let Some(audit) = checks.given(audit) else { return };
    let relations = audit["relations"].list();
    checks.holds(!relations.is_empty(), || format!("{step}: no relations"));
    for relation in relations {
        let sentence = || {
            let ids = ["a", "b"].map(|end| relation[end].id().map_or("-".to_owned(), |id| id.to_string()));
            format!("{step}: {} of CPUs {} and {} is contradicted", relation["kind"].text(), ids[0], ids[1])
        };
        checks.holds(relation["verdict"].text() != "contradicted", sentence);
    }
}

/// The CPUs of a sample, each with what its kernel counted.
pub(super) fn watch(checks: &mut Checks, transcript: &Transcript, step: &str, expected: &Expected<'_>) {
    let Some(sample) = checks.given(transcript.json(step)) else { return };
    let cpus = sample["cpus"].list();
    let ids: Vec<u32> = cpus.iter().filter_map(|cpu| cpu["cpu"].id()).collect();
    checks.equal("watch: CPUs", ids, expected.online.iter().map(|strand| strand.id).collect());
    for column in ["idl", "intr", "res", "cal", "csw"] {
        let without = cpus.iter().filter(|cpu| cpu[column].number().is_none()).count();
        checks.equal(&format!("watch: CPUs without {column}"), without, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::console::Step;
    use crate::machines::shape::Shape;

    const NODES: [Node; 2] = [Node { cpus: Some((0, 1)), mib: 1024 }, Node { cpus: Some((2, 3)), mib: 1024 }];

    fn expected() -> Expected<'static> {
        let strands = Shape { sockets: 2, clusters: 1, cores: 1, threads: 2 }.strands(&NODES);
        Expected { online: strands.clone(), usable: strands, nodes: &NODES }
    }

    fn transcript(steps: &[(&str, i32, f64, &str)]) -> Transcript {
        let step = |(name, code, seconds, out): &(&str, i32, f64, &str)| Step {
            name: (*name).to_owned(),
            code: *code,
            seconds: *seconds,
            out: (*out).to_owned(),
            err: String::new(),
        };
        Transcript { steps: steps.iter().map(step).collect(), unfinished: None, ended: true }
    }

    /// The sentences of the checks that fail; some are made in any case.
    fn failed(check: impl FnOnce(&mut Checks)) -> Vec<String> {
        let mut checks = Checks::default();
        check(&mut checks);
        assert!(checks.made > 0);
        checks.failed
    }

    const TOPO: &str = r#"{"strands": [
        {"os_id": 0, "package": 0, "numa": 0, "core": 0, "usable": true}, {"os_id": 1, "package": 0, "numa": 0, "core": 0, "usable": true},
        {"os_id": 2, "package": 1, "numa": 1, "core": 1, "usable": true}, {"os_id": 3, "package": 1, "numa": 1, "core": 1, "usable": true}],
        "packages": [{"os_id": 0}, {"os_id": 1}],
        "numa_nodes": [{"os_id": 0, "memory_bytes": 1053724672, "strands": 2}, {"os_id": 1, "memory_bytes": 1021423616, "strands": 2}],
        "usable": {"strands": 4}}"#;

    #[test]
    fn a_topology_is_right_or_each_wrong_id_is_named() {
        let of =
            |text: &str| failed(|checks| topology(checks, &transcript(&[("topo", 0, 1.0, text)]), "topo", &expected()));
        assert_eq!(of(TOPO), [""; 0]);
        let moved =
            TOPO.replacen(r#""os_id": 2, "package": 1, "numa": 1"#, r#""os_id": 2, "package": 1, "numa": 0"#, 1);
        assert_eq!(of(&moved), ["topo: NUMA node of CPU 2: Some(0), not Some(1)"]);
        let apart = TOPO.replacen(
            r#""os_id": 3, "package": 1, "numa": 1, "core": 1"#,
            r#""os_id": 3, "package": 1, "numa": 1, "core": 2"#,
            1,
        );
        assert!(of(&apart)[0].starts_with("topo: strands by core"), "{apart}");
        assert_eq!(of("{")[0], "topo: expected \" at \"\"");
    }

    #[test]
    fn each_cpu_of_a_sample_is_counted() {
        let cpu =
            |id: u32, intr: &str| format!(r#"{{"cpu": {id}, "idl": 99.0, {intr} "res": 0.0, "cal": 1.5, "csw": 3.0}}"#);
        let of = |ids: std::ops::Range<u32>, intr: &str| {
            let cpus = ids.map(|id| cpu(id, intr)).collect::<Vec<_>>().join(", ");
            let transcript = transcript(&[("watch", 0, 1.0, &format!(r#"{{"cpus": [{cpus}]}}"#))]);
            failed(|checks| watch(checks, &transcript, "watch", &expected()))
        };
        assert_eq!(of(0..4, r#""intr": 5.0,"#), [""; 0]);
        assert_eq!(of(1..4, r#""intr": 5.0,"#), ["watch: CPUs: [1, 2, 3], not [0, 1, 2, 3]"]);
        assert_eq!(of(0..4, ""), ["watch: CPUs without intr: 4, not 0"]);
    }

    #[test]
    fn each_thread_of_a_program_has_its_seat_and_its_pages_are_there() {
        let of = |out: &str| {
            let transcript = transcript(&[("exec", 0, 1.0, out)]);
            failed(|checks| exec(checks, &transcript, "exec", ("round-robin", 2), &expected(), Home::Local))
        };
        assert_eq!(of("rank 0 mask 0 cpu 0 pages 0:256\nrank 1 mask 2 cpu 2 pages 1:256\n"), [""; 0]);
        assert_eq!(of("rank 0 mask 0 cpu 0 pages 0:256\n"), ["exec: threads: 1, not 2"]);
        let wrong = of("rank 0 mask 0-3 cpu 0 pages 0:256\nrank 1 mask 2 cpu 3 pages 0:1,1:255\n");
        let sentences = [
            "exec: thread 0: mask: [0, 1, 2, 3], not [0]",
            "exec: thread 1: CPU: 3, not 2",
            "exec: pages of thread 1 are on nodes {0: 1, 1: 255}, not all on node 1",
        ];
        assert_eq!(wrong, sentences);
    }

    #[test]
    fn each_worker_of_a_sweep_has_its_seat() {
        let report = r#"{"floor": [], "cells": [{"kernel": "mem-read", "mapping": "round-robin", "workers": 2, "seats": [0, 2],
            "runs": [{"evidence": {"nodes": {"bytes": 8388608, "local_bytes": 8388608, "asked_bytes": null}}}]}]}"#;
        let ended = |code: i32, probe: &str, report: &str| {
            let transcript = transcript(&[("sweep", code, 1.0, probe), ("sweep-report", 0, 0.1, report)]);
            failed(|checks| sweep(checks, &transcript, "sweep", &expected(), Home::Local))
        };
        let of = |probe: &str, report: &str| ended(0, probe, report);
        let probe = "worker 9 0 mask 0 cpu 0\nworker 9 1 mask 2 cpu 2\nmemory 9 pages 0:1024,1:1024\n";
        assert_eq!(of(probe, report), [""; 0]);
        let late = report.replace("{\"evidence\"", "{\"ending\": \"timed_out\", \"evidence\"");
        assert_eq!(ended(3, probe, &late), [""; 0]);
        assert_eq!(ended(3, probe, &late.replace("timed_out", "died")).len(), 1);
        assert_eq!(ended(3, probe, report).len(), 1);
        assert_eq!(
            of("worker 9 1 mask 2 cpu 2\n", report),
            ["sweep: mem-read round-robin x2: no process was seen with its workers"]
        );
        assert!(of(&probe.replace("mask 2", "mask 2-3"), report)[0].contains("[2, 3], not [2]"));
        assert!(of(&probe.replace("cpu 2", "cpu 3"), report)[0].contains("CPUs [0, 3], the seats of no cell"));
        assert!(of(&probe.replace("0:1024,", ""), report).is_empty(), "half of the pages were not there yet");
        assert!(of(&probe.replace("0:1024,1:1024", "1:2048"), report)[0].contains("node 0 has 0.00 of the pages"));
        assert!(of(probe, &report.replace("[0, 2]", "[0, 1]"))[0].contains("[0, 1], not [0, 2]"));
        assert!(
            of(probe, &report.replace("\"local_bytes\": 8388608", "\"local_bytes\": 0"))[0].contains("0 of 8388608")
        );
    }

    #[test]
    fn a_budget_a_refusal_and_an_audit_are_judged() {
        let audited = r#"{"relations": [{"kind": "core", "a": 0, "b": 1, "verdict": "contradicted"}, {"kind": "l2", "a": 0, "b": 1, "verdict": "confirmed"}]}"#;
        let transcript = transcript(&[
            ("topo", 0, 0.5, ""),
            ("fast", 0, 12.9, ""),
            ("slow", 0, 13.1, ""),
            ("audit", 1, 1.0, audited),
        ]);
        assert_eq!(failed(|checks| budget(checks, &transcript, "fast", 10.0)), [""; 0]);
        assert_eq!(
            failed(|checks| budget(checks, &transcript, "slow", 10.0)),
            ["slow: 13.1 s with a budget of 10 s, where a start takes 0.5 s"]
        );
        assert_eq!(
            failed(|checks| audit(checks, &transcript, "audit")),
            ["audit: core of CPUs 0 and 1 is contradicted"]
        );
        assert_eq!(failed(|checks| refused(checks, &transcript, "slow", "offline")).len(), 1);
    }
}
