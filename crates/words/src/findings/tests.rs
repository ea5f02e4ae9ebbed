//! What each rule says of synthetic reports that show it, recorded.

mod shared;

use super::*;
use charz_data::card::Words;
use charz_data::machine::{Cache, CacheHolds};
use charz_data::report::{Cell, Ending, Host, Invocation, MemoryHome, PageKind, Point, Report, Status, Unit, fixtures};
use charz_data::{Growth, GrowthStep, Halt, Role};
use charz_estimate::fixtures::{report as synthetic, sizes};

const MIB: u64 = 1 << 20;

/// A cell whose number is `value`, give or take 2%.
fn cell(kernel: &str, workers: u64, value: f64) -> Cell {
    let starts = |names: &[&str]| names.iter().any(|name| kernel.starts_with(name));
    let unit = match kernel {
        _ if starts(&["ring-", "c2c-"]) => Unit::NanosecondsPerOp,
        _ if starts(&["pool-", "acquire-", "counter-", "cas-", "atomic-", "cmt-", "cache-", "matmul-", "arith-"]) => {
            Unit::OpsPerSecond
        }
        _ if starts(&["chase-", "loaded-"]) => Unit::NanosecondsPerStep,
        _ if starts(&["mem-", "level-"]) => Unit::BytesPerSecond,
        _ => Unit::NanosecondsSampled,
    };
    fixtures::cell(kernel, workers, unit, value)
}

fn series(kernel: &str, numbers: &[(u64, f64)]) -> Vec<Cell> {
    numbers.iter().map(|&(workers, value)| cell(kernel, workers, value)).collect()
}

fn without(kernel: &str, workers: u64, status: Status, ending: Option<Ending>) -> Cell {
    let invocation = |ending| Invocation { reason: Some("a reason".into()), ..fixtures::barren(ending) };
    let invocations = ending.into_iter().map(invocation).collect();
    Cell { invocations, ..cell(kernel, workers, 1.0).unmeasured(status, "safety") }
}

fn on(strands: u32, cells: impl Into<Vec<Cell>>) -> Report {
    fixtures::report(cells.into()).on(strands)
}

fn on_machine(machine: &str, cells: Vec<Cell>) -> Report {
    Report { machine: synthetic(machine).machine, ..fixtures::report(cells) }
}

/// The report, all kernels of which have this role.
fn playing(mut report: Report, role: Role) -> Report {
    report.cards.iter_mut().for_each(|card| card.role = role.clone());
    report
}

