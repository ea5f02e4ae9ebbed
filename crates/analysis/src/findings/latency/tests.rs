//! Findings from synthetic chases.

use super::*;
use charz_data::machine::{Cache, CacheHolds, Strand};
use charz_data::report::{Cell, Host, PageKind, Point, Status, Unit, fixtures};
use charz_estimate::fixtures::{assert_words, sizes};

const MIB: u64 = 1 << 20;
const RANDOM: &str = "chase-random";
const STRIDE: &str = "chase-stride";
const CHAINS: &str = "chase-chains";

/// What the operating system claims.
const CACHES: [u64; 3] = [32 << 10, MIB, 32 * MIB];

/// A guest with 12 of 32 MiB of L3.
fn guest(size: u64) -> f64 {
    match size {
        0..=32_768 => 1.08,
        32_769..=1_048_576 => 3.8,
        1_048_577..=12_582_912 => 15.0,
        _ => 140.0,
    }
}

fn cell(kernel: &str, point: Point, value: f64) -> Cell {
    fixtures::cell(kernel, 1, Unit::NanosecondsPerStep, value).at(point)
}

fn curve(kernel: &str, pages: PageKind, stride: u64, ns: impl Fn(u64) -> f64) -> Vec<Cell> {
    let point = Point { pages: Some(pages), stride_bytes: Some(stride), ..Point::default() };
    sizes().map(|size| cell(kernel, Point { size_bytes: Some(size), ..point }, ns(size))).collect()
}

fn sentences(virtual_machine: bool, cells: Vec<Cell>) -> Vec<String> {
    sentences_at([1, 2, 3], virtual_machine, cells)
}

/// Where the caches are claimed to be of these levels.
fn sentences_at(levels: [u32; 3], virtual_machine: bool, cells: Vec<Cell>) -> Vec<String> {
    let mut report = fixtures::report(cells);
    let strand = report.machine.strands[0].clone();
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
    report.machine.caches = levels.into_iter().zip(CACHES).map(cache).collect();
    report.machine.strands = vec![Strand { usable: true, caches: vec![0, 1, 2], ..strand }];
    report.host = Host { virtual_machine: Some(virtual_machine), ..report.host };
    latency(&report).into_iter().map(|finding| finding.text).collect()
}

#[track_caller]
fn check(sentences: &[String], expected: &[&[&str]]) {
    assert_eq!(sentences.len(), expected.len(), "{sentences:#?}");
    for (sentence, words) in sentences.iter().zip(expected) {
        assert_words(sentence, words);
    }
}

#[test]
fn a_cache_has_the_level_that_is_claimed() {
    let cells = curve(RANDOM, PageKind::Transparent, 64, guest);
    let names = ["L1 1.08 ns", "L3 3.80 ns", "L4 15.0 ns", "The edge of L4", "memory 140 ns"];
    check(&sentences_at([1, 3, 4], true, cells), &[&names]);
}

#[test]
fn cycles_are_those_of_the_middle_clock() {
    let cells = curve(RANDOM, PageKind::Transparent, 64, guest).into_iter().map(|cell| cell.clocked(2e9));
    let mut cells: Vec<Cell> = cells.collect();
    cells[2] = cells[2].clone().clocked(3e9);
    check(&sentences(true, cells), &[&["L2 3.80 ns (7.60 cycles)", "memory 140 ns (280 cycles)"]]);
}

#[test]
fn levels_stand_beside_the_claims() {
    let cells = || curve(RANDOM, PageKind::Transparent, 64, guest);
    let levels = [
        "chase-random rr thp stride 64: L1 1.08 ns to 32 KiB-45.3 KiB (reported 32 KiB), L2 3.80 ns to 1 MiB-1.41 MiB (reported 1 MiB)",
        "L3 15.0 ns to 11.3 MiB-16 MiB (reported 32 MiB), memory 140 ns",
        "The edge of L3 lies at 11.3 MiB-16 MiB, less than the reported 32 MiB: the rest is not this guest's",
        "Sizes are known within a factor of 1.8",
    ];
    check(&sentences(true, cells()), &[&levels]);
    check(&sentences(false, cells()), &[&["others use the rest"]]);
}

