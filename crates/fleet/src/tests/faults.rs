//! Planted faults, and what is concluded of the node that has them: nothing more, and nothing of the others.

use charz_data::PageKind;
use charz_data::report::{Culprit, CulpritKind, MemoryHome, Status};

use super::*;

/// A fault of node 7 among twelve: its name, the visits, the speed of its threads, how its report differs, and all that is claimed of it.
type Row = (&'static str, Shape, usize, fn(&Spot) -> [f64; 2], fn(usize, &mut Report), &'static [&'static str]);

const AS_USUAL: fn(&Spot) -> [f64; 2] = |_| [1.0; 2];
const NOTHING: fn(usize, &mut Report) = |_, _| {};
const LARGE: Shape = [2, 2, 4, 2];
const WIDE: Shape = [4, 1, 8, 1];

fn slow(is: bool, share: f64) -> [f64; 2] {
    [if is { share } else { 1.0 }, 1.0]
}

fn is_arith(spot: &Spot) -> bool {
    spot.kernel.starts_with("arith")
}

fn is_bandwidth(spot: &Spot) -> bool {
    spot.kernel.starts_with("mem")
}

/// A latency of memory.
fn is_latency(spot: &Spot) -> bool {
    spot.kernel.starts_with("chase") && spot.level == "memory"
}

#[rustfmt::skip]
const FAULTS: &[Row] = &[
    ("nothing", SHAPE, 1, AS_USUAL, NOTHING, &[]),
    ("nothing at three visits", SHAPE, 3, AS_USUAL, NOTHING, &[]),
    ("a core", SHAPE, 1, |s| slow(is_arith(s) && s.cpu == 5, 0.92), NOTHING, &["slow Core 5 -8 arith-float,arith-int"]),
    ("the first core", SHAPE, 1, |s| slow(is_arith(s) && s.cpu == 0, 0.92), NOTHING, &["slow Core 0 -8 arith-float,arith-int"]),
    ("a core of two CPUs", LARGE, 1, |s| slow(is_arith(s) && s.cpu % 16 == 5, 0.9), NOTHING, &["slow Core 5,21 -10 arith-float,arith-int"]),
    ("two cores", SHAPE, 1, |s| slow(is_arith(s) && [5, 6].contains(&s.cpu), 0.92), NOTHING, &["slow Core 5 -8 arith-float,arith-int", "slow Core 6 -8 arith-float,arith-int"]),
    ("a core's clock", SHAPE, 1, |s| { let slow = if s.cpu == 5 { 0.9 } else { 1.0 }; [if is_arith(s) { slow } else { 1.0 }, slow] }, NOTHING, &["slow Core 5 -10 arith-float,arith-int clock 0.90"]),
    ("a cache", SHAPE, 1, |s| slow(is_bandwidth(s) && s.cpu / 4 == 2, 0.85), NOTHING, &["slow Cache(3) 8-11 -15 mem-read,mem-write-data"]),
    ("the memory of a socket", SHAPE, 1, |s| slow(is_bandwidth(s) && s.cpu / 8 == 1, 0.75), NOTHING, &["slow NumaNode 8-15 -25 mem-read,mem-write-data"]),
    ("the latency of a NUMA node", SHAPE, 1, |s| slow(is_latency(s) && s.cpu / 8 == 1, 1.0 / 1.2), NOTHING, &["slow NumaNode 8-15 -17 chase-random"]),
    ("the same at three visits", SHAPE, 3, |s| slow(is_latency(s) && s.cpu / 8 == 1, 1.0 / 1.2), NOTHING, &["slow NumaNode 8-15 -17 chase-random"]),
    ("the latency of one of four", WIDE, 1, |s| slow(is_latency(s) && s.cpu / 8 == 2, 1.0 / 1.1), NOTHING, &["slow NumaNode 16-23 -9 chase-random"]),
    ("the latency of a cache", SHAPE, 1, |s| slow(s.level == "L3" && s.cpu / 4 == 1, 0.8), NOTHING, &["slow Cache(3) 4-7 -20 chase-random"]),
    ("the latency and bandwidth of a NUMA node", SHAPE, 1, |s| slow((is_latency(s) || is_bandwidth(s)) && s.cpu / 8 == 0, 0.8), NOTHING, &["slow NumaNode 0-7 -20 chase-random,mem-read,mem-write-data"]),
    ("a socket's clock", SHAPE, 1, |s| { let slow = if s.cpu / 8 == 1 { 0.8 } else { 1.0 }; [if is_arith(s) || s.level == "L3" { slow } else { 1.0 }, slow] }, NOTHING,
        &["slow Package 8-15 -20 arith-float,arith-int clock 0.80", "slow NumaNode 8-15 -20 chase-random clock 0.80"]),
    ("a pair of CPUs", SHAPE, 1, |s| slow(s.cpu == 4006, 1.0 / 1.3), NOTHING, &["slow Pair 4,6 -23 c2c-cas"]),
    ("the whole node", SHAPE, 1, |s| slow(is_arith(s), 0.9), NOTHING, &["Visits Node -10 arith-float,arith-int"]),
    ("the whole node at three visits", SHAPE, 3, |s| slow(is_arith(s), 0.9), NOTHING, &["slow Node -10 arith-float,arith-int"]),
    ("all of the whole node", SHAPE, 3, |_| [0.6, 1.0], NOTHING, &["slow Node -40 arith-float,arith-int,chase-random,mem-read,mem-write-data"]),
    ("throttled after 10 s", SHAPE, 1, |s| { let slow = if s.second > 10.0 { 0.8 } else { 1.0 }; [if is_arith(s) { slow } else { 1.0 }, slow] }, NOTHING, &["Visits Node -20 arith-float,arith-int clock 0.80 from 12"]),
    ("the same at three visits", SHAPE, 3, |s| { let slow = if s.second > 10.0 { 0.8 } else { 1.0 }; [if is_arith(s) { slow } else { 1.0 }, slow] }, NOTHING, &["slow Node -20 arith-float,arith-int clock 0.80 from 12"]),
    ("a low clock", SHAPE, 3, |s| [if is_arith(s) { 0.85 } else { 1.0 }, 0.85], NOTHING, &["slow Node -15 arith-float,arith-int clock 0.85"]),
    ("a governor", SHAPE, 1, |s| slow(is_arith(s), 0.9), |_, r| r.host.frequency_governor = Some("powersave".into()), &["slow Node -10 arith-float,arith-int Governor powersave"]),
    ("a core and a governor", SHAPE, 1, |s| slow(is_arith(s), if s.cpu == 5 { 0.7 } else { 0.8 }), |_, r| r.host.frequency_governor = Some("powersave".into()),
        &["slow Core 5 -12 arith-float,arith-int", "slow Node -21 arith-float,arith-int Governor powersave"]),
];

#[test]
fn each_fault_is_named_and_nothing_else() {
    let found = FAULTS.iter().map(|(name, shape, visits, speed, alter, expected)| {
        let own = |host: usize, _: usize, spot: &Spot| if host == 7 { speed(spot) } else { [1.0; 2] };
        let alter = |host: usize, visit: usize, report: &mut Report| {
            if host == 7 {
                alter(visit, report)
            }
        };
        let fleet = judged(&drawn(2, *shape, [12, *visits], own, alter));
        let others = fleet.nodes.iter().filter(|node| node.host != "n7").flat_map(codes);
        ((*name).to_owned(), codes(node(&fleet, "n7")).into_iter().chain(others).collect(), strings(expected))
    });
    compare(found.collect());
}

/// How the reports of a fleet differ, by host and visit; how many of its nodes are what, and what is claimed of one.
type Case =
    (&'static str, [usize; 2], fn(usize, usize, &mut Report), [usize; 4], &'static str, &'static [&'static str]);

fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}

