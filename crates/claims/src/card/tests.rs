//! Cards from synthetic machines.

use super::*;
use charz_data::report::{Point, Status, fixtures, with_derived};
use charz_estimate::fixtures::{LATENCY, cell, measured, two};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn about(card: &Card<'_>) -> Vec<About> {
    card.contradictions.iter().map(Contradiction::about).collect()
}

const L1: About = About::Cache(1);
const L3: About = About::Cache(3);

#[test]
fn a_machine_that_is_what_it_claims_has_no_contradictions() {
    let report = measured(32 * MIB);
    let card = Card::of(&report);
    assert_eq!(about(&card), [], "{:#?}", card.contradictions);
    let found: Vec<_> = card.levels.iter().map(|level| (level.cache, level.found.unwrap().ns)).collect();
    assert_eq!(found, [(Some(1), 1.0), (Some(2), 4.0), (Some(3), 15.0), (None, 120.0)]);
    let first = &card.levels[0];
    assert_eq!(first.claimed.as_ref().unwrap().0.size_bytes, Some(32 * KIB));
    assert_eq!(first.found.unwrap().edge.unwrap().inside_bytes, 32 * KIB);
    let rates = |at: usize| -> Vec<_> {
        let level: &Level = &card.levels[at];
        level.bandwidths.iter().map(|found| (found.operation, found.workers, found.bytes_per_second)).collect()
    };
    assert_eq!(rates(0), [("read", 1, 100e9), ("read", 2, 200e9)]);
    assert_eq!(rates(1), []);
    assert_eq!(rates(3), [("read", 1, 20e9), ("read", 2, 40e9)]);
    assert_eq!(card.levels[3].found.unwrap().edge, None, "memory has no edge");
}

#[test]
fn a_curve_is_held_to_the_caches_of_its_own_cpu() {
    let mut report = measured(32 * MIB);
    let several = "Package:1 L3:3(size=8MiB) Core:2 L2:1(size=1MiB) L1d:1(size=32KiB) PU:1";
    report.machine = charz_estimate::fixtures::report(several).machine;
    report.machine.caches[0].size_bytes = Some(32 * MIB);
    let card = Card::of(&report);
    assert_eq!(about(&card), [], "{:#?}", card.contradictions);
    let claimed = card.levels[2].claimed.as_ref().map(|(cache, count)| (cache.size_bytes, *count));
    assert_eq!(claimed, Some((Some(32 * MIB), 1)));
    report.cells.clear();
    assert_eq!(Card::of(&report).levels[2].claimed.as_ref().map(|(_, count)| *count), Some(2));
}

#[test]
fn pages_and_translations_have_their_lines() {
    let report = measured(32 * MIB);
    let card = Card::of(&report);
    let tlb = card.tlb.unwrap();
    assert_eq!((tlb.edge.inside_bytes, tlb.edge.beyond_bytes > 8 * MIB, tlb.extra_ns), (8 * MIB, true, 20.0));
    let [small, huge] = &card.pages[..] else { panic!("{:?}", card.pages) };
    assert_eq!((small.kind, small.obtained, small.memory.unwrap().ns), ("4k", Some(1.0), 140.0));
    assert_eq!((huge.kind, huge.obtained, huge.memory.unwrap().ns), ("thp", Some(0.0), 120.0));
}

#[test]
fn suspect_cells_leave_their_mark_on_what_is_drawn_from_them() {
    let found = |kernel: &str, sizes: std::ops::RangeInclusive<u64>| {
        let mut report = measured(32 * MIB);
        let within =
            |cell: &&mut Cell| cell.kernel == kernel && cell.point.size_bytes.is_none_or(|size| sizes.contains(&size));
        report.cells.iter_mut().filter(within).for_each(|cell| cell.status = Status::Suspect);
        let card = Card::of(&report);
        let of = |one: Plateau| (one.doubtful, one.edge.is_some_and(|edge| edge.doubtful));
        let levels: Vec<_> = card.levels.iter().filter_map(|level| level.found).map(of).collect();
        let tlb = card.tlb.map(|tlb| (tlb.doubtful, tlb.edge.doubtful)).unwrap();
        let pages: Vec<bool> = card.pages.iter().map(|pages| pages.memory.unwrap().doubtful).collect();
        (levels, tlb, pages)
    };
    let (sound, doubt) = ((false, false), (true, true));
    assert_eq!(found(LATENCY, 0..=0), (vec![sound; 4], sound, vec![false; 2]));
    assert_eq!(found(LATENCY, 0..=32 * KIB), (vec![doubt, sound, sound, sound], sound, vec![false; 2]));
    // Memory has no edge.
    let beyond = vec![sound, sound, (false, true), (true, false)];
    assert_eq!(found(LATENCY, 33 * MIB..=512 * MIB), (beyond, (true, true), vec![true; 2]));
}