#[test]
fn doubtful_numbers_carry_their_mark() {
    let suspect = |sizes: std::ops::RangeInclusive<u64>| {
        let mut cells = curve(RANDOM, PageKind::Transparent, 64, guest);
        let size = |cell: &Cell| cell.point.size_bytes.unwrap();
        cells.iter_mut().filter(|cell| sizes.contains(&size(cell))).for_each(|cell| {
            cell.status = Status::Suspect;
        });
        sentences(true, cells)
    };
    check(
        &suspect(0..=8 << 10),
        &[&["L1 1.08 ns to 32 KiB-45.3 KiB (reported", "L2 3.80 ns to 1 MiB-1.41 MiB (reported"]],
    );
    check(
        &suspect(0..=32 << 10),
        &[&["L1 1.08 ns~ to 32 KiB-45.3 KiB~ (reported", "L2 3.80 ns to 1 MiB-1.41 MiB (reported"]],
    );
    let edge =
        ["L3 15.0 ns to 11.3 MiB-16 MiB~ (reported", "memory 140 ns.", "The edge of L3 lies at 11.3 MiB-16 MiB~, less"];
    check(&suspect(16 * MIB..=16 * MIB), &[&edge]);
    let all = ["L1 1.08 ns~ to", "L2 3.80 ns~ to", "L3 15.0 ns~ to", "memory 140 ns~."];
    check(&suspect(0..=u64::MAX), &[&all]);
    // A wide interval is none of the causes to doubt.
    let mut wide = curve(RANDOM, PageKind::Transparent, 64, guest);
    wide = wide.into_iter().map(|cell| cell.within(0.5)).collect();
    assert!(!sentences(true, wide)[0].contains('~'));
}

#[test]
fn an_edge_beyond_the_claim_is_told() {
    let large = |size| if size > 1 << 20 && size <= 4 << 20 { 3.8 } else { guest(size) };
    let words = ["The edge of L2 lies at 4 MiB-5.66 MiB, more than the reported 1 MiB"];
    check(&sentences(false, curve(RANDOM, PageKind::Transparent, 64, large)), &[&words]);
}

#[test]
fn too_few_sizes_contradict_no_claim() {
    let without = |keep: fn(u64) -> bool| {
        let mut cells = curve(RANDOM, PageKind::Transparent, 64, guest);
        let lost = |cell: &Cell| !keep(cell.point.size_bytes.unwrap());
        cells
            .iter_mut()
            .filter(|cell| lost(cell))
            .for_each(|cell| *cell = cell.clone().unmeasured(Status::Pending, ""));
        sentences(true, cells)
    };
    let beyond = without(|size| size <= 32 * MIB);
    check(&beyond, &[&["an unnamed level 15.0 ns", "L3 140 ns~", "L3: edge unknown", "beyond (has 0 of 8)"]]);
    let between = without(|size| size <= 12 * MIB || size > 24 * MIB);
    assert!(!between[0].contains("The edge of"), "{}", between[0]);
}

#[test]
fn a_cache_without_a_plateau_is_named() {
    // Each size finds another share of its loads in L2.
    let steep = |size: u64| match size {
        0..=32_768 => 1.08,
        32_769..=1_048_576 => 1.08 + 12.0 * (size as f64 / 32_768.0).log2() / 5.0,
        _ => guest(size),
    };
    let said = sentences(true, curve(RANDOM, PageKind::Transparent, 64, steep));
    check(&said, &[&["L1 1.08 ns", ". L2 (reported 1 MiB) has no plateau: ", "--size levels", "L3 15.0 ns"]]);
    let inside = curve(RANDOM, PageKind::Transparent, 64, guest).into_iter();
    let inside = inside.filter(|cell| cell.point.size_bytes.unwrap() <= MIB);
    let said = sentences(true, inside.collect());
    check(&said, &[&["L2 3.80 ns", "L3 (reported 32 MiB) has no plateau: ", "(has 0 of 0)"]]);
    assert!(!said[0].contains("L2 (reported 1 MiB) has no"), "{said:?}");
}

#[test]
fn what_was_read_ahead_shows_no_latency() {
    let ahead = |size: u64| guest(size).min(3.5);
    check(
        &sentences(false, curve(RANDOM, PageKind::Transparent, 64, ahead)),
        &[&[
            "3.50 ns per load beyond the caches is ",
            "times the fastest, where memory takes at least 20 times",
            "no memory latency",
        ]],
    );
}