fn hog(report: &mut Report) {
    let (name, kind) = ("hog".into(), CulpritKind::Process);
    let hog = Culprit { kind, name, pid: Some(7), uid: None, others: 0, cpu_ns: 900_000_000, time_ns: 1_000_000_000 };
    for run in report.cells.iter_mut().flat_map(|cell| &mut cell.invocations) {
        let evidence = run.evidence.get_or_insert_default();
        (evidence.culprits, evidence.looked_ns) = (vec![hog.clone()], Some(1_000_000_000));
    }
}

fn halved(report: &mut Report) {
    first(report, 8);
    report.machine.strands.truncate(8);
    report.machine.cores.truncate(8);
    report.machine.packages.truncate(1);
    report.machine.numa_nodes.truncate(1);
}

fn pending(report: &mut Report, kernels: &str) {
    report.complete = false;
    of(report, kernels).for_each(|cell| *cell = cell.clone().unmeasured(Status::Pending, ""));
}

/// Its laps on such CPUs take so many times as long.
fn slowed(report: &mut Report, kernels: &str, is: fn(u32) -> bool, times: f64) {
    for cell in of(report, kernels) {
        let laps = cell.invocations.iter_mut().flat_map(|one| &mut one.runs).flat_map(|run| &mut run.laps);
        laps.filter(|lap| lap.seat.is_some_and(is)).for_each(|lap| lap.end_ns = (lap.end_ns as f64 * times) as u64);
    }
}

