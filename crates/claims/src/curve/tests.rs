//! Curves of synthetic machines.

use proptest::prelude::*;

use super::*;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// How a cache decides what to drop.
#[derive(Clone, Copy, Debug)]
enum Drops {
    /// What was used longest ago: a cycle that is too long finds nothing.
    Oldest,
    /// Anything: what fits is found.
    Any,
}

/// A synthetic machine: what its caches hold, what a load from each takes, and a load from memory.
#[derive(Clone, Debug)]
struct Shape {
    caches: Vec<(u64, f64)>,
    memory: f64,
    drops: Drops,
}

impl Shape {
    /// Nanoseconds a load over so many bytes.
    fn ns(&self, size: u64) -> f64 {
        let mut missed = 1.0;
        let mut ns = 0.0;
        for &(holds, latency) in &self.caches {
            let found = match self.drops {
                Drops::Oldest => f64::from(size <= holds),
                Drops::Any => (holds as f64 / size as f64).min(1.0),
            };
            // What an inner cache holds is no news to an outer one.
            let more = (found - (1.0 - missed)).max(0.0);
            ns += more * latency;
            missed -= more;
        }
        ns + missed * self.memory
    }

    fn sizes(&self) -> Vec<u64> {
        self.caches.iter().map(|(holds, _)| *holds).collect()
    }

    /// Its curve in half octaves from 4 KiB on, each point off by a normal deviate of this fraction.
    fn curve(&self, to: u64, noise: f64, seed: u64) -> Vec<Point> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut off = || (noise * (0..12).map(|_| random.f64()).sum::<f64>() - 6.0 * noise).exp();
        let sizes = (0..).map(|step| (4096.0 * (0.5 * f64::from(step)).exp2()) as u64);
        sizes.take_while(|size| *size <= to).map(|size| point(size, self.ns(size) * off())).collect()
    }
}

fn point(size_bytes: u64, ns: f64) -> Point {
    Point { size_bytes, ns, slack: 0.0, doubtful: false }
}

fn shape(caches: &[(u64, f64)], memory: f64) -> Shape {
    Shape { caches: caches.to_vec(), memory, drops: Drops::Any }
}

/// Zen 4 to itself.
fn three() -> Shape {
    shape(&[(32 * KIB, 1.1), (MIB, 4.0), (32 * MIB, 14.0)], 105.0)
}

/// The levels of [`three`], with what each holds.
const THREE: [(Level, f64, Option<u64>); 4] = [
    (Level::Cache(1), 1.1, Some(32 * KIB)),
    (Level::Cache(2), 4.0, Some(MIB)),
    (Level::Cache(3), 14.0, Some(32 * MIB)),
    (Level::Memory, 105.0, None),
];

/// TACC's Woodcrest, in cycles.
fn two() -> Shape {
    shape(&[(32 * KIB, 3.0), (4 * MIB, 14.0)], 315.0)
}

/// Checks that the plateaus are these levels, about as fast as they are, and that each ends where it does.
#[track_caller]
fn check(points: &[Point], claims: &[u64], expected: &[(Level, f64, Option<u64>)]) {
    let found = plateaus(points, claims);
    let levels: Vec<_> = found.iter().map(|plateau| plateau.level).collect();
    assert_eq!(levels, expected.iter().map(|(level, ..)| Some(*level)).collect::<Vec<_>>(), "{found:#?}");
    for (plateau, (_, ns, holds)) in found.iter().zip(expected) {
        assert!((plateau.ns / ns).ln().abs() < 0.25, "{plateau:?} takes about {ns}");
        assert_eq!(plateau.edge.is_some(), holds.is_some(), "{plateau:?}");
        assert!(holds.is_none_or(|holds| plateau.edge.unwrap().agrees(holds)), "{plateau:?} ends at {holds:?}");
    }
}

/// The same of a shape's own curve, with claims that are true.
#[track_caller]
fn check_shape(shape: &Shape, noise: f64, seed: u64) {
    let mut expected: Vec<_> =
        (1..).zip(&shape.caches).map(|(level, &(holds, ns))| (Level::Cache(level), ns, Some(holds))).collect();
    expected.push((Level::Memory, shape.memory, None));
    let to = 32 * shape.sizes().last().unwrap();
    check(&shape.curve(to, noise, seed), &shape.sizes(), &expected);
}

