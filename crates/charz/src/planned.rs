//! That command lines plan the cells that they did when the lists under `tests/golden/cells` were written. With `CHARZ_GOLDEN_CELLS`
//! set, each sweep's cells are also written to that folder, one line per cell.

mod modelled;

use charz_data::Arrange;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use charz_kernels::{Period, params};
use charz_topology::{Machine, Source, discover};

use crate::args::{Parsed, parse_with};
use crate::command::{Command, c2c, numa, replicate, sweep, topo};
use charz_claims::compare::{Verdict, compare};
use charz_data::report::{self, Status, fixtures};
use charz_measure::fixtures::Setting;
use charz_measure::limits::Limits;
use charz_measure::plan::{Plan, PlannedCell, Request};
use charz_measure::predict::Predictor;

const SWEEPS: &[&str] = &[
    "sweep",
    "sweep --quick",
    "sweep --preset node",
    "sweep --family compute",
    "sweep --family memory",
    "sweep --family sync",
    "sweep --family timer",
    "sweep --family floor",
    "sweep --kernel mem-read,chase-random --threads 1,2,16 --size levels --memory local,remote,interleaved --pages 4k,thp",
    "sweep --kernel pool-std,arith-int --threads 1,2,4-8 --mapping round-robin,dumb,compact --layout contiguous --inside-steps 10",
    "c2c",
    "c2c --all-pairs --mode cas,exchange --cpus 0-1",
    "numa",
    "topo --measured",
    "replicate t3-4",
    "replicate cmt",
    "replicate cascade",
    "replicate solaris",
    "replicate tacc",
];

/// Checks all sweeps on a machine.
#[track_caller]
fn check(name: &str, description: &str) {
    let machine: Machine = discover(&Source::Synthetic(description.into())).unwrap();
    let mut text = format!("machine\t{description}\n");
    for sweep in SWEEPS {
        let cells = cells(sweep, &machine);
        if let Some(folder) = std::env::var_os("CHARZ_GOLDEN_CELLS") {
            let file = Path::new(&folder).join(format!("{name} {sweep}.tsv").replace(' ', "_"));
            let line = |cell: &Cell| format!("{}\t{}\t{:?}\n", cell.kernel, cell.line(), cell.amounts);
            std::fs::write(file, cells.iter().map(line).collect::<String>()).unwrap();
        }
        text += &list(sweep, &cells);
    }
    crate::golden::check(&format!("cells/{name}.tsv"), &text);
}