const ONE: [usize; 4] = [0, 1, 0, 11];

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("half of its sockets", [12, 1], |h, _, r| if h == 7 { halved(r) }, ONE, "n7", &["NoLike Core 0 -5 arith-float,arith-int,chase-random,mem-read,mem-write-data", "Smaller([[8, 8, 1, 1], [16, 16, 2, 2]])"]),
    ("one CPU a core", [12, 1], |h, _, r| if h != 7 { let all = r.machine.strands.clone(); r.machine.strands.extend(all.into_iter().map(|s| charz_data::machine::Strand { os_id: s.os_id + 16, usable: false, ..s })) }, ONE, "n7", &["NoLike Core 0 -5 arith-float,arith-int,chase-random,mem-read,mem-write-data", "Smaller([[16, 16, 2, 2], [32, 16, 2, 2]])"]),
    ("few nodes, one of fewer CPUs", [4, 1], |h, _, r| match h { 2 => halved(r), 3 => { r.machine.strands.truncate(15); } _ => {} }, [0, 2, 0, 2], "n3", &["Smaller([[15, 16, 2, 2], [16, 16, 2, 2]])", "Alone { others: 3, build: None, was_delivered: true }"]),
    ("a quota that was felt", [12, 1], |h, _, r| if h == 7 { r.host.cpu_quota = text("8.00"); delivers(r, 0.5) }, [1, 0, 0, 11], "n7", &["slow Node -50 Delivered quota 8.00"]),
    ("the same of two nodes", [2, 1], |h, _, r| if h == 1 { r.host.cpu_quota = text("8.00"); delivers(r, 0.5) }, [0, 1, 0, 1], "n1", &["Quota Node -50 Delivered", "Alone { others: 1, build: None, was_delivered: true }"]),
    ("a quota of less", [12, 1], |h, _, r| if h == 7 { r.host.cpu_quota = text("9.60") }, [1, 0, 0, 11], "n7", &["slow Node -40 Quota quota 9.60"]),
    ("a quota of all", [12, 1], |h, _, r| if h == 7 { r.host.cpu_quota = text("16.00") }, [0, 0, 0, 12], "n7", &[]),
    ("a quota of more", [12, 1], |h, _, r| r.host.cpu_quota = text(if h == 7 { "12.00" } else { "8.00" }), [0, 0, 0, 12], "n7", &[]),
    ("a smaller quota", [12, 1], |h, _, r| r.host.cpu_quota = text(if h == 7 { "8.00" } else { "12.00" }), [1, 0, 0, 11], "n7", &["slow Node -33 Quota quota 8.00"]),
    ("a quota of half of the nodes", [12, 1], |h, _, r| if h % 2 == 1 { r.host.cpu_quota = text("8.00") }, [0, 6, 0, 6], "n7", &["Quota Node -50 Quota"]),
    ("more than a quota took", [12, 1], |h, _, r| if h == 7 { r.host.cpu_quota = text("14.00"); delivers(r, 0.5) }, ONE, "n7", &["Busy Node -50 Delivered"]),
    ("a quota that was removed", [12, 3], |h, v, r| if h == 7 && v < 2 { r.host.cpu_quota = text("8.00"); delivers(r, 0.5) }, [0, 0, 0, 12], "n7", &[]),
    ("another program", [12, 1], |h, _, r| { if h == 7 { delivers(r, 0.5) }; if [3, 7].contains(&h) { hog(r) } }, ONE, "n7", &["Busy Node -50 Delivered", "Disturbed([Disturber { kind: Process, name: hog, pid: Some(7), count: 1, is_several: false, cpus: 0.9 }])"]),
    ("another program that took nothing", [12, 1], |h, _, r| if h == 3 { hog(r) }, [0, 0, 0, 12], "n3", &["Disturbed([Disturber { kind: Process, name: hog, pid: Some(7), count: 1, is_several: false, cpus: 0.9 }])"]),
    ("a governor of half", [12, 1], |h, _, r| if h < 6 { r.host.frequency_governor = text("powersave"); scaled(r, "", 0.8) }, [6, 0, 0, 6], "n0", &["slow Node -20 arith-float,arith-int,chase-random,mem-read,mem-write-data class Governor=powersave"]),
    ("a firmware of half", [40, 1], |h, _, r| { r.host.firmware = text(if h < 20 { "BIOS 1.3" } else { "BIOS 1.2" }); if h < 20 { scaled(r, "mem", 0.8) } }, [0, 20, 0, 20], "n3", &["class Node -21 mem-read,mem-write-data Firmware=BIOS 1.3"]),
    ("two settings that split alike", [10, 1], |h, _, r| { let one = u32::from(h < 5); r.host.microcode = Some(format!("0x{one}")); r.host.firmware = Some(format!("BIOS {one}")); if h < 5 { scaled(r, "arith", 0.8) } }, [0, 5, 0, 5], "n3", &["class Node -21 arith-float,arith-int Microcode=0x1,Firmware=BIOS 1"]),
    ("two faults that split alike", [10, 1], |h, _, r| { let one = u32::from(h < 5); r.host.microcode = Some(format!("0x{one}")); r.host.frequency_governor = Some(format!("g{one}")); if h < 5 { scaled(r, "arith", 0.8) } }, [5, 0, 0, 5], "n3", &["slow Node -21 arith-float,arith-int class Governor=g1,Microcode=0x1"]),
    ("one that a fast node has too", [10, 1], |h, _, r| { r.host.microcode = Some(format!("0x{}", u32::from(h < 6))); r.host.firmware = Some(format!("BIOS {}", u32::from(h < 5))); if h < 5 { scaled(r, "arith", 0.8) } }, [0, 5, 0, 5], "n3", &["class Node -21 arith-float,arith-int Firmware=BIOS 1"]),
    ("a setting of slow nodes and fast ones", [20, 1], |h, _, r| { r.host.microcode = text(if h < 8 { "0x20" } else { "0x10" }); scaled(r, "arith", if h >= 5 { 1.11 } else { 1.0 }) }, [0, 5, 0, 15], "n3", &["Visits Node -11 arith-float,arith-int"]),
    ("a setting that few fast ones lack", [20, 1], |h, _, r| { r.host.microcode = text(if h < 17 { "0x20" } else { "0x10" }); scaled(r, "arith", if h >= 17 { 1.11 } else { 1.0 }) }, [0, 0, 0, 20], "n3", &[]),
    ("a node that lost more than its class", [20, 1], |h, _, r| { if h < 6 { r.host.frequency_governor = text("powersave") } scaled(r, "arith", if h == 0 { 0.6 } else if h < 6 { 0.9 } else { 1.0 }) }, [6, 0, 0, 14], "n0", &["slow Node -40 arith-float,arith-int"]),
    ("a class that was repaired", [12, 3], |h, v, r| { let is = h < 4 && v < 2 || h == 7 && v == 2; r.host.microcode = text(if h < 4 && v == 2 { "0x0f" } else if h < 4 || is { "0x11" } else { "0x10" }); scaled(r, "arith", if is { 0.85 } else { 1.0 }) }, [0, 1, 0, 11], "n0", &["no longer Node -15 arith-float,arith-int"]),
    ("half without a cause", [20, 3], |h, _, r| if h < 10 { scaled(r, "arith", 0.8) }, [0, 10, 0, 10], "n3", &["class Node -20 arith-float,arith-int "]),
    ("half of a room", [20, 3], |h, _, r| if h < 10 { r.host.labels = [("room".into(), "b7".into())].into(); scaled(r, "arith", 0.8) }, [0, 10, 0, 10], "n3", &["class Node -20 arith-float,arith-int Label(\"room\")=b7"]),
    ("one of three", [3, 1], |h, _, r| if h == 0 { scaled(r, "arith", 0.5) }, [0, 1, 0, 2], "n0", &["Far Node -51 arith-float,arith-int", "Alone { others: 2, build: None, was_delivered: true }"]),
    ("repaired", [12, 4], |h, v, r| if h == 7 && v < 2 { scaled(r, "", 0.7) }, [0, 0, 0, 12], "n7", &["no longer Node -30 arith-float,arith-int,chase-random,mem-read,mem-write-data"]),
    ("repaired, without one kernel", [12, 4], |h, v, r| if h == 7 { if v < 3 { scaled(r, "", 0.7) } else { suspect(r, "chase") } }, ONE, "n7", &["no longer Node -30 arith-float,arith-int,mem-read,mem-write-data", "Lost Node -30 chase-random", "Missing { loads: {(chase-random, None), (chase-random, Some(16))}, is_of_most: true, remedy: Again }"]),
    ("slow, without the second kernel", [12, 4], |h, v, r| if h == 7 { scaled(r, "arith", 0.85); if v == 3 { suspect(r, "arith-float") } }, ONE, "n7", &["OneKernel Node -15 arith-int", "Missing { loads: {(arith-float, None), (arith-float, Some(16))}, is_of_most: true, remedy: Again }"]),
    ("slow by the first of two kernels", [12, 4], |h, v, r| if h == 7 { scaled(r, if v == 3 { "arith-int" } else { "arith" }, 0.85) }, [0, 0, 0, 12], "n7", &[]),
    ("without a result", [12, 1], |h, _, r| if h == 7 { suspect(r, "") }, [0, 0, 1, 11], "n7", &["Unmeasured { cells: 19, is_pending: false }"]),
    ("ended before any", [12, 1], |h, _, r| if h == 7 { pending(r, "") }, [0, 0, 1, 11], "n7", &["Unmeasured { cells: 19, is_pending: true }"]),
    ("ended early", [12, 1], |h, _, r| if h == 7 { pending(r, "mem"); suspect(r, "arith-float") }, ONE, "n7", &["Missing { loads: {(mem-read, None), (mem-read, Some(16)), (mem-write-data, None), (mem-write-data, Some(16))}, is_of_most: true, remedy: Finish }", "Missing { loads: {(arith-float, None), (arith-float, Some(16))}, is_of_most: true, remedy: Again }"]),
    ("noisy at its full load", [12, 1], |h, _, r| { let one = fixtures::cell("mem-read", 1, Unit::BytesPerSecond, 1e9).seated(&[0]); if h == 7 { suspect(r, "mem-read") } r.cells.push(one) }, ONE, "n7", &["Missing { loads: {(mem-read, Some(16))}, is_of_most: true, remedy: Again }"]),
    ("noisy on most", [12, 1], |h, _, r| if h > 4 { suspect(r, "mem") }, [0, 7, 0, 5], "n7", &["Missing { loads: {(mem-read, Some(16)), (mem-write-data, Some(16))}, is_of_most: false, remedy: Again }"]),
    ("noisy on all but one", [12, 1], |h, _, r| if h != 3 { suspect(r, "mem") }, [0, 1, 0, 11], "n7", &["Uncompared { kernels: [mem-read, mem-write-data], has_any: true }"]),
    ("noisy on all", [12, 1], |_, _, r| suspect(r, "mem"), [0, 0, 0, 12], "n7", &["Uncompared { kernels: [mem-read, mem-write-data], has_any: false }"]),
    ("not planned", [12, 1], |h, _, r| if h == 7 { lacks(r, "mem") }, ONE, "n7", &["Unplanned({(mem-read, None), (mem-write-data, None)})"]),
    ("skipped", [12, 1], |h, _, r| if h == 7 { of(r, "arith-int").for_each(|cell| *cell = cell.clone().unmeasured(Status::Skipped, "its blocks do not fit")) }, ONE, "n7", &["Missing { loads: {(arith-int, None)}, is_of_most: true, remedy: Skipped }"]),
    ("more threads than CPUs, skipped by all", [12, 1], |_, _, r| { let cell = fixtures::cell("arith-int", 32, Unit::OpsPerSecond, 1e9).unmeasured(Status::Skipped, "no CPUs"); r.cells.push(cell) }, [0, 0, 0, 12], "n7", &[]),
    ("fewer threads", [12, 1], |h, _, r| if h == 7 { for cell in r.cells.iter_mut().filter(|cell| cell.workers > 2) { (cell.workers, cell.seats) = (15, (0..15).map(Some).collect()) } }, ONE, "n7", &["Unplanned({(arith-float, Some(16)), (arith-int, Some(16)), (chase-random, Some(16)), (mem-read, Some(16)), (mem-write-data, Some(16))})"]),
    ("fewer threads, as a CPU was kept", [12, 1], |h, _, r| if h == 7 { for cell in r.cells.iter_mut().filter(|cell| cell.workers > 2) { (cell.workers, cell.seats) = (15, (0..15).map(Some).collect()) } r.machine.strands[15].usable = false }, ONE, "n7", &["Partly([15, 16])"]),
    ("another mapping", [12, 1], |h, _, r| if h == 7 { of(r, "arith").for_each(|cell| cell.mapping = "dumb".into()) }, ONE, "n7", &["Unlike([arith-float, arith-int])"]),
    ("another size", [12, 1], |h, _, r| if h == 7 { of(r, "mem").for_each(|cell| cell.point.size_bytes = Some(1 << 30)) }, ONE, "n7", &["Unlike([mem-read, mem-write-data])"]),
    ("small pages", [12, 1], |h, _, r| of(r, "mem").for_each(|cell| cell.point.pages = Some(if h == 7 { PageKind::Small } else { PageKind::Transparent })), ONE, "n7", &["OtherPages({(mem-read, Some(16)), (mem-write-data, Some(16))})"]),
    ("of the first CPUs", [12, 1], |h, _, r| if h == 7 { first(r, 8) }, ONE, "n7", &["Partly([8, 16])"]),
    ("two kinds of one name", [12, 3], |h, v, r| if h == 7 && v == 2 { r.host.processor = text("another") }, ONE, "n7", &["Shared { reports: 3, kinds: 2, do_overlap: false }"]),
    ("several of one name", [12, 3], |h, v, r| if h == 7 { r.wall_ns = 60_000_000_000; r.started = format!("2026-02-01T00:00:0{v}Z") }, ONE, "n7", &["Shared { reports: 3, kinds: 1, do_overlap: true }"]),
    ("reports of one hour", [12, 4], |h, v, r| { if h == 7 && v > 0 { r.started = format!("2026-02-01T00:{:02}:00Z", 10 * v); scaled(r, "arith", 0.8) }; if h != 7 && v > 0 { r.started = "2026-02-01T00:00:00Z".into(); r.id = format!("{h}") } }, ONE, "n7", &["Visits Node -19 arith-float,arith-int"]),
    ("a clock that stands", [12, 3], |h, _, r| { r.started = "2026-02-01T00:00:00Z".into(); if h == 7 { scaled(r, "arith", 0.8) } }, [1, 0, 0, 11], "n7", &["slow Node -20 arith-float,arith-int"]),
    ("three of four caches", [12, 1], |h, _, r| if h == 7 { slowed(r, "mem", |cpu| cpu >= 4, 1.18) }, ONE, "n7", &["Faster Cache(3) 0-3 +18 mem-read,mem-write-data"]),
    ("three cores of a cache", [12, 1], |h, _, r| if h == 7 { slowed(r, "arith", |cpu| (4..7).contains(&cpu), 1.11) }, ONE, "n7", &["Faster Core 7 +11 arith-float,arith-int"]),
    ("two cores of most nodes", [12, 1], |h, _, r| if h > 2 { slowed(r, "arith", |cpu| [5, 7].contains(&cpu), 1.11) }, [0, 0, 0, 12], "n7", &[]),
    ("one kernel finds a cache, and the second is noisy", [12, 1], |h, _, r| if h == 7 { slowed(r, "mem-read", |cpu| cpu / 4 == 2, 1.18); suspect(r, "mem-write") }, ONE, "n7", &["OneKernel Cache(3) 8-11 -15 mem-read", "Missing { loads: {(mem-write-data, None), (mem-write-data, Some(16))}, is_of_most: true, remedy: Again }"]),
    ("one kernel finds a cache alone", [12, 1], |h, _, r| { lacks(r, "mem-write"); if h == 7 { slowed(r, "mem-read", |cpu| cpu / 4 == 2, 1.18) } }, ONE, "n7", &["OneKernel Cache(3) 8-11 -15 mem-read"]),
    ("pairs far from a fixed home", [12, 1], |h, _, r| if h == 7 { for cell in of(r, "c2c") { cell.point.memory = Some(MemoryHome::Node(0)); let far = cell.seats[0] < Some(4); cell.invocations.iter_mut().flat_map(|run| &mut run.value).for_each(|ns| *ns *= if far { 1.5 } else { 1.0 }) } }, [0, 0, 0, 12], "n7", &[]),
    ("memory of a guest", [12, 3], |h, _, r| { r.host.virtual_machine = Some(true); if h == 7 { scaled(r, "mem", 0.6) } }, ONE, "n7", &["GuestMemory Node -40 mem-read,mem-write-data"]),
    ("pairs of a guest", [12, 2], |h, v, r| { r.host.virtual_machine = Some(true); if h == 7 && v == 1 { of(r, "c2c").take(1).flat_map(|cell| &mut cell.invocations).flat_map(|run| &mut run.value).for_each(|ns| *ns *= 1.4) } }, ONE, "n7", &["HostMoved Pair 0-1 -28 c2c-cas"]),
    ("a lone node", [1, 1], |_, _, _| {}, [0, 1, 0, 0], "n0", &["NoLike Core 0 -5 arith-float,arith-int,chase-random,mem-read,mem-write-data", "Alone { others: 0, build: None, was_delivered: false }"]),
    ("another build", [12, 1], |h, _, r| if h == 7 { r.tool.kernels = "another".into(); scaled(r, "arith", 0.7) }, ONE, "n7", &["Alone { others: 0, build: Some(kernels' source code), was_delivered: true }"]),
    ("a short sweep within the hour", [12, 2], |h, v, r| if v == 1 { (r.started, r.id) = ("2026-01-01T00:05:00Z".into(), if h == 7 { "short".into() } else { format!("{h}-0") }); if h == 7 { lacks(r, "arith"); lacks(r, "mem"); lacks(r, "chase") } else { (r.started, r.cells) = ("2026-01-01T00:00:00Z".into(), r.cells.split_off(5)) } }, [0, 0, 0, 12], "n7", &["Dropped({c2c-cas})"]),
    ("one load alone", [12, 3], |h, _, r| if h == 7 { for cell in r.cells.iter_mut().filter(|cell| cell.kernel == "chase-random" && cell.level.as_deref() == Some("L3")) { cell.capacity.iter_mut().for_each(|number| number.value *= 1.3) } }, [1, 0, 0, 11], "n7", &["slow Node -23 chase-random"]),
];

