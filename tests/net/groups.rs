//! What several reports are shown by.

use charz_data::Blocks;
use charz_data::report::{Ending, Point, Report, fixtures};
use charz_measure::invoke::unit;
use charz_measure::plan::kernel;
use charz_measure::sweep::judge_report;
use charz_replicate::{DOCUMENTS, Figure, Kernels, Target};
use fastrand::Rng;

use super::draw::{Drawn, draw, each_run, slow};

/// Reports that are shown together, by the names of their files, and the command lines that show them.
pub struct Group {
    pub name: &'static str,
    pub reports: Vec<(String, Report)>,
    pub lines: Vec<String>,
}

/// The same sweep again, on another day, in which all took so many times as long, and on a host of another name.
fn again(of: &Drawn, day: u64, times: f64, host: &str) -> Report {
    let mut rng = Rng::with_seed(day * 1000 + host.len() as u64);
    let mut report = of.report.clone();
    each_run(&mut report, |run| slow(run, times * (1.0 + 0.004 * rng.f64())));
    report.id = format!("{:032x}", rng.u128(..));
    (report.started, report.host.name) = (format!("2026-02-{day:02}T12:00:00Z"), Some(host.to_owned()));
    report.complete_cells();
    judge_report(&mut report);
    report
}

/// A report of what the documents measured, of which some has no number, and some too few runs.
fn of_documents() -> Report {
    let mut report = draw("laptop-8", "default", "quiet").report;
    report.host.claimed_hz = Some(2e9);
    report.cells.clear();
    let kernels = Kernels { admits: |_, _| Ok(()), counters: || Ok(()), footprint: |_, _, _| None };
    let target = Target::new(&report.machine, kernels);
    for document in DOCUMENTS.iter() {
        let figures: Vec<&Figure> = document.figures.iter().collect();
        for spec in document.cells(&figures, &target) {
            if report.cells.iter().any(|cell| spec.describes(cell, &report.plan)) {
                continue;
            }
            let (at, kernel) = (report.cells.len() as u64, kernel(&spec).unwrap());
            report.cards.extend(report.card(&spec.kernel).is_none().then(|| kernel.card().clone()));
            let unit = unit(kernel, None);
            let usual = if unit.more_is_better() { 2e9 * spec.workers.min(8) as f64 } else { 1000.0 };
            let value = usual * (1.0 + 0.1 * (at % 7) as f64);
            let pairs: Vec<(u64, u64)> = (0_u64..1000).map(|nth| (1001 + nth % 20, 1001 + (nth % 20).pow(2))).collect();
            let cell = fixtures::cell(&spec.kernel, spec.workers, unit, value);
            let size_bytes = spec.size.or(spec.level.as_ref().map(|_| (1 + at) << 12));
            let mut cell = cell.under(&spec.mapping).at(Point { size_bytes, ..spec.point() }).timed(&pairs);
            cell.level = spec.level;
            match at % 11 {
                3 => cell.invocations.clear(),
                5 => cell.invocations.truncate(3),
                7 => cell.invocations.iter_mut().for_each(|run| run.ending = Ending::TimedOut),
                _ => {}
            }
            report.cells.push(cell);
        }
    }
    judge_report(&mut report);
    report
}