struct Cell {
    kernel: &'static str,
    /// Names and values of the parameters that its kernel obeys.
    parameters: Vec<(&'static str, String)>,
    /// Names and values of the parameters that set how much is measured.
    amounts: Vec<(&'static str, String)>,
    mapping: String,
    workers: usize,
    /// Seats, level, footprint, repetitions, precision.
    rest: String,
    skipped: bool,
}

impl Cell {
    fn line(&self) -> String {
        format!("{} {} {:?} {}", self.mapping, self.workers, self.parameters, self.rest)
    }
}

/// What a command line plans on a machine with 64 GiB of free memory, on which each step takes 1 ns and each sample 20 µs.
fn setting(line: &str, machine: &Machine) -> Setting {
    let limits =
        Limits { memory_total_bytes: Some(128 << 30), memory_budget_bytes: Some(64 << 30), ..Limits::unlimited() };
    let rates = charz_workloads::kernels().map(|kernel| {
        let sampled = kernel.card().obeys(&params::SAMPLES);
        (&*kernel.card().name, if sampled { 20_000.0 } else { 1.0 }, 0.1)
    });
    let predictor = Predictor::with_rates(machine.usable_strands().count(), rates);
    Setting::of(machine.clone(), plan(line, machine, &limits, &predictor), predictor, &limits)
}

fn cells(line: &str, machine: &Machine) -> Vec<Cell> {
    let plan = setting(line, machine).plan;
    plan.cells.iter().map(|cell| of_planned(cell, &plan)).collect()
}

/// What a command line plans.
fn plan(line: &str, machine: &Machine, limits: &Limits, predictor: &Predictor) -> Plan {
    let usual = |request| Request { seed: Some(1), ..request };
    let of_request = |request: &Request| Plan::new(request, &request.fit(machine, limits).unwrap(), limits, predictor);
    let argv = ["charz"].into_iter().chain(line.split(' ')).map(OsString::from);
    let Ok(Parsed::Command { command, .. }) = parse_with(argv, &Default::default()) else {
        panic!("{line} is not read")
    };
    match *command {
        Command::Sweep(options) => match *options {
            sweep::Options::New(new, _) => of_request(&usual(new.request)),
            sweep::Options::Resume(_) => panic!("{line} resumes"),
        },
        Command::Topo(options) => match *options {
            topo::Options::Measure { new, .. } => of_request(&usual(new.request)),
            _ => panic!("{line} measures nothing"),
        },
        Command::CoreToCore(options) => {
            let mut request = Request { iterations: Some(5_000_000), ..usual(options.new.request) };
            let wanted = |id| options.strands.as_ref().is_none_or(|ids| ids.contains(&id));
            let strands: Vec<_> = machine.strands.iter().filter(|strand| wanted(strand.os_id)).collect();
            let time = (!options.all_pairs).then_some(Duration::from_secs(100));
            c2c::plan(&mut request, &strands, time, machine, limits, predictor).unwrap().1
        }
        Command::Numa(options) => numa::plan(&mut usual(options.new.request), machine, limits, predictor).unwrap(),
        Command::Replicate(options) => match *options {
            replicate::Options::Measure { selection, new } => {
                let specs = selection.cells(machine);
                Plan::of_specs(&usual(new.request), &specs, machine, limits, predictor).unwrap()
            }
            _ => panic!("{line} measures nothing"),
        },
        _ => panic!("{line} is no sweep"),
    }
}

fn of_planned(cell: &PlannedCell, plan: &Plan) -> Cell {
    let card = cell.kernel.card();
    let own = cell.point.params(&plan.params);
    let (mut parameters, mut amounts) = (Vec::new(), Vec::new());
    for param in &*card.params {
        // The lists call some of them by shorter words.
        let name = param.stored.trim_end_matches("-steps");
        let value = match own.period {
            _ if **param != params::PERIOD => (param.raw)(&own),
            Period::Fitting => "auto".into(),
            Period::Closed => "closed".into(),
            Period::EveryNs(nanos) => nanos.to_string(),
        };
        let list = if param.is_amount() { &mut amounts } else { &mut parameters };
        list.push((name, value));
    }
    let seats: Vec<String> = cell.seats.iter().map(|seat| seat.map_or("-".into(), |id| id.to_string())).collect();
    Cell {
        kernel: &card.name,
        parameters,
        amounts,
        mapping: cell.mapping.to_string(),
        workers: cell.seats.len(),
        rest: format!(
            "{}\t{}\t{}\t{}\t{}",
            cell.level.as_deref().unwrap_or("-"),
            cell.footprint_bytes,
            cell.repetitions,
            cell.precision,
            seats.join(",")
        ),
        skipped: cell.obstacle.is_some(),
    }
}

/// The order in which columns are put together; the last two are the mapping and the workers.
const ORDER: [&str; 17] = [
    "workers", "mapping", "size", "memory", "delay", "chains", "stride", "pages", "layout", "inside", "outside",
    "period", "timeout", "pool", "order", "depth", "kernel",
];

/// A sweep's cells: `cells` with what there is, `skipped` with what of it is skipped, `rest` with a digest of everything else by
/// kernel, and `amounts` with how much is measured.
fn list(sweep: &str, cells: &[Cell]) -> String {
    let mut text = String::new();
    let mut by_kernel: BTreeMap<&str, Vec<&Cell>> = BTreeMap::new();
    cells.iter().for_each(|cell| by_kernel.entry(cell.kernel).or_default().push(cell));
    for (kernel, cells) in &by_kernel {
        for line in merged(cells.iter().copied()) {
            text += &format!("cells\t{sweep}\t{kernel}\t{line}\n");
        }
        let skipped = cells.iter().copied().filter(|cell| cell.skipped);
        for line in merged(skipped) {
            text += &format!("skipped\t{sweep}\t{kernel}\t{line}\n");
        }
        let mut lines: Vec<String> = cells.iter().map(|cell| cell.line()).collect();
        lines.sort_unstable();
        text += &format!("rest\t{sweep}\t{kernel}\t{} cells\t{:016x}\n", lines.len(), digest(&lines.join("\n")));
    }
    let amounts: BTreeMap<_, _> =
        cells.iter().flat_map(|cell| &cell.amounts).map(|(name, value)| (*name, value)).collect();
    text += &format!("amounts\t{sweep}\t{amounts:?}\n");
    text
}

/// Each line names, for each column, all values of which every combination is a cell.
fn merged<'a>(cells: impl Iterator<Item = &'a Cell>) -> Vec<String> {
    type Row = BTreeMap<&'static str, Vec<String>>;
    let row = |cell: &Cell| -> Row {
        let own = [("mapping", cell.mapping.clone()), ("workers", cell.workers.to_string())];
        let all = cell.parameters.iter().cloned().chain(own);
        all.map(|(name, value)| (name, vec![value])).collect()
    };
    let mut rows: Vec<Row> = cells.map(row).collect();
    for column in ORDER {
        let mut groups: BTreeMap<Row, Vec<String>> = BTreeMap::new();
        for mut row in rows {
            let Some(values) = row.remove(column) else {
                groups.entry(row).or_default();
                continue;
            };
            groups.entry(row).or_default().extend(values);
        }
        rows = groups
            .into_iter()
            .map(|(mut row, mut values)| {
                values.arrange_by_key(|value| (value.parse().unwrap_or(u64::MAX), value.clone()));
                if !values.is_empty() {
                    row.insert(column, values);
                }
                row
            })
            .collect();
    }
    let value = |(name, values): (&&str, &Vec<String>)| format!("{name}={}", values.join("|"));
    rows.iter().map(|row| row.iter().map(value).collect::<Vec<_>>().join(" ")).collect()
}

/// FNV-1a, which never changes.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn the_example_of_each_kernel_plans_what_can_run() {
    let machine = discover(&Source::Synthetic("Package:2 NUMA:2(memory=32GB) Core:4 PU:2".into())).unwrap();
    for kernel in charz_workloads::kernels() {
        let line = crate::view::kernels::example(kernel.card());
        let cells = cells(line.strip_prefix("charz ").unwrap(), &machine);
        assert!(cells.iter().any(|cell| !cell.skipped) || kernel.check().is_err(), "{line}");
    }
}