#[test]
fn each_circumstance_is_what_is_claimed() {
    let found = CASES.iter().map(|(name, size, alter, states_of, host, expected)| {
        let fleet = judged(&drawn(3, SHAPE, *size, |_, _, _| [1.0; 2], alter));
        let found = [vec![format!("{:?}", states(&fleet))], codes(node(&fleet, host))].concat();
        ((*name).to_owned(), found, [vec![format!("{states_of:?}")], strings(expected)].concat())
    });
    compare(found.collect());
}

/// What is slowed, a setting of the node, that of the others, and whether it is the cause.
#[test]
fn a_setting_is_a_cause_only_where_it_can_slow() {
    for (slowed, here, others, is_cause) in [
        ("arith", "powersave", "performance", true),
        ("arith", "performance", "powersave", false),
        ("arith", "unavailable: no such file", "performance", false),
        ("arith", "powersave", "unknown", false),
        ("arith", "BIOS 2", "BIOS 1", false),
        ("arith", "2 × 1 GiB", "4 × 1 GiB", false),
        ("mem", "never", "madvise", true),
        ("mem", "always", "madvise", false),
        ("mem", "8 × 32 GiB at 3200 MT/s", "8 × 32 GiB at 4800 MT/s", true),
        ("mem", "8 × 64 GiB at 4800 MT/s", "8 × 32 GiB at 4800 MT/s", false),
    ] {
        let fleet = judged(&well(12, |host, report| {
            let setting = match here {
                "never" | "always" => &mut report.host.transparent_huge_pages,
                "BIOS 2" => &mut report.host.firmware,
                _ if here.contains('×') => &mut report.host.memory.modules,
                _ => &mut report.host.frequency_governor,
            };
            *setting = text(if host == 7 { here } else { others });
            // What the firmware keeps of it is no other size.
            report.host.memory.total_bytes = Some((251 << 30) + (if host == 7 { 505 << 20 } else { 515 << 20 }));
            scaled(report, slowed, if host == 7 { 0.3 } else { 1.0 });
        }));
        let own = node(&fleet, "n7");
        assert!(!own.differs.contains_key(&crate::Setting::Memory), "{:?}", own.differs);
        assert_eq!(states(&fleet), if is_cause { [1, 0, 0, 11] } else { ONE }, "{here}, {others}: {:?}", codes(own));
        let drain = words::drain(own).unwrap_or_default();
        assert!(!is_cause || drain.contains(&here.replace('×', "x")), "{drain}");
    }
}

/// Cores that the site keeps for the system hide no fault of the others.
#[test]
fn slow_parts_are_named_where_a_core_is_kept_for_the_system() {
    type Fault = fn(u32) -> bool;
    let faults: [(&str, Fault, &[&str]); 5] = [
        ("mem", |_| false, &[]),
        ("arith", |cpu| cpu == 5, &["slow Core 5 -8 arith-float,arith-int"]),
        ("arith", |cpu| cpu == 13, &["slow Core 13 -8 arith-float,arith-int"]),
        ("mem", |cpu| cpu / 4 == 3, &["slow Cache(3) 12-15 -15 mem-read,mem-write-data"]),
        ("mem", |cpu| cpu / 8 == 1, &["slow NumaNode 8-15 -15 mem-read,mem-write-data"]),
    ];
    let found = faults.map(|(kernels, is, expected)| {
        let times = if kernels == "mem" { 1.0 / 0.85 } else { 1.0 / 0.92 };
        let reports = well(12, |host, report| {
            if host == 7 {
                slowed(report, kernels, is, times);
            }
            first(report, 15);
        });
        (kernels.to_owned(), codes(node(&judged(&reports), "n7")), strings(expected))
    });
    compare(found.into());
}