#[test]
fn a_suspect_bandwidth_that_is_best_has_its_mark() {
    let of = |gigabytes: f64| {
        let mut report = measured(32 * MIB);
        let suspect = cell("level-read", &[0], Point::default(), gigabytes * 1e9).suspect().under("dumb");
        report.cells.push(Cell { level: Some("L1".into()), ..suspect });
        let found = Card::of(&report).levels[0].bandwidths[0];
        (found.bytes_per_second, found.suspect)
    };
    assert_eq!(of(300.0), (300e9, true));
    assert_eq!(of(90.0), (100e9, false));
}

/// About which levels the card of a machine with 8 of 32 MiB says that too little is known, and about which it contradicts, where
/// the chases of other sizes have no number.
#[track_caller]
fn check_known(keep: impl Fn(u64) -> bool, unknown: &[About], contradicted: &[About]) {
    let mut report = measured(8 * MIB);
    let lost = |cell: &Cell| cell.kernel == LATENCY && cell.point.size_bytes.is_some_and(|size| !keep(size));
    for at in 0..report.cells.len() {
        if lost(&report.cells[at]) {
            let cell = report.cells[at].clone();
            report.cells[at] = cell.unmeasured(Status::Pending, "");
        }
    }
    let card = Card::of(&report);
    let found: Vec<About> = card.unknown.iter().map(Unknown::about).collect();
    assert_eq!((found.as_slice(), about(&card).as_slice()), (unknown, contradicted), "{:#?}", card.unknown);
}

#[test]
fn too_few_sizes_contradict_nothing() {
    check_known(|_| true, &[], &[L3]);
    check_known(|size| size <= 48 * MIB, &[L3], &[]);
    check_known(|size| size <= MIB || size > 20 * MIB, &[L3], &[]);
    check_known(|size| size.is_power_of_two() && size % 3 == 1, &[L1, L3], &[]);
}

#[test]
fn a_smaller_share_of_a_cache_contradicts() {
    let mut report = measured(8 * MIB);
    let card = Card::of(&report);
    assert_eq!(about(&card), [L3]);
    let is = |card: &Card<'_>, guest: bool| matches!(card.contradictions[0], Contradiction::Size { claimed, is_guest, .. } if (claimed, is_guest) == (32 * MIB, guest));
    assert!(is(&card, false), "{:?}", card.contradictions);
    report.host.virtual_machine = Some(true);
    assert!(is(&Card::of(&report), true));
}

#[test]
fn a_cache_without_a_plateau_contradicts() {
    let report = measured(MIB);
    let card = Card::of(&report);
    assert_eq!(about(&card), [L3]);
    assert_eq!(card.contradictions, [Contradiction::Missing { cache: 3, claimed: 32 * MIB }]);
    assert_eq!(card.levels[2].found, None);
    assert_eq!(card.levels[3].found.unwrap().ns, 120.0);
}

#[test]
fn a_level_without_points_contradicts_nothing() {
    let mut report = measured(32 * MIB);
    report.cells.retain(|cell| cell.kernel != LATENCY || cell.point.size_bytes > Some(24 * KIB));
    let card = Card::of(&report);
    assert_eq!((card.levels[0].found, about(&card)), (None, vec![]), "{:#?}", card.contradictions);
    assert_eq!(card.levels[1].found.unwrap().ns, 4.0);
}

#[test]
fn another_clock_is_said_and_contradicts_nothing() {
    use OffNominal::{Above, Below};
    for (claimed, off) in [(3.1e9, None), (2.9e9, None), (2.5e9, Some(Above)), (3.5e9, Some(Below))] {
        let mut report = measured(32 * MIB);
        report.host.claimed_hz = Some(claimed);
        let card = Card::of(&report);
        assert_eq!((about(&card).len(), card.unknown.len(), card.clock.measured_hz), (0, 0, Some(3e9)), "{claimed}");
        assert_eq!(OffNominal::of(3e9, claimed), off);
    }
}

#[test]
fn distances_that_are_no_measurement_contradict() {
    let mut report = two();
    let card = Card::of(&report);
    assert_eq!(card.remote, Some(Remote { times: Number { value: 1.6, suspect: false }, claimed_times: Some(2.1) }));
    assert_eq!(about(&card), [About::Numa]);
    let mut suspect = two();
    suspect.cells.iter_mut().for_each(|cell| cell.status = Status::Suspect);
    let suspect = Card::of(&suspect);
    assert_eq!((about(&suspect), suspect.unknown.len()), (vec![], 1), "{:?}", suspect.unknown);
    for row in &mut report.machine.numa_distances {
        row.iter_mut().for_each(|distance| *distance = if *distance == 10 { 10 } else { 16 });
    }
    assert_eq!(about(&Card::of(&report)), []);
}

#[test]
fn what_was_not_measured_stays_empty() {
    let old = with_derived(fixtures::ARITHMETIC.as_bytes()).unwrap();
    let card = Card::of(&old);
    assert!(card.levels.iter().all(|level| level.found.is_none() && level.claimed.is_none()));
    assert_eq!((card.tlb, card.remote, card.pages.len(), card.contradictions.len()), (None, None, 0, 0));
    let mut claimed_only = measured(32 * MIB);
    claimed_only.cells.clear();
    let card = Card::of(&claimed_only);
    assert_eq!((card.levels.len(), about(&card).len()), (4, 0), "nothing measured contradicts nothing");
}