/// What several reports are shown by: comparisons, histories, machines and fleets.
pub fn groups() -> Vec<Group> {
    let mut groups = Vec::new();
    for (name, of, times) in [
        ("compare-same", ("nodes-32", "default", "quiet"), 1.0),
        ("compare-slower", ("nodes-32", "default", "quiet"), 1.1),
        ("compare-faster", ("laptop-8", "locks", "quiet"), 0.9),
        ("compare-noisy", ("plain-8", "memory", "noisy"), 1.05),
        ("compare-quota", ("guest-2", "mappings", "quota"), 1.2),
        ("compare-moved", ("guest-2", "waits", "moved"), 1.1),
        ("compare-program", ("laptop-8", "program", "quiet"), 1.03),
    ] {
        let base = draw(of.0, of.1, of.2);
        let new = again(&base, 3, times, of.0);
        let lines = [
            "compare a.json b.json",
            "compare a.json b.json --format json",
            "compare a.json b.json --delivered --format markdown",
        ];
        let reports = vec![("a.json".to_owned(), base.report), ("b.json".to_owned(), new)];
        groups.push(Group { name, reports, lines: lines.map(str::to_owned).into() });
    }
    let lines = [
        "replicate t3-4 --from a.json --only 1,5,16,6.4",
        "replicate tacc --from a.json --only figure-5,table-4,figure-6 --format markdown",
        "replicate cmt --from a.json --only table-1,table-2,figure-8 --format csv",
        "replicate cascade --from a.json --only wow! --format json",
    ];
    let reports = vec![("a.json".to_owned(), of_documents())];
    groups.push(Group { name: "replicate", reports, lines: lines.map(str::to_owned).into() });
    let machines = ["laptop-8", "plain-8", "server-128"].map(|machine| draw(machine, "default", "quiet").report);
    let files = ["a.json", "b.json", "c.json"].map(str::to_owned);
    let lines = [
        "compare --machines a.json b.json c.json",
        "compare a.json b.json --cross-machine",
        "render a.json b.json c.json --format markdown",
        "compare --machines a.json b.json c.json --price a=1 --price b=0.8 --price c=9",
    ];
    groups.push(Group {
        name: "machines",
        reports: files.into_iter().zip(machines).collect(),
        lines: lines.map(str::to_owned).into(),
    });
    let of = draw("plain-8", "mappings", "quiet");
    let days: Vec<(String, Report)> = (1..=12)
        .map(|day| (format!("day{day}.json"), again(&of, day, if day > 8 { 1.15 } else { 1.0 }, "plain-8")))
        .collect();
    let add = days.iter().fold("history add --db h.db".to_owned(), |line, (file, _)| line + " " + file);
    let mut lines = vec![add];
    lines.extend(
        ["list", "list --format json", "show 3", "plot", "plot --format json"]
            .map(|verb| format!("history {verb} --db h.db")),
    );
    groups.push(Group { name: "history", reports: days, lines });
    for (name, count, fault) in [("fleet-40", 40, 7), ("fleet-3", 3, 1)] {
        let of = draw("plain-8", "default", "quiet");
        let node = |node: usize, day: u64, times: f64| {
            let name = format!("n{node:02}");
            (format!("{name}-{day}.json"), again(&of, day, times, &name))
        };
        let mut nodes: Vec<(String, Report)> =
            (0..count).map(|at| node(at, 5, if at == fault { 1.2 } else { 1.0 })).collect();
        // The slow one was visited more often; another had too few runs, and a third is a little slow.
        nodes.extend([node(fault, 6, 1.2), node(fault, 7, 1.2)]);
        let few = &mut nodes[count - 1].1;
        few.cells.iter_mut().for_each(|cell| cell.invocations.truncate(2));
        judge_report(few);
        nodes.push(node(count / 2, 6, 1.04));
        let lines = [
            "fleet show .",
            "fleet show . --format json",
            "fleet show . --format csv",
            "fleet baseline . --output site.toml",
            "fleet check --baseline site.toml n00-5.json",
        ];
        groups.push(Group { name, reports: nodes, lines: lines.map(str::to_owned).into() });
    }
    let (quiet, mut beside) =
        (draw("laptop-8", "default", "quiet").report, draw("laptop-8", "default", "quiet").report);
    each_run(&mut beside, |run| run.evidence.get_or_insert_default().seen = [("V43".to_owned(), 0.4)].into());
    judge_report(&mut beside);
    let lines = [
        "render a.json --format table",
        "advise a.json",
        "advise a.json --format json",
        "compare b.json a.json",
        "compare b.json a.json --allow-suspect --format json",
        "render a.json --format csv",
    ];
    let reports = vec![("a.json".to_owned(), beside), ("b.json".to_owned(), quiet)];
    groups.push(Group { name: "sibling-busy", reports, lines: lines.map(str::to_owned).into() });
    let lines = [
        "render a.json --format table",
        "advise a.json",
        "advise a.json --format json",
        "render a.json --format markdown",
    ];
    let reports = vec![("a.json".to_owned(), beside_a_hog())];
    groups.push(Group { name: "beside-a-hog", reports, lines: lines.map(str::to_owned).into() });
    groups.push(Group { name: "fleet-faults", reports: faults(), lines: vec!["fleet show .".to_owned()] });
    groups
}

/// A report of a machine of which another program had a CPU: threads that are bound there got half of it, and others moved away.
fn beside_a_hog() -> Report {
    let mut report = draw("plain-8", "mappings", "quiet").report;
    let runs =
        report.cells.iter_mut().flat_map(|cell| &mut cell.invocations).flat_map(|invocation| &mut invocation.runs);
    for lap in runs.flat_map(|run| &mut run.laps) {
        let length = lap.end_ns - lap.start_ns;
        lap.checks = 60;
        lap.blocks = Some(Blocks::of(vec![length as f64 / lap.ops.max(1) as f64; 60]));
        if lap.seat == Some(0) {
            lap.end_ns += length;
            lap.wait(length);
        }
    }
    report.complete_cells();
    judge_report(&mut report);
    report
}

/// A batch of another firmware whose memory is slower, a node whose clock falls, one with half of a quota, and one with a slow socket.
fn faults() -> Vec<(String, Report)> {
    let of = draw("nodes-32", "default", "quiet");
    let node = |at: u32| {
        let mut report = again(&of, 5, 1.0, &format!("n{at:02}"));
        report.host.firmware = Some(if at < 6 { "BIOS 1.3" } else { "BIOS 1.2" }.into());
        report.host.cpu_quota = (at == 8).then(|| "16.00".into());
        for cell in &mut report.cells {
            let is_memory = cell.kernel.starts_with("mem");
            let is_full = cell.workers == 32;
            for run in &mut cell.invocations {
                match at {
                    node if node < 6 && is_memory => slow(run, 1.08),
                    7 if run.started_ns > 10_000_000_000 && !is_memory => {
                        slow(run, 1.25);
                        let clock = run.evidence.as_mut().and_then(|evidence| evidence.frequency.as_mut()).unwrap();
                        for hz in [&mut clock.before_hz, &mut clock.after_hz, &mut clock.highest_hz] {
                            *hz *= 0.8;
                        }
                    }
                    9 if is_memory && is_full => {
                        for lap in run.runs.iter_mut().flat_map(|run| &mut run.laps) {
                            let longer = if lap.seat.is_some_and(|seat| seat < 16) { 0.25 } else { 0.0 };
                            lap.end_ns += ((lap.end_ns - lap.start_ns) as f64 * longer) as u64;
                        }
                    }
                    _ => {}
                }
            }
        }
        report.complete_cells();
        judge_report(&mut report);
        (format!("n{at:02}.json"), report)
    };
    (0..12).map(node).collect()
}