/// The plan of the one has the size that is a configuration's own in the other.
#[test]
fn a_quick_sweep_is_compared_with_a_default_one() {
    let caches = "Package:1 [NUMA(memory=64GB)] L3:1(size=32MiB) L2:8(size=1MiB) L1:1(size=32KiB) Core:1 PU:1";
    let machine = discover(&Source::Synthetic(caches.into())).unwrap();
    let swept = |line: &str, value: f64| {
        let mut report = setting(&format!("{line} --kernel mem-read --iterations 3"), &machine).blank;
        for cell in &mut report.cells {
            let measured = fixtures::cell(&cell.kernel, cell.workers, cell.unit, value);
            let (capacity, delivered, invocations) = (measured.capacity, measured.delivered, measured.invocations);
            let planned = cell.clone();
            *cell = report::Cell { status: Status::Ok, capacity, delivered, invocations, ..planned };
        }
        report
    };
    let (base, new) = (swept("sweep --threads 1,8", 1e9), swept("sweep --quick", 0.6e9));
    assert!(base.cells[0].point.size_bytes.is_some() && new.cells[0].point.size_bytes.is_none());
    let rows = compare([&base, &new], &Default::default()).unwrap().rows;
    let of_both: Vec<_> = rows.iter().filter(|row| row.cells.iter().all(Option::is_some)).collect();
    assert!(of_both.len() >= 2 && of_both.iter().all(|row| row.verdict == Verdict::Slower), "{rows:?}");
}

#[test]
fn sections_of_each_length_are_cells_of_their_own() {
    let machine = discover(&Source::Synthetic("Core:2 PU:1".into())).unwrap();
    let cells = cells("sweep --kernel pool-std --threads 1 --inside-steps 10,100 --outside-steps 7", &machine);
    let sections = |cell: &Cell| cell.parameters.iter().map(|(_, value)| value.clone()).collect::<Vec<_>>();
    assert_eq!(cells.iter().map(sections).collect::<Vec<_>>(), [["10", "7"], ["100", "7"]]);
}

#[test]
fn one_core_with_two_strands() {
    check("small", "Package:1 [NUMA(memory=8GB)] L3:1(size=4MiB) L2:1(size=1MiB) L1:1(size=32KiB) Core:1 PU:2");
}

#[test]
fn two_packages_of_two_nodes() {
    check("server", "Package:2 NUMA:2(memory=32GB) L3:1(size=32MiB) L2:8(size=1MiB) L1:1(size=32KiB) Core:1 PU:2");
}

#[test]
fn the_sparc_t3_4() {
    check("t3-4", "Package:4 [NUMA(memory=128GB)] L2:1(size=6MiB) L1:16(size=8KiB) Core:1 Group:2 PU:4");
}