#[test]
fn strides_are_told_apart() {
    let mut cells = curve(RANDOM, PageKind::Transparent, 64, guest);
    for (stride, from_memory) in [(64, 1.8), (128, 40.0), (256, 140.0), (4096, 140.0)] {
        let ns = move |size| if guest(size) > 100.0 { from_memory } else { guest(size) };
        cells.extend(curve(STRIDE, PageKind::Transparent, stride, ns));
    }
    let words = [
        "chase-stride rr thp: prefetcher active at strides of 64 (1.80 ns) and 128 (40.0 ns) bytes",
        "memory latency at strides of 256 bytes",
        "all lines fit in cache at strides of 4096 bytes",
    ];
    check(&sentences(false, cells), &[&["chase-random"], &words]);
}

#[test]
fn the_reach_of_the_tlb_is_where_pages_part() {
    let small = || curve(RANDOM, PageKind::Small, 64, |size| guest(size) + if size > 12 << 20 { 40.0 } else { 0.0 });
    let mut cells = small();
    cells.extend(curve(RANDOM, PageKind::Transparent, 64, guest));
    let words = ["chase-random rr 4k stride 64: TLB reach 11.3 MiB-16 MiB; a miss adds 40.0 ns", "1.29x"];
    check(
        &sentences(true, cells),
        &[&["chase-random rr 4k stride 64: L1"], &["chase-random rr thp stride 64: L1"], &words],
    );
    // Translations that run out before the second level does: its edge is there on small pages only.
    let mut cells = curve(RANDOM, PageKind::Small, 64, |size| guest(size) + if size > 96 << 10 { 90.0 } else { 0.0 });
    cells.extend(curve(RANDOM, PageKind::Transparent, 64, guest));
    let said = sentences(true, cells);
    let reach = said.iter().find(|sentence| sentence.contains("TLB reach")).unwrap();
    for part in
        ["; L1 ends at 32 KiB-45.3 KiB on both", "; L2 ends at 90.5 KiB-128 KiB, on thp pages at 1 MiB-1.41 MiB"]
    {
        assert!(reach.contains(part), "{reach}");
    }
    // Under another mapping it was another strand.
    let mut cells = small();
    cells.extend(
        curve(RANDOM, PageKind::Transparent, 64, guest).into_iter().map(|cell| Cell { mapping: "dumb".into(), ..cell }),
    );
    assert!(sentences(true, cells).iter().all(|sentence| !sentence.contains("TLB reach")));
}

#[test]
fn chains_tell_how_many_loads_are_under_way() {
    let chains = |chains: u64, size_bytes: u64, value: f64| {
        let point = Point {
            size_bytes: Some(size_bytes),
            chains: Some(chains),
            pages: Some(PageKind::Transparent),
            ..Point::default()
        };
        cell(CHAINS, point, value)
    };
    let cells = [(1, 1.08), (4, 0.27), (16, 0.14)].map(|(count, ns)| chains(count, 16 << 10, ns)).into_iter();
    let cells: Vec<Cell> =
        cells.chain([(1, 144.0), (4, 36.0), (16, 12.0)].map(|(count, ns)| chains(count, 256 * MIB, ns))).collect();
    let words = [
        "chase-chains rr thp: parallel loads: 7.7 at 16 KiB (1.08 ns with 1 chain, 0.14 ns with 16)",
        "12.0 at 256 MiB (144 ns with 1 chain, 12.0 ns with 16)",
    ];
    check(&sentences(false, cells.clone()), &[&words]);
    let mut doubtful = cells.clone();
    doubtful[3].status = Status::Suspect;
    check(&sentences(false, doubtful), &[&["12.0~ at 256 MiB (144 ns~ with 1 chain, 12.0 ns with 16)"]]);
    let without_one = cells.into_iter().filter(|cell| cell.point.chains != Some(1)).collect();
    check(&sentences(false, without_one), &[]);
}

#[test]
fn cells_that_are_no_curve_tell_nothing() {
    let two = curve(RANDOM, PageKind::Small, 64, guest).into_iter().take(2).collect();
    check(&sentences(false, two), &[]);
    let crowd = curve(RANDOM, PageKind::Small, 64, guest).into_iter().map(|cell| Cell { workers: 2, ..cell }).collect();
    check(&sentences(false, crowd), &[]);
    let void =
        curve(RANDOM, PageKind::Small, 64, guest).into_iter().map(|cell| Cell { capacity: None, ..cell }).collect();
    check(&sentences(false, void), &[]);
}
