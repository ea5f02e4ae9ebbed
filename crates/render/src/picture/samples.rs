//! Figures of every kind, for tests: what the pages make, and what they should not.

use charz_analysis::figure::{
    Axis, Band, Bar, Body, Figure, Flag, Heat, Joint, Nest, Order, Pair, Part, Plot, Quantity, Role, Rule, Scale,
    Series, Spot, State, Tile, What,
};
use charz_data::report::Unit;

/// Every sample.
pub(super) fn all() -> Vec<Figure> {
    vec![
        scaling(),
        latency(),
        dots(),
        heat("heat", 8),
        heat("heat-large", 48),
        heat("heat-image", 130),
        joint("joint", false),
        joint("single", true),
        nest("nest", [1, 2, 1, 2]),
        nest("nest-64", [2, 16, 1, 2]),
        nest("nest-512", [4, 16, 2, 4]),
    ]
}

pub(super) fn figure(id: &str, title: &str, body: Body) -> Figure {
    Figure { id: id.into(), title: title.into(), about: vec!["What to see".into()], body, table: None }
}

/// Throughput against workers, with gaps, doubts, limits and a saturated mapping.
pub(super) fn scaling() -> Figure {
    let workers = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0];
    let line = |name: &str, pace: f64, bend: f64| Series {
        name: name.into(),
        role: Role::Measured,
        source: 0,
        spots: workers.iter().enumerate().map(|(at, &x)| spot(at, x, pace * x / (1.0 + x / bend))).collect(),
    };
    let faint = |name: &str, role, ends: [[f64; 2]; 2]| Series {
        name: name.into(),
        role,
        source: 0,
        spots: ends.map(|[x, y]| Spot { x, y: Some(y), spread: None, state: State::Sound, note: String::new() }).into(),
    };
    let plot = Plot {
        x: axis("workers", Quantity::Count, Scale::Log2),
        y: axis("throughput", Quantity::Value(Unit::BytesPerSecond), Scale::Linear),
        series: vec![
            line("round-robin", 6e9, 20.0),
            line("dumb", 5e9, 14.0),
            line("auto", 5.5e9, 9.0),
            faint("as many at the pace of one", Role::Ideal, [[1.0, 6e9], [64.0, 384e9]]),
            faint("memory's bandwidth, as the maker says", Role::Bound, [[1.0, 110e9], [64.0, 110e9]]),
        ],
        rules: vec![Rule { from: 32.0, to: 64.0, label: "two workers on a core".into() }],
        flags: vec![
            Flag { series: 0, x: 24.0, label: "saturates".into() },
            Flag { series: 1, x: 24.0, label: "saturates".into() },
        ],
    };
    figure("scaling", "mem-read: throughput against workers", Body::Lines(plot))
}

fn spot(at: usize, x: f64, y: f64) -> Spot {
    let state = match at % 11 {
        4 => State::Missing,
        7 => State::Doubtful,
        _ => State::Sound,
    };
    let shown = Quantity::Value(Unit::BytesPerSecond).shown(y);
    let note = format!("mem-read round-robin {x}: {shown} ±2.1%; unsteady: the median's interval is wide");
    Spot { x, y: (state != State::Missing).then_some(y), spread: Some([y * 0.93, y * 1.05]), state, note }
}

/// Time against size, both by ratios, with the edges of caches.
pub(super) fn latency() -> Figure {
    let time = |bytes: f64| {
        1.1 + 3.0 * (bytes / 48e3).min(1.0) + 16.0 * (bytes / 2e6).min(1.0) + 80.0 * (bytes / 3e7).min(1.0)
    };
    let line = |name: &str, by: f64| Series {
        name: name.into(),
        role: Role::Measured,
        source: 0,
        spots: (0..44)
            .map(|at| {
                let x = 4096.0 * 2_f64.powf(f64::from(at) * 0.4);
                let y = time(x) * by;
                Spot { x, y: Some(y), spread: Some([y * 0.97, y * 1.06]), state: State::Sound, note: format!("{y:.2}") }
            })
            .collect(),
    };
    let rule = |at: f64, label: &str| Rule { from: at, to: at, label: label.into() };
    let plot = Plot {
        x: axis("size of the block", Quantity::Bytes, Scale::Log2),
        y: axis("time of a load", Quantity::Nanos, Scale::Log10),
        series: vec![line("4 KiB pages", 1.3), line("2 MiB pages", 1.0)],
        rules: vec![
            rule(49_152.0, "L1d, claimed"),
            rule(53_000.0, "L1d, measured"),
            rule(2_097_152.0, "L2, claimed"),
            rule(33_554_432.0, "L3, claimed"),
        ],
        flags: Vec::new(),
    };
    figure("latency", "chase-random: time against size", Body::Lines(plot))
}

pub(super) fn axis(label: &str, quantity: Quantity, scale: Scale) -> Axis {
    Axis { label: label.into(), quantity, scale }
}

/// Factors of kernels, a row each.
pub(super) fn dots() -> Figure {
    let names = [
        "mem-read",
        "mem-write",
        "mem-copy",
        "arith-int",
        "ring-spsc with a long name that goes on and on",
        "atomic-add",
    ];
    let line = |name: &str, by: f64| Series {
        name: name.into(),
        role: Role::Measured,
        source: 0,
        spots: (0..names.len()).map(|at| spot(at, at as f64, by * (1.0 + at as f64) * 1e9)).collect(),
    };
    let plot = Plot {
        x: axis("", Quantity::Names(names.map(String::from).to_vec()), Scale::Linear),
        y: axis("throughput", Quantity::Value(Unit::OpsPerSecond), Scale::Linear),
        series: vec![line("dumb", 1.0), line("round-robin", 1.4)],
        rules: Vec::new(),
        flags: Vec::new(),
    };
    figure("dots", "Throughput of each kernel", Body::Dots(plot))
}