#[test]
fn machines_of_several_shapes() {
    let four = shape(&[(32 * KIB, 1.0), (256 * KIB, 3.2), (6 * MIB, 11.0), (128 * MIB, 42.0)], 110.0);
    let slow = shape(&[(16 * KIB, 2.5), (512 * KIB, 12.0)], 110.0);
    for shape in [three(), two(), four, slow] {
        for drops in [Drops::Oldest, Drops::Any] {
            check_shape(&Shape { drops, ..shape.clone() }, 0.0, 0);
        }
    }
}

#[test]
fn noise_of_a_tenth_moves_no_edge_far() {
    for seed in 0..50 {
        check_shape(&three(), 0.1, seed);
        check_shape(&two(), 0.1, seed);
    }
}

#[test]
fn a_guest_has_a_share_of_what_is_claimed() {
    let guest = shape(&[(32 * KIB, 1.1), (MIB, 4.0), (12 * MIB, 16.0)], 140.0);
    let claims = three().sizes();
    let points = guest.curve(512 * MIB, 0.05, 7);
    let [first, second, ..] = THREE;
    let levels = [first, second, (Level::Cache(3), 16.0, Some(12 * MIB)), (Level::Memory, 140.0, None)];
    check(&points, &claims, &levels);
    assert!(!plateaus(&points, &claims)[2].edge.unwrap().agrees(32 * MIB));
}

/// A victim cache holds what the cache inside it does not, so both together hold more than the victim cache alone.
#[test]
fn a_victim_cache_ends_a_little_later() {
    let caches = [(48 * KIB, 1.3), (2 * MIB, 4.5), (8 * MIB + 2 * MIB, 22.0)];
    let victim = Shape { drops: Drops::Oldest, ..shape(&caches, 95.0) };
    let levels = [
        (Level::Cache(1), 1.3, Some(48 * KIB)),
        (Level::Cache(2), 4.5, Some(2 * MIB)),
        (Level::Cache(3), 22.0, Some(8 * MIB)),
        (Level::Memory, 95.0, None),
    ];
    check(&victim.curve(256 * MIB, 0.03, 3), &[48 * KIB, 2 * MIB, 8 * MIB], &levels);
}

/// The same if the caches may evict any line: each size between 2 and 10 MiB finds a different share in the second level.
#[test]
fn a_level_without_a_plateau_is_left_out() {
    let steep = shape(&[(48 * KIB, 1.3), (2 * MIB, 4.5), (10 * MIB, 22.0)], 95.0);
    let levels =
        [(Level::Cache(1), 1.3, Some(48 * KIB)), (Level::Cache(2), 4.5, Some(2 * MIB)), (Level::Memory, 95.0, None)];
    check(&steep.curve(256 * MIB, 0.0, 0), &[48 * KIB, 2 * MIB, 8 * MIB], &levels);
}

#[test]
fn without_claims_levels_are_counted() {
    check(&three().curve(512 * MIB, 0.0, 0), &[], &THREE);
}

#[test]
fn a_curve_that_ends_inside_a_cache_has_no_memory() {
    let levels = [(Level::Cache(1), 1.1, Some(32 * KIB)), (Level::Cache(2), 4.0, None)];
    check(&three().curve(MIB, 0.0, 0), &three().sizes(), &levels);
    check(&three().curve(32 * KIB, 0.0, 0), &three().sizes(), &[(Level::Cache(1), 1.1, None)]);
}

#[test]
fn a_curve_that_begins_beyond_a_cache_is_not_called_by_it() {
    let points: Vec<Point> =
        three().curve(512 * MIB, 0.0, 0).into_iter().filter(|point| point.size_bytes > 100 * KIB).collect();
    check(&points, &three().sizes(), &THREE[1..]);
}

#[test]
fn too_few_points_are_no_curve() {
    assert_eq!(plateaus(&[], &[]), []);
    assert_eq!(plateaus(&[point(64, 1.0), point(128, 1.0)], &[]), []);
    let unreadable = [point(0, 1.0), point(1024, f64::NAN), point(2048, -1.0), point(4096, f64::INFINITY)];
    assert_eq!(plateaus(&unreadable, &[]), []);
}