/// Cases by name: a report each.
type Cases = Vec<(&'static str, Report)>;

fn of_threads() -> Cases {
    let ring = |numbers: &[(u64, f64)]| series("ring-mutex", numbers);
    let counter = |numbers: &[(u64, f64)]| series("cas-counter", numbers);
    let pending = |workers| cell("ring-mutex", workers, 1.0).unmeasured(Status::Pending, "");
    let quota = {
        let mut report = on(2, series("cmt-quota", &[(1, 100.0), (2, 101.0), (4, 95.0)]));
        report.machine.usable.quota_cpus = Some(1.0);
        report
    };
    let end = |workers, status, ending| without("cas-counter", workers, status, ending);
    vec![
        ("a cliff", on(32, ring(&[(16, 744.0), (32, 1013.0), (33, 34_500.0)]))),
        ("far beyond the CPUs", on(16, ring(&[(16, 1581.0), (32, 26_600.0), (33, 27_300.0)]))),
        ("as many as CPUs", on(4, ring(&[(2, 400.0), (4, 2000.0)]))),
        ("not steep", on(4, ring(&[(2, 400.0), (4, 500.0), (5, 900.0)]))),
        ("not lasting", on(4, ring(&[(2, 400.0), (4, 4000.0), (5, 500.0)]))),
        ("no more than CPUs", on(4, ring(&[(2, 400.0), (4, 500.0)]))),
        ("of far CPUs", on(16, ring(&[(2, 40.0), (4, 120.0), (17, 140.0)]))),
        ("not certain", on(4, [cell("ring-mutex", 2, 400.0), cell("ring-mutex", 5, 1600.0).within(9.0)])),
        (
            "beyond cells without a number",
            on(4, [ring(&[(2, 400.0), (8, 1600.0)]), vec![pending(4), pending(5), pending(9)]].concat()),
        ),
        ("a collapse", on(4, counter(&[(1, 40e6), (2, 30e6), (4, 19e6)]))),
        ("more than half", on(4, counter(&[(1, 40e6), (2, 30e6), (4, 21e6)]))),
        ("twice", on(4, counter(&[(1, 100e6), (2, 20e6), (4, 22e6), (8, 1e6)]))),
        ("wide", on(4, [cell("cas-counter", 1, 40e6), cell("cas-counter", 4, 10e6).within(9.0)])),
        ("few runs", on(4, [cell("cas-counter", 1, 40e6), cell("cas-counter", 4, 10e6).without_interval()])),
        ("nothing shared", on(4, series("mem-read", &[(1, 40e6), (2, 1e6)]))),
        (
            "stuck, and skipped",
            on(
                4,
                [
                    counter(&[(1, 40e6), (2, 30e6)]),
                    vec![
                        end(64, Status::Failed, Some(Ending::TimedOut)),
                        end(128, Status::Skipped, None),
                        end(256, Status::Failed, Some(Ending::Died)),
                    ],
                ]
                .concat(),
            ),
        ),
        ("skipped", on(4, [cell("cas-counter", 1, 40e6), end(8, Status::Skipped, None)])),
        ("a quota", quota),
    ]
}

fn of_pools() -> Cases {
    let three = |mcs: f64, parked: f64| {
        vec![cell("pool-mcs", 2, mcs), cell("pool-parking-lot", 2, parked), cell("pool-tas", 2, 1e6)]
    };
    let long = |kernel: &str, value| {
        let mut cell = cell(kernel, 2, value);
        cell.point.inside_steps = Some(1000);
        cell
    };
    let lacking = [
        cell("pool-std", 2, 1.0).invalid(),
        without("pool-std", 2, Status::Skipped, None),
        cell("pool-tas-backoff", 2, 90e6).without_interval(),
    ];
    let lock_free = [
        series("pool-deque", &[(2, 90e6)]),
        series("pool-treiber", &[(2, 10e6), (4, 5e6)]),
        series("pool-treiber-backoff", &[(2, 12e6), (4, 20e6)]),
        series("pool-std", &[(2, 9e6), (4, 9e6)]),
    ];
    let pool = |kernel: &str, one: f64, two: f64, width: f64| {
        let of = |workers: u64, value| cell(kernel, workers, value).in_order().within(width);
        vec![of(1, one), of(2, two)]
    };
    let mut more = pool("pool-tas", 40e6, 30e6, 0.02);
    more.remove(0);
    let mut steps = pool("pool-std", 40e6, 10e6, 0.02);
    steps.iter_mut().for_each(|cell| (cell.point.inside_steps, cell.point.outside_steps) = (Some(10), Some(100)));
    let mut inside = pool("pool-std", 40e6, 10e6, 0.02);
    inside.iter_mut().for_each(|cell| cell.point.inside_steps = Some(10));
    vec![
        ("the fastest lock", on(4, three(30e6, 20e6))),
        ("the reference", on(4, three(20e6, 30e6))),
        ("no faster", on(4, three(30.1e6, 30e6))),
        ("one lock", on(4, [cell("pool-mcs", 2, 30e6)])),
        ("few runs of all", on(4, three(30e6, 20e6).into_iter().map(Cell::without_interval).collect::<Vec<_>>())),
        ("others without a number", on(4, [three(30e6, 20e6), lacking.to_vec()].concat())),
        ("of two lengths", on(4, [three(30e6, 20e6), vec![long("pool-mcs", 1e6), long("pool-tas", 2e6)]].concat())),
        ("without a lock", on(4, lock_free.concat())),
        ("most", on(2, [pool("pool-std", 40e6, 10e6, 0.02), pool("pool-mcs", 20e6, 16e6, 0.02)].concat())),
        (
            "most, though it loses more",
            on(2, [pool("pool-mcs", 40e6, 20e6, 0.02), pool("pool-std", 60e6, 24e6, 0.02)].concat()),
        ),
        (
            "more without one thread",
            on(2, [pool("pool-std", 40e6, 10e6, 0.02), pool("pool-mcs", 20e6, 16e6, 0.02), more].concat()),
        ),
        ("wide locks", on(2, [pool("pool-std", 40e6, 10e6, 0.7), pool("pool-mcs", 20e6, 16e6, 0.7)].concat())),
        ("alike", on(2, [pool("pool-std", 20e6, 15.8e6, 0.02), pool("pool-mcs", 20e6, 16e6, 0.02)].concat())),
        ("alone", on(2, pool("pool-std", 40e6, 10e6, 0.02))),
        ("steps outside", on(2, steps)),
        ("steps inside", on(2, inside)),
    ]
}

fn of_advice() -> Cases {
    let wake = |mapping: &str, seats: [u32; 2], ns| cell("futex-wake", 2, ns).under(mapping).seated(&seats);
    let far = || wake("far", [0, 2], 30e3);
    let mut auto = wake("auto", [1, 1], 3e3);
    auto.seats = vec![None; 2];
    let mut pools = series("c2c-cas", &[(2, 100.0)]);
    pools.extend(series("pool-treiber", &[(2, 10e6), (4, 5e6), (8, 1e6)]));
    pools.extend(series("pool-treiber-backoff", &[(2, 10e6), (4, 20e6), (8, 9e6)]));
    pools.extend([cell("pool-tas", 2, 10e6), cell("pool-tas-backoff", 2, 10.1e6)]);
    let ways = [cell("c2c-cas", 2, 20.0).under("pair:core"), cell("c2c-cas", 2, 150.0).under("pair:package")];
    let adding = |shared: f64, own: f64, width: f64| {
        let of = |kernel: &str, value| cell(kernel, 4, value).seated(&[0, 1, 2, 3]).within(width);
        vec![of("atomic-fetch-add", shared), of("atomic-fetch-add-private", own)]
    };
    let barriers = |sense| [cell("barrier-std", 4, 9e3), cell("barrier-spin", 4, 300.0), sense];
    let no_sense = without("barrier-sense", 4, Status::Failed, Some(Ending::Died));
    let limited = [cell("counter-atomic", 4, 10e6), cell("counter-sharded", 4, 11e6)];
    vec![
        ("spin", on(4, [wake("near", [0, 1], 8e3)])),
        ("spin, in doubt", on(4, [wake("near", [0, 1], 8e3).suspect()])),
        ("spin beside one CPU", on(4, [wake("one", [1, 1], 3e3), far()])),
        ("spin for two times", on(4, [wake("near", [0, 1], 9e3), far()])),
        ("spin for one time", on(4, [wake("near", [0, 1], 30.1e3), far()])),
        ("do not spin", on(4, [wake("one", [1, 1], 3e3)])),
        ("seen on one CPU", on(4, [auto, far()])),
        ("no wake-up", on(4, [without("futex-wake", 2, Status::Failed, Some(Ending::Died))])),
        ("back off", on(16, ways)),
        ("one CPU", on(1, [cell("c2c-cas", 2, 20.0)])),
        ("back off in pools", on(4, pools)),
        ("shards", on(8, adding(10e6, 25e6, 0.02))),
        ("shards, in doubt", on(8, adding(10e6, 25e6, 0.02).into_iter().map(Cell::suspect).collect::<Vec<_>>())),
        ("no shards", on(8, adding(10e6, 11e6, 0.02))),
        ("shards, not certain", on(8, adding(10e6, 16e6, 0.2))),
        ("more workers than CPUs", on(2, adding(10e6, 900e6, 0.02))),
        ("shards with a limit", on(8, limited.map(|cell| cell.seated(&[0, 1, 2, 3])))),
        ("barriers", on(4, barriers(cell("barrier-sense", 4, 305.0)))),
        ("barriers without a number", on(4, barriers(no_sense))),
        ("wake-ups", on(4, [cell("signal-std", 2, 9e3), cell("channel-std", 2, 7e3), cell("flag", 2, 80.0)])),
    ]
}

fn of_problems() -> Cases {
    let seated = |kernel: &str, workers: u64, value: f64| cell(kernel, workers, value).in_order();
    let pair = |kernel: &str, one, four| on(4, [seated(kernel, 1, one), seated(kernel, 4, four)]);
    let under = |pages, value| {
        let mut cell = cell("chase-random", 1, value).seated(&[0]).sized(1 << 26);
        cell.point.pages = Some(pages);
        cell
    };
    let memory = |memory, value| {
        let mut cell = cell("mem-read", 4, value).in_order();
        cell.point.memory = memory;
        cell
    };
    let node = || memory(Some(MemoryHome::Node(0)), 40e9);
    let on_caches = |cells: Vec<Cell>| {
        let machine = "Package:1 L3:1(size=32MiB) Core:4 L2:1(size=1MiB) L1d:1(size=32KiB) PU:2";
        on_machine(machine, cells)
    };
    let of = |kernel: &str, size: u64, cells: &[(&[u32], f64)]| {
        let cell = |(seats, value): &(&[u32], f64)| Cell {
            unit: Unit::NanosecondsPerStep,
            ..cell(kernel, seats.len() as u64, *value).seated(seats).sized(size)
        };
        cells.iter().map(cell).collect::<Vec<_>>()
    };
    let chase = |size: u64, cells: &[(&[u32], f64)]| on_caches(of("chase-random", size, cells));
    let (four, all): (&[u32], &[u32]) = (&[0, 2, 4, 6], &[0, 1, 2, 3, 4, 5, 6, 7]);
    let floating = fixtures::cell("chase-random", 8, Unit::NanosecondsPerStep, 80.0).sized(8 << 20);
    let clocked = |hz| {
        let with = |seats: &[u32], ns, hz| of("chase-random", 8 << 20, &[(seats, ns)]).remove(0).clocked(hz);
        on_caches(vec![with(four, 20.0, 4e9), with(all, 32.0, hz)])
    };
    let program = {
        let mut program = cell("fft-mutex", 4, 1e3);
        let step = GrowthStep { inlined: 1, ..GrowthStep::default() };
        let growth =
            Growth { most_threads: 100, limited_by: "pids.max is 100".into(), ..Growth::new(vec![step], Halt::Time) };
        program.invocations.iter_mut().for_each(|run| run.runs[0].growth = Some(Box::new(growth.clone())));
        on(4, [program])
    };
    vec![
        ("lock contention", pair("pool-std", 1e8, 2e7)),
        ("a line", pair("counter-atomic", 1e8, 5e7)),
        ("nearly as much", pair("pool-std", 1e8, 0.99e8)),
        ("unmapping", playing(pair("signal-std", 1e3, 9e3), Role::Unmapping)),
        ("a barrier", on(16, [seated("barrier-std", 2, 100.0), seated("barrier-std", 16, 800.0)])),
        ("a tree", on(16, [seated("barrier-std", 2, 100.0), seated("barrier-std", 16, 400.0)])),
        ("few threads", on(16, [seated("barrier-std", 2, 100.0), seated("barrier-std", 4, 200.0)])),
        ("small pages", on(4, [under(PageKind::Small, 150.0), under(PageKind::Huge2M, 90.0)])),
        ("pages alike", on(4, [under(PageKind::Small, 91.0), under(PageKind::Huge2M, 90.0)])),
        ("one node", on(4, [memory(None, 80e9), node()])),
        ("one node, another size", on(4, [memory(None, 80e9).sized(MIB), node()])),
        ("interleaved", on(4, [memory(Some(MemoryHome::Interleaved), 80e9), node()])),
        ("thrashing", chase(8 << 20, &[(&[0], 18.0), (four, 20.0), (all, 80.0)])),
        ("thrashing within a core", chase(768 << 10, &[(&[0], 4.0), (&[0, 1], 9.0)])),
        ("the clock fell", clocked(2.5e9)),
        ("the clock did not fall", clocked(4e9)),
        ("within the L2", chase(128 << 10, &[(&[0], 4.0), (&[0, 1], 9.0)])),
        ("too large alone", chase(64 << 20, &[(&[0], 90.0), (all, 180.0)])),
        ("before the cache is full", chase(8 << 20, &[(&[0], 20.0), (four, 60.0), (all, 80.0)])),
        ("by less than half", chase(8 << 20, &[(four, 20.0), (all, 30.0)])),
        ("nothing near", chase(8 << 20, &[(&[0], 20.0), (all, 80.0)])),
        ("more threads than CPUs", chase(8 << 20, &[(four, 20.0), (&[0, 1, 2, 3, 4, 5, 6, 7, 0], 80.0)])),
        ("unknown seats", on_caches([of("chase-random", 8 << 20, &[(four, 20.0)]), vec![floating]].concat())),
        ("streams", on_caches(of("level-read", 8 << 20, &[(four, 40e9), (all, 50e9)]))),
        ("a limit", program),
    ]
}

fn of_cycles() -> Cases {
    let pair = |seats: &[u32], nanos: f64, hz: f64| cell("c2c-cas", 2, nanos).seated(seats).clocked(hz);
    let between = |machine: &str, is_guest, cells: Vec<Cell>| {
        let mut report = on_machine(machine, cells);
        report.host.virtual_machine = Some(is_guest);
        report
    };
    let cores = "L3:1 Core:2 PU:1";
    let words = |kernel: &str| cell(kernel, 2, 4e9).clocked(4e9).sized(512_000);
    let rounds = |whose| {
        let phases: Vec<(u64, u64)> = vec![(32_000, 160_000); 20];
        playing(on(2, [words("cache-read").timed(&phases)]), Role::CacheWords(whose))
    };
    let mut boosted = words("cache-read");
    boosted.invocations[3].evidence.as_mut().unwrap().frequency.as_mut().unwrap().highest_hz *= 1.5;
    let product = |kernel: &str, workers: u64, depth: Option<u64>, millis: f64| {
        let point = Point { order: Some(1024), depth, ..Point::default() };
        cell(kernel, workers, 2e3 * 1024_f64.powi(3) / millis).at(point)
    };
    let depths = |millis: &[(u64, f64)]| {
        millis.iter().map(|&(depth, millis)| product("matmul-mutex", 2, Some(depth), millis)).collect::<Vec<_>>()
    };
    let libraries = vec![
        product("matmul-library", 2, None, 25.0),
        product("matmul-library", 4, None, 1.0),
        product("matmul-mutex", 4, Some(1), 1.0),
    ];
    let spread = |machine: &str, ends: &[[u32; 2]]| {
        let mut cell = cell("arith-int", 2, 1e9).under("auto");
        let invocation = cell.invocations[0].clone();
        let of = |[one, other]: &[u32; 2]| {
            let mut invocation = invocation.clone();
            let laps = &mut invocation.runs[0].laps;
            (laps[0].strand, laps[1].strand) = (Some(*one), Some(*other));
            invocation
        };
        cell.invocations = ends.iter().map(of).collect();
        on_machine(machine, vec![cell])
    };
    let ends = [vec![[0, 4]; 10], vec![[0, 1]; 6], vec![[2, 2]; 3], vec![[0, 2]; 1]].concat();
    vec![
        ("as fast as one core", between(cores, true, vec![pair(&[0, 1], 10.0, 2.5e9)])),
        ("of one core", between("Core:1 PU:2", true, vec![pair(&[0, 1], 10.0, 2.5e9)])),
        ("slow", between(cores, true, vec![pair(&[0, 1], 40.0, 2.5e9)])),
        ("fast cores", between(cores, true, vec![pair(&[0, 1], 16.0, 4.8e9)])),
        ("without a clock", between(cores, true, vec![cell("c2c-cas", 2, 10.0).seated(&[0, 1])])),
        (
            "the fastest pair",
            between(
                "Core:3 PU:1",
                false,
                vec![pair(&[0, 1], 11.0, 2.5e9), pair(&[0, 2], 10.0, 2.5e9), pair(&[1, 2], 40.0, 2.5e9)],
            ),
        ),
        ("words per cycle", on(2, [words("cache-read")])),
        ("words per cycle, in doubt", on(2, [words("cache-read").suspect()])),
        ("its own words", rounds(Words::OwnWritten)),
        ("the other's words", rounds(Words::OtherWritten)),
        ("one run at another clock", on(2, [boosted])),
        ("depths", on(4, [depths(&[(1, 150.0), (2, 100.0), (3, 120.0), (5, 2000.0)]), libraries].concat())),
        ("the deepest", on(4, depths(&[(1, 150.0), (2, 100.0)]))),
        ("depths alike", on(4, depths(&[(1, 150.0), (2, 100.0), (3, 100.5)]))),
        ("one depth", on(4, depths(&[(1, 150.0)]))),
        ("spread", spread("NUMA:2 Core:2 PU:2", &ends)),
        ("spread apart", spread("Core:2 PU:1", &[[0, 1]; 20])),
        ("few iterations", spread("Core:2 PU:1", &[[0, 1]; 19])),
        ("unknown places", spread("Core:2 PU:1", &[[0, 7]; 30])),
    ]
}

/// A guest with 12 of 32 MiB of L3.
fn guest(size: u64) -> f64 {
    match size {
        0..=32_768 => 1.08,
        32_769..=1_048_576 => 3.8,
        1_048_577..=12_582_912 => 15.0,
        _ => 140.0,
    }
}

/// Where three caches are claimed to be of these levels.
fn claimed(levels: [u32; 3], is_guest: bool, cells: Vec<Cell>) -> Report {
    let mut report = fixtures::report(cells);
    let cache = |(level, size)| Cache {
        level,
        holds: CacheHolds::Unified,
        index: 0,
        size_bytes: Some(size),
        line_bytes: Some(64),
        ways: None,
        inclusive: None,
        strands: 1,
    };
    report.machine.caches = levels.into_iter().zip([32 << 10, MIB, 32 * MIB]).map(cache).collect();
    report.machine.strands.truncate(1);
    (report.machine.strands[0].usable, report.machine.strands[0].caches) = (true, vec![0, 1, 2]);
    report.host = Host { virtual_machine: Some(is_guest), ..report.host };
    report
}

fn of_latencies() -> Cases {
    let curve = |kernel: &str, pages, stride, ns: &dyn Fn(u64) -> f64| {
        let point = Point { pages: Some(pages), stride_bytes: Some(stride), ..Point::default() };
        sizes().map(|size| cell(kernel, 1, ns(size)).at(Point { size_bytes: Some(size), ..point })).collect::<Vec<_>>()
    };
    let random = |ns: &dyn Fn(u64) -> f64| curve("chase-random", PageKind::Transparent, 64, ns);
    let small = |ns: &dyn Fn(u64) -> f64| curve("chase-random", PageKind::Small, 64, ns);
    let plain = |cells: Vec<Cell>| claimed([1, 2, 3], true, cells);
    let size = |cell: &Cell| cell.point.size_bytes.unwrap();
    let suspect = |sizes: std::ops::RangeInclusive<u64>| {
        let mut cells = random(&guest);
        let own = cells.iter_mut().filter(|cell| sizes.contains(&size(cell)));
        own.for_each(|cell| cell.status = Status::Suspect);
        plain(cells)
    };
    let lost = |keep: &dyn Fn(u64) -> bool| {
        let lost = |cell: Cell| if keep(size(&cell)) { cell } else { cell.unmeasured(Status::Pending, "") };
        plain(random(&guest).into_iter().map(lost).collect())
    };
    let mut clocked: Vec<Cell> = random(&guest).into_iter().map(|cell| cell.clocked(2e9)).collect();
    clocked[2] = clocked[2].clone().clocked(3e9);
    // Each size finds another share of its loads in L2.
    let steep = |size: u64| match size {
        0..=32_768 => 1.08,
        32_769..=1_048_576 => 1.08 + 12.0 * (size as f64 / 32_768.0).log2() / 5.0,
        _ => guest(size),
    };
    let large = |size| if size > MIB && size <= 4 * MIB { 3.8 } else { guest(size) };
    let inside = random(&guest).into_iter().filter(|cell| size(cell) <= MIB).collect();
    let mut strides = random(&guest);
    for (stride, from_memory) in [(64, 1.8), (128, 40.0), (256, 140.0), (4096, 140.0)] {
        let ns = move |size| if guest(size) > 100.0 { from_memory } else { guest(size) };
        strides.extend(curve("chase-stride", PageKind::Transparent, stride, &ns));
    }
    let beyond = |from: u64, extra: f64| small(&move |size| guest(size) + if size > from { extra } else { 0.0 });
    let other = random(&guest).into_iter().map(|cell| cell.under("dumb")).collect();
    let chains = |chains: u64, size: u64, value: f64| {
        let point = Point { chains: Some(chains), pages: Some(PageKind::Transparent), ..Point::default() };
        cell("chase-chains", 1, value).at(Point { size_bytes: Some(size), ..point })
    };
    let mut at_once: Vec<Cell> =
        [(1, 1.08), (4, 0.27), (16, 0.14)].map(|(count, ns)| chains(count, 16 << 10, ns)).into();
    at_once.extend([(1, 144.0), (4, 36.0), (16, 12.0)].map(|(count, ns)| chains(count, 256 * MIB, ns)));
    let without_one = at_once.iter().filter(|cell| cell.point.chains != Some(1)).cloned().collect();
    let mut doubtful = at_once.clone();
    doubtful[3].status = Status::Suspect;
    // Between what the TLB spans and the end of L3 small pages have a plateau that huge ones have not.
    let walks = |size: u64| if size > 4 * MIB && size <= 12 * MIB { 50.0 } else { guest(size) };
    vec![
        ("a plateau of translations", plain([random(&guest), small(&walks)].concat())),
        ("levels", plain(random(&guest))),
        ("levels of a machine", claimed([1, 2, 3], false, random(&guest))),
        ("a level is not there", claimed([1, 3, 4], true, random(&guest))),
        ("the middle clock", plain(clocked)),
        ("small sizes in doubt", suspect(0..=8 << 10)),
        ("the first level in doubt", suspect(0..=32 << 10)),
        ("the edges in doubt", suspect(33 << 10..=2 * MIB)),
        ("memory in doubt", suspect(64 * MIB..=u64::MAX)),
        ("wide intervals", plain(random(&guest).into_iter().map(|cell| cell.within(0.5)).collect())),
        ("more than claimed", claimed([1, 2, 3], false, random(&large))),
        ("nothing beyond", lost(&|size| size <= 32 * MIB)),
        ("a gap", lost(&|size| size <= 12 * MIB || size > 24 * MIB)),
        ("no plateau", plain(random(&steep))),
        ("no sizes of a cache", plain(inside)),
        ("read ahead", plain(random(&|size| guest(size).min(3.5)))),
        ("strides", plain(strides)),
        ("translations", plain([beyond(12 * MIB, 40.0), random(&guest)].concat())),
        ("translations of a level", plain([beyond(96 << 10, 90.0), random(&guest)].concat())),
        ("of another mapping", plain([beyond(12 * MIB, 40.0), other].concat())),
        ("chains", plain(at_once)),
        ("chains, in doubt", plain(doubtful)),
        ("no single chain", plain(without_one)),
        ("two sizes", plain(random(&guest).into_iter().take(2).collect())),
        ("two workers", plain(random(&guest).into_iter().map(|cell| Cell { workers: 2, ..cell }).collect())),
    ]
}

/// Delays, GB/s and nanoseconds; and which of them are in doubt.
fn of_loads() -> Cases {
    let loads = |loads: &[(u64, f64, f64)], doubts: &[usize]| {
        let load = |(at, &(delay, gigabytes, ns)): (usize, &(u64, f64, f64))| {
            let mut cell = cell("loaded-read", 3, ns).at(Point { delay: Some(delay), ..Point::default() });
            for run in cell.invocations.iter_mut().flat_map(|invocation| &mut invocation.runs) {
                let time = run.interval_ns as f64;
                run.laps.iter_mut().for_each(|lap| lap.bytes = (gigabytes * time / 3.0) as u64);
            }
            if doubts.contains(&at) { cell.suspect() } else { cell }
        };
        fixtures::report(loads.iter().enumerate().map(load).collect())
    };
    let full = [(0, 24.0, 400.0), (64, 25.0, 300.0), (256, 20.0, 150.0), (1024, 8.0, 95.0), (4096, 2.0, 90.0)];
    let blip = [(0, 20.0, 100.0), (64, 18.0, 500.0), (4096, 2.0, 90.0)];
    let three = [(0, 24.0, 400.0), (64, 20.0, 95.0), (4096, 2.0, 90.0)];
    vec![
        ("a knee", loads(&full, &[])),
        ("no knee", loads(&blip, &[])),
        ("two loads", loads(&[(0, 24.0, 400.0), (8, 1.0, 90.0)], &[])),
        ("a knee, in doubt", loads(&three, &[0])),
        ("an idle load in doubt", loads(&three, &[0, 2])),
        ("one load", loads(&[(0, 24.0, 400.0)], &[])),
    ]
}

#[test]
fn each_rule_has_its_sentences() {
    let mut cases =
        [of_threads(), of_pools(), of_advice(), of_problems(), of_cycles(), of_latencies(), of_loads()].concat();
    cases.extend(shared::cases());
    let mut text = String::new();
    for (name, report) in &cases {
        text += &format!("# {name}\n");
        for found in findings(&Estimates::of(report)) {
            let about =
                [Some(found.kernel.clone()), found.mapping.clone(), found.workers.map(|workers| format!("x{workers}"))];
            let about = about.into_iter().flatten().collect::<Vec<_>>().join(" ");
            let value = found.value.map(|value| format!(" = {value:.6e}")).unwrap_or_default();
            text += &format!("{:?} {about}{value}: {}\n", found.kind, found.text);
            if !found.evidence.is_empty() {
                text += &format!("  from {}\n", found.evidence);
            }
        }
    }
    let mut settings = insta::Settings::clone_current();
    // Where cargo may not be asked, as for another user, the path is not that of the workspace.
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/src/findings/snapshots"));
    settings.bind(|| insta::assert_snapshot!("rules", text));
}