/// Times between pairs of strands in two packages.
pub(super) fn heat(id: &str, side: usize) -> Figure {
    let tile = |row: usize, column: usize| match (row, column) {
        _ if row == column => Tile::NOTHING,
        (1, 3) => Tile { value: None, state: State::Missing, reason: Some(0) },
        _ => {
            let far = if row * 2 / side == column * 2 / side { 0.0 } else { 90.0 };
            let value = 40.0 + far + ((row * 7 + column * 13) % 11) as f64;
            let state = if (row + 2 * column) % 17 == 5 { State::Doubtful } else { State::Sound };
            Tile { value: Some(value), state, reason: (state == State::Doubtful).then_some(1) }
        }
    };
    let names: Vec<String> = (0..side).map(|at| at.to_string()).collect();
    let map = Heat {
        row_label: "home".into(),
        column_label: "other".into(),
        rows: names.clone(),
        columns: names,
        borders: vec![(side / 2, "package 0".into()), (side, "package 1".into())],
        tiles: (0..side * side).map(|at| tile(at / side, at % side)).collect(),
        quantity: Quantity::Nanos,
        reasons: vec!["moved away".into(), "noisy".into()],
        folded: 1,
    };
    figure(id, "Handing a line over, by pair of strands", Body::Heat(map))
}

/// Two times that gather in two places each, or one of them.
pub(super) fn joint(id: &str, alone: bool) -> Figure {
    let bin = |at: i32| [10.0 * 1.15_f64.powi(at), 10.0 * 1.15_f64.powi(at + 1)];
    let weight = |x: i32, y: i32| {
        let near = |a: f64, b: f64, w: f64| (-((f64::from(x) - a).powi(2) + (f64::from(y) - b).powi(2)) / w).exp();
        (9e4 * near(14.0, 12.0, 9.0) + 2e4 * near(30.0, 12.0, 16.0) + 900.0 * near(20.0, 33.0, 60.0)) as u64
    };
    let cells = (0..45).flat_map(|x| (0..45).map(move |y| (x, y)));
    let pairs: Vec<Pair> = cells.map(|(x, y)| Pair { x: bin(x), y: bin(y), count: weight(x, y) }).collect();
    let sum = |at: fn(&Pair) -> [f64; 2], which: i32| {
        pairs.iter().filter(|pair| at(pair) == bin(which)).map(|pair| pair.count).sum()
    };
    let bars = |at: fn(&Pair) -> [f64; 2]| -> Vec<Bar> {
        (0..45).map(|which| Bar { x: bin(which), count: sum(at, which) }).collect()
    };
    let band = |low: f64, high: f64, share: f64| Band { low, high, mode: (low * high).sqrt(), share };
    let (first, second) = (bars(|pair| pair.x), bars(|pair| pair.y));
    let joint = Joint {
        x: axis("time of a push", Quantity::Nanos, Scale::Log10),
        y: (!alone).then(|| axis("time of a pop", Quantity::Nanos, Scale::Log10)),
        count: pairs.iter().map(|pair| pair.count).sum(),
        pairs: if alone { Vec::new() } else { pairs.into_iter().filter(|pair| pair.count > 0).collect() },
        first,
        second: if alone { Vec::new() } else { second },
        below: (!alone).then_some(0.62),
        first_bands: vec![band(50.0, 110.0, 0.78), band(500.0, 1000.0, 0.2)],
        second_bands: if alone { Vec::new() } else { vec![band(40.0, 80.0, 0.95)] },
        is_doubtful: false,
    };
    figure(id, "ring: pushes and pops", Body::Joint(joint))
}

/// A regular machine: packages, cores, slots and strands in each.
pub(super) fn nest(id: &str, [packages, cores, alus, strands]: [u32; 4]) -> Figure {
    let mut next = 0;
    let mut leaf = || {
        let id = next;
        next += 1;
        Part {
            what: What::Strand,
            label: id.to_string(),
            strand: Some(id),
            usable: id != 5,
            times: 1,
            parts: Vec::new(),
        }
    };
    let part = |what, label: String, parts| Part { what, label, strand: None, usable: true, times: 1, parts };
    let mut core = |at: u32| {
        let mut slot = |at| part(What::Alu, format!("ALU slot {at}"), (0..strands).map(|_| leaf()).collect());
        let inside = if alus > 1 { (0..alus).map(&mut slot).collect() } else { slot(0).parts };
        part(What::Core, format!("core {at}"), inside)
    };
    let package = |at: u32| {
        let cache = part(What::Cache, "L3 (32 MiB)".into(), (0..cores).map(|inner| core(at * cores + inner)).collect());
        part(What::Package, format!("package {at}"), vec![cache])
    };
    let parts: Vec<Part> = (0..packages).map(package).collect();
    let all = packages * cores * alus * strands;
    let seats = (0..all).map(|at| (at * strands * alus) % all + at * strands * alus / all).collect();
    let orders = vec![Order { mapping: "round-robin".into(), seats }];
    figure(id, "The machine", Body::Nest(Nest { parts, orders }))
}