#[test]
fn points_without_an_edge_are_one_plateau() {
    let points: Vec<Point> = (0..20).map(|step| point((4 * KIB) << step, 5.0)).collect();
    check(&points, &[], &[(Level::Cache(1), 5.0, None)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Neither the unit of the times nor where the curve lies changes what it looks like.
    #[test]
    fn what_is_scaled_is_found_scaled(seed: u64, unit in 0.01..100.0_f64, octaves in 0_u32..6, noise in 0.0..0.1) {
        let points = three().curve(512 * MIB, noise, seed);
        let claims = three().sizes();
        let scaled: Vec<Point> =
            points.iter().map(|point| Point { size_bytes: point.size_bytes << octaves, ns: point.ns * unit, ..*point }).collect();
        let found = plateaus(&scaled, &claims.iter().map(|bytes| bytes << octaves).collect::<Vec<_>>());
        let bytes = |bytes: u64| bytes << octaves;
        let expected = plateaus(&points, &claims).into_iter().map(|plateau| Plateau {
            from_bytes: bytes(plateau.from_bytes),
            to_bytes: bytes(plateau.to_bytes),
            edge: plateau.edge.map(|edge| Edge { inside_bytes: bytes(edge.inside_bytes), beyond_bytes: bytes(edge.beyond_bytes), ..edge }),
            ..plateau
        });
        prop_assert_eq!(found.len(), expected.len());
        for (found, expected) in found.into_iter().zip(expected) {
            prop_assert!((found.ns - expected.ns * unit).abs() < 1e-9 * found.ns);
            prop_assert_eq!(Plateau { ns: 0.0, ..found }, Plateau { ns: 0.0, ..expected });
        }
    }

    /// A little noise, points in any order, and points that are missing change none of the levels.
    #[test]
    fn what_disturbs_little_moves_little(seed: u64, noise in 0.0..0.05, missing in proptest::collection::vec(0_usize..35, 0..4)) {
        let mut points = three().curve(512 * MIB, noise, seed);
        let kept = |at: usize| !missing.contains(&at);
        let mut at = 0..;
        points.retain(|_| at.next().is_some_and(kept));
        fastrand::Rng::with_seed(seed).shuffle(&mut points);
        let found = plateaus(&points, &three().sizes());
        let levels: Vec<_> = found.iter().map(|plateau| plateau.level).collect();
        let expected = [Level::Cache(1), Level::Cache(2), Level::Cache(3), Level::Memory].map(Some);
        prop_assert_eq!(levels, expected, "{:#?}", found);
        for (plateau, holds) in found.iter().zip(three().sizes()) {
            // Up to three points on end are missing, in the worst case just where the edge is.
            let edge = plateau.edge.unwrap();
            prop_assert!(edge.agrees(holds), "{:?} at {}", edge, holds);
        }
    }

    /// A disturbed point in the middle of a plateau.
    #[test]
    fn one_that_was_disturbed_is_passed_over(at in 0_usize..35, times in 1.0..20.0) {
        let mut points = three().curve(512 * MIB, 0.02, 1);
        points[at].ns *= times;
        let found = plateaus(&points, &three().sizes());
        prop_assert_eq!(found.len(), 4, "{:#?}", found);
        for (plateau, holds) in found.iter().zip(three().sizes()) {
            prop_assert!(plateau.edge.unwrap().agrees(holds), "{:?} at {}", plateau, holds);
        }
    }

    /// For any points, plateaus ascend, do not overlap, and end between themselves.
    #[test]
    fn plateaus_ascend(points in proptest::collection::vec((0_u64..1 << 40, 0.0..1e6_f64, 0.0..2.0_f64), 0..40), claims in proptest::collection::vec(1_u64..1 << 40, 0..5)) {
        let points: Vec<Point> = points.into_iter().map(|(size_bytes, ns, slack)| Point { slack, ..point(size_bytes, ns) }).collect();
        let found = plateaus(&points, &claims);
        for pair in found.windows(2) {
            prop_assert!(pair[0].ns < pair[1].ns && pair[0].to_bytes < pair[1].from_bytes);
            prop_assert!(pair[0].level.is_none() || pair[1].level.is_none() || pair[0].level < pair[1].level);
            let edge = pair[0].edge.unwrap();
            prop_assert!(pair[0].to_bytes <= edge.inside_bytes && edge.beyond_bytes <= pair[1].from_bytes);
        }
    }
}

/// What an ascending chase shows: the hardware reads ahead, and from memory a load takes a few nanoseconds.
fn ascending() -> Shape {
    shape(&[(32 * KIB, 1.1), (MIB, 2.0), (32 * MIB, 2.6)], 3.5)
}

#[test]
fn what_was_read_ahead_is_told_apart() {
    let claims = three().sizes();
    let [random, ahead] = [three(), ascending()].map(|shape| shape.curve(512 * MIB, 0.1, 5));
    assert_eq!(reading(&random, &claims, None), Reading::Latency);
    assert_eq!(reading(&random, &claims, Some(&random)), Reading::Latency);
    assert!(matches!(reading(&ahead, &claims, None), Reading::Prefetched { .. }));
    match reading(&ahead, &claims, Some(&random)) {
        Reading::Prefetched { ns, .. } => assert!(ns < 5.0, "{ns}"),
        other => panic!("{other:?}"),
    }
    // TACC's Opteron at a stride of 64 bytes: 57 cycles for what takes 145.
    let opteron = shape(&[(64 * KIB, 3.0), (MIB, 13.0)], 145.0);
    let [random, ahead] =
        [opteron.memory, 57.0].map(|memory| Shape { memory, ..opteron.clone() }.curve(64 * MIB, 0.0, 0));
    assert!(matches!(reading(&ahead, &opteron.sizes(), Some(&random)), Reading::Prefetched { .. }));
}

#[test]
fn without_sizes_beyond_known_caches_memory_is_unreached() {
    assert_eq!(reading(&ascending().curve(32 * MIB, 0.0, 0), &three().sizes(), None), Reading::Unreached);
    assert_eq!(reading(&ascending().curve(512 * MIB, 0.0, 0), &[], None), Reading::Unreached);
    assert_eq!(reading(&[], &three().sizes(), None), Reading::Unreached);
}

/// A curve on small pages: each load takes longer by this, once the size is more than the TLB reaches.
fn small_pages(huge: &[Point], reach: u64, extra: f64) -> Vec<Point> {
    let longer = |point: &Point| if point.size_bytes > reach { extra } else { 0.0 };
    huge.iter().map(|point| Point { ns: point.ns + longer(point), ..*point }).collect()
}

#[test]
fn the_tlb_reaches_up_to_where_small_pages_cost_more() {
    for (reaches, extra, seed) in [(12 * MIB, 25.0, 1), (288 * KIB, 6.0, 2), (MIB, 40.0, 3)] {
        let huge = three().curve(512 * MIB, 0.02, seed);
        let noisy = three().curve(512 * MIB, 0.02, seed + 10);
        let found = reach(&small_pages(&noisy, reaches, extra), &huge).unwrap();
        let Edge { inside_bytes, beyond_bytes, .. } = found.edge;
        assert!(inside_bytes <= reaches && reaches < beyond_bytes, "{found:?} {reaches}");
        assert!((found.extra_ns / extra - 1.0).abs() < 0.3 && found.times > 1.0, "{found:?}");
    }
}

#[test]
fn a_claim_is_contradicted_by_enough_sound_points() {
    let claims = three().sizes();
    let all = Shape { drops: Drops::Oldest, ..three() }.curve(512 * MIB, 0.0, 0);
    let sizes: Vec<u64> = all.iter().map(|point| point.size_bytes).collect();
    let check = |points: &[Point], bytes: u64, edge: Option<Edge>, lacks: bool| {
        let found = lack(points, &sizes, claims[1], bytes, edge);
        assert_eq!(found.is_some(), lacks, "{found:?}");
    };
    let kept = |keep: &dyn Fn(u64) -> bool| -> Vec<Point> {
        all.iter().filter(|point| keep(point.size_bytes)).copied().collect()
    };
    let edge = |inside_bytes, beyond_bytes| Some(Edge { inside_bytes, beyond_bytes, doubtful: false });
    check(&all, 32 * MIB, None, false);
    check(&kept(&|size| size <= MIB || size > 16 * MIB), 32 * MIB, None, true);
    check(&kept(&|size| size <= 64 * MIB), 32 * MIB, None, true);
    check(&doubt(&all, 33 * MIB..=512 * MIB), 32 * MIB, None, true);
    // Far below the claim, and far beyond it.
    check(&all, 32 * MIB, edge(8 * MIB, 11 * MIB), false);
    check(&all, 3 * MIB, edge(8 * MIB, 11 * MIB), false);
    let sparse = |from: u64, to: u64| kept(&|size| size <= from || size >= to);
    check(&sparse(8 * MIB, 32 * MIB), 32 * MIB, edge(8 * MIB, 16 * MIB), true);
    check(&sparse(3 * MIB, 8 * MIB), 3 * MIB, edge(8 * MIB, 11 * MIB), true);
    // An edge that agrees contradicts nothing.
    check(&sparse(8 * MIB, 32 * MIB), 32 * MIB, edge(8 * MIB, 32 * MIB), false);
}

/// The same points, of which those of these sizes are doubtful.
fn doubt(points: &[Point], sizes: std::ops::RangeInclusive<u64>) -> Vec<Point> {
    points.iter().map(|point| Point { doubtful: sizes.contains(&point.size_bytes), ..*point }).collect()
}

/// Checks which plateaus, and which of their edges, are doubtful where points of these sizes are.
#[track_caller]
fn check_doubt(sizes: std::ops::RangeInclusive<u64>, plateau: [bool; 4], edge: [bool; 3]) {
    let points = Shape { drops: Drops::Oldest, ..three() }.curve(512 * MIB, 0.0, 0);
    let found = plateaus(&doubt(&points, sizes), &three().sizes());
    assert_eq!(found.iter().map(|found| found.doubtful).collect::<Vec<_>>(), plateau);
    assert_eq!(found.iter().filter_map(|found| Some(found.edge?.doubtful)).collect::<Vec<_>>(), edge);
}

#[test]
fn doubt_is_where_most_points_are_doubtful() {
    check_doubt(0..=0, [false; 4], [false; 3]);
    check_doubt(0..=u64::MAX, [true; 4], [true; 3]);
    check_doubt(0..=16 * KIB, [true, false, false, false], [true, false, false]);
    // One point of many, away from an edge and beside one.
    check_doubt(8 * KIB..=8 * KIB, [false; 4], [false; 3]);
    check_doubt(MIB..=MIB, [false; 4], [false, true, false]);
    // What memory takes is drawn from the larger half of its sizes.
    check_doubt(200 * MIB..=512 * MIB, [false, false, false, true], [false; 3]);
}

#[test]
fn doubt_of_either_kind_of_pages_is_doubt_of_their_difference() {
    let huge = three().curve(512 * MIB, 0.0, 0);
    let small = small_pages(&huge, 12 * MIB, 25.0);
    let found = |small: &[Point], huge: &[Point]| {
        let found = reach(small, huge).unwrap();
        (found.doubtful, found.edge.doubtful)
    };
    assert_eq!(found(&small, &huge), (false, false));
    assert_eq!(found(&doubt(&small, 32 * MIB..=512 * MIB), &huge), (true, true));
    assert_eq!(found(&small, &doubt(&huge, 32 * MIB..=512 * MIB)), (true, true));
    let beyond =
        |points: &[Point]| points.iter().filter(|point| point.size_bytes <= 23 * MIB).copied().collect::<Vec<_>>();
    assert_eq!(reach(&beyond(&small), &huge), None, "two beyond");
    assert_eq!(found(&small, &doubt(&huge, 16 * MIB..=16 * MIB)), (false, true), "the first one beyond");
}

#[test]
fn pages_that_are_alike_have_no_edge() {
    let [one, other] = [1, 2].map(|seed| three().curve(512 * MIB, 0.02, seed));
    assert_eq!(reach(&one, &other), None);
    assert_eq!(reach(&one, &[]), None);
    assert_eq!(reach(&small_pages(&one, 0, 200.0), &one), None, "slower at all sizes is no reach");
}

#[test]
fn edges_agree_with_sizes_near_by() {
    let edge = Edge { inside_bytes: 20 * KIB, beyond_bytes: 30 * KIB, doubtful: false };
    assert!((edge.factor() - 2.25 / 1.5_f64.sqrt()).abs() < 1e-12);
    assert!([14, 20, 25, 30, 45].iter().all(|kib| edge.agrees(kib * KIB)));
    assert!([13, 46].iter().all(|kib| !edge.agrees(kib * KIB)));
}

#[test]
fn what_is_half_way_to_memory_is_no_cache() {
    let ns = |size: u64| match size {
        0..=32_768 => 1.08,
        32_769..=1_048_576 => 3.8,
        1_048_577..=8_388_608 => 14.0,
        8_388_609..=33_554_432 => 77.0,
        _ => 140.0,
    };
    let points: Vec<Point> = (0..33)
        .map(|step| (4096.0 * (0.5 * f64::from(step)).exp2()) as u64)
        .map(|size_bytes| point(size_bytes, ns(size_bytes)))
        .collect();
    let found: Vec<_> = plateaus(&points, &[32 << 10, 1 << 20, 32 << 20])
        .into_iter()
        .map(|plateau| (plateau.level, plateau.ns, plateau.edge.map(|edge| edge.inside_bytes)))
        .collect();
    let cache = |level| Some(Level::Cache(level));
    let expected = [
        (cache(1), 1.08, Some(32 << 10)),
        (cache(2), 3.8, Some(1 << 20)),
        (cache(3), 14.0, Some(8 << 20)),
        (Some(Level::Memory), 140.0, None),
    ];
    assert_eq!(found, expected);
}
