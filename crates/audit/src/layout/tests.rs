//! Machines that were drawn, and those that others measured.

use std::path::PathBuf;

use fastrand::Rng;
use proptest::prelude::*;

use super::*;

/// Groups of CPUs from the innermost, with the latency within each, and that across the last; noise is a share of each value.
struct Drawn {
    /// Group sizes that repeat until all CPUs are in one.
    levels: &'static [(&'static [usize], f64)],
    across: f64,
    cpus: usize,
}

impl Drawn {
    fn groups(&self, sizes: &[usize]) -> Vec<usize> {
        sizes.iter().cycle().enumerate().flat_map(|(group, size)| vec![group; *size]).take(self.cpus).collect()
    }

    fn expected(&self) -> Vec<Vec<Vec<u32>>> {
        let ids =
            |groups: Vec<Vec<usize>>| groups.iter().map(|group| group.iter().map(|at| *at as u32).collect()).collect();
        let first = |of: &[usize], group: &usize| of.iter().position(|other| other == group).unwrap();
        let by_first = |of: Vec<usize>| of.iter().map(|group| first(&of, group)).collect::<Vec<_>>();
        self.levels.iter().map(|(sizes, _)| ids(members(&by_first(self.groups(sizes))))).collect()
    }

    fn pairs(&self, noise: f64, random: &mut Rng) -> Vec<([u32; 2], f64)> {
        let of: Vec<(Vec<usize>, f64)> = self.levels.iter().map(|(sizes, ns)| (self.groups(sizes), *ns)).collect();
        let mut pairs = Vec::new();
        for a in 0..self.cpus {
            for b in 0..a {
                let level = of.iter().find(|(groups, _)| groups[a] == groups[b]);
                let ns = level.map_or(self.across, |(_, ns)| *ns) * (1.0 + noise * (2.0 * random.f64() - 1.0));
                pairs.push(([a as u32, b as u32], ns));
            }
        }
        pairs
    }
}

const DRAWN: [Drawn; 9] = [
    Drawn { levels: &[(&[2], 9.0)], across: 19.0, cpus: 12 },
    Drawn { levels: &[(&[4], 12.0), (&[24], 60.0)], across: 170.0, cpus: 48 },
    Drawn { levels: &[(&[8], 14.0)], across: 50.0, cpus: 64 },
    Drawn { levels: &[(&[2], 11.0), (&[6], 30.0), (&[12], 75.0), (&[48], 130.0)], across: 240.0, cpus: 96 },
    // Uneven: an allotment, clusters of two sizes, and cores with and without a sibling.
    Drawn { levels: &[(&[10, 6], 40.0)], across: 110.0, cpus: 16 },
    Drawn { levels: &[(&[2, 3, 3], 45.0)], across: 130.0, cpus: 8 },
    Drawn { levels: &[(&[2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1], 5.0)], across: 36.0, cpus: 20 },
    Drawn { levels: &[(&[2], 8.0)], across: 25.0, cpus: 4 },
    Drawn { levels: &[(&[4], 30.0)], across: 55.0, cpus: 32 },
];

fn found(layout: &Layout) -> Vec<Vec<Vec<u32>>> {
    layout.levels.iter().map(|level| level.groups.clone()).collect()
}

/// Every twentieth value, by chance, is of 0.3 to 5 times its size.
fn damaged(pairs: impl IntoIterator<Item = ([u32; 2], f64)>, random: &mut Rng) -> Latencies {
    let mut factor = || if random.f64() < 0.05 { 0.3 + 4.7 * random.f64() } else { 1.0 };
    Latencies::of(pairs.into_iter().map(|(pair, value)| (pair, value * factor())))
}

#[test]
fn levels_that_were_drawn_are_found() {
    for (at, drawn) in DRAWN.iter().enumerate() {
        for noise in [0.0, 0.03, 0.1] {
            let pairs = drawn.pairs(noise, &mut Rng::with_seed(at as u64));
            let layout = layout(&Latencies::of(pairs));
            assert_eq!(found(&layout), drawn.expected(), "{at}, {noise}: {:?}", layout.undecided);
            assert!(layout.levels.iter().all(|level| (0.5..1.0).contains(&level.confidence)), "{at}");
        }
    }
}

#[test]
fn damaged_values_leave_levels_right_or_undecided() {
    let mut counts = [0, 0];
    for (at, drawn) in DRAWN.iter().enumerate() {
        for seed in 0..12 {
            let mut random = Rng::with_seed(100 * at as u64 + seed);
            let pairs = drawn.pairs(0.05, &mut random);
            let found = found(&layout(&damaged(pairs, &mut random)));
            let expected = drawn.expected();
            assert!(found.iter().all(|groups| expected.contains(groups)), "{at}, {seed}: {found:?}");
            counts = [counts[0] + found.len(), counts[1] + expected.len()];
        }
    }
    assert!(4 * counts[0] > 3 * counts[1], "{counts:?} levels found of all");
}

/// Latencies without levels: nothing is invented, and nothing fails.
#[test]
fn machines_without_levels_have_none() {
    let grid = |a: usize, b: usize| 30.0 + 2.5 * ((a % 8).abs_diff(b % 8) + (a / 8).abs_diff(b / 8)) as f64;
    let ring = |a: usize, b: usize| 30.0 + 1.8 * a.abs_diff(b).min(24 - a.abs_diff(b)) as f64;
    let same = |_: usize, _: usize| 41.0;
    type Shape<'a> = (&'a dyn Fn(usize, usize) -> f64, usize);
    let shapes: [Shape<'_>; 6] = [(&grid, 64), (&ring, 24), (&same, 16), (&same, 2), (&same, 1), (&same, 0)];
    for (at, (ns, cpus)) in shapes.into_iter().enumerate() {
        for seed in 0..10 {
            let mut random = Rng::with_seed(seed);
            let pairs = (0..cpus).flat_map(|a| (0..a).map(move |b| (a, b)));
            let noisy = |(a, b): (usize, usize)| ([a as u32, b as u32], ns(a, b) * (1.0 + 0.04 * random.f64()));
            let pairs: Vec<_> = pairs.map(noisy).collect();
            assert_eq!(found(&layout(&Latencies::of(pairs.clone()))), [] as [Vec<Vec<u32>>; 0], "{at}, {seed}");
            assert_eq!(found(&layout(&damaged(pairs, &mut random))), [] as [Vec<Vec<u32>>; 0], "{at}, {seed}");
        }
    }
}

#[test]
fn a_part_of_the_machine_that_is_near_is_no_level() {
    // Four caches, two of which are in one die; the others are each as far as from anything.
    let drawn = Drawn { levels: &[(&[8], 25.0), (&[16, 8, 8], 90.0)], across: 155.0, cpus: 32 };
    let layout = layout(&Latencies::of(drawn.pairs(0.02, &mut Rng::with_seed(1))));
    assert_eq!(found(&layout), drawn.expected()[..1]);
    assert_eq!(layout.undecided.iter().map(|open| open.why).collect::<Vec<_>>(), [Why::InPart]);
}

/// A core of four whose two diagonals are damaged is two pairs in two ways, so it is neither.
#[test]
fn four_in_a_ring_are_not_two_pairs() {
    let drawn = Drawn { levels: &[(&[4], 9.0)], across: 50.0, cpus: 16 };
    let mut pairs = drawn.pairs(0.02, &mut Rng::with_seed(2));
    let is_diagonal = |[a, b]: [u32; 2]| a.max(b) < 4 && a % 2 == b % 2;
    pairs.iter_mut().filter(|(pair, _)| is_diagonal(*pair)).for_each(|(_, ns)| *ns = 55.0);
    let layout = layout(&Latencies::of(pairs));
    let shown =
        layout.levels.iter().flat_map(|level| &level.groups).filter(|group| group.contains(&0) && group.len() == 2);
    assert_eq!(shown.count(), 0, "{:?}", layout.levels);
}

/// Two cores of another kind without siblings, near each other and far from the rest, are no core of two threads.
#[test]
fn slow_cores_that_share_a_cluster_are_not_siblings() {
    let ns = |a: u32, b: u32| match (a.max(b), a / 2 == b / 2) {
        (20.., true) => 60.0,
        (20.., _) => 110.0,
        (_, true) => 5.0,
        _ => 40.0,
    };
    let mut random = Rng::with_seed(4);
    let pairs = (0..22).flat_map(|a| (0..a).map(move |b| [a, b]));
    let latencies = Latencies::of(pairs.map(|[a, b]| ([a, b], ns(a, b) * (1.0 + 0.04 * random.f64()))));
    let found = found(&layout(&latencies));
    assert!(found.iter().all(|groups| !(groups.contains(&vec![0, 1]) && groups.contains(&vec![20, 21]))), "{found:?}");
}

#[test]
fn the_lowest_of_several_values_counts_and_what_is_no_number_does_not() {
    let values = [([3, 1], 8.0), ([1, 3], 6.0), ([1, 1], 2.0), ([1, 7], f64::NAN), ([7, 3], -1.0), ([7, 1], 9.0)];
    let latencies = Latencies::of(values);
    assert_eq!(latencies.ids(), [1, 3, 7]);
    assert_eq!(latencies.pairs().collect::<Vec<_>>(), [(0, 1, 6.0), (0, 2, 9.0)]);
}

#[test]
fn a_third_of_the_pairs_may_be_missing() {
    for drawn in [&DRAWN[1], &DRAWN[3], &DRAWN[8]] {
        let mut random = Rng::with_seed(5);
        let pairs = drawn.pairs(0.03, &mut random);
        // Of a core of few threads no pair may be missing: there would be nothing to know it by.
        let kept = |(pair, ns): &([u32; 2], f64)| *ns < 15.0 || random.f64() > 0.33 || pair[0] == pair[1];
        let layout = layout(&Latencies::of(pairs.into_iter().filter(kept)));
        assert_eq!(found(&layout), drawn.expected(), "{:?}", layout.undecided);
    }
}

#[test]
fn a_machine_of_the_levels_has_their_groups_and_contradicts_other_claims() {
    let drawn = Drawn { levels: &[(&[2], 9.0), (&[8], 27.0), (&[32], 110.0)], across: 210.0, cpus: 64 };
    let latencies = Latencies::of(drawn.pairs(0.02, &mut Rng::with_seed(3)));
    let mut found = layout(&latencies);
    let names: Vec<_> = found.levels.iter().map(|level| level.name).collect();
    assert_eq!(names, [LevelName::Core, LevelName::Cache(3), LevelName::Package]);
    let machine = found.machine(&latencies, "drawn");
    assert_eq!((machine.cores.len(), machine.caches.len(), machine.packages.len()), (32, 8, 2));
    assert!(
        machine.caches.iter().all(|cache| cache.strands == 8) && machine.cores.iter().all(|core| core.strands == 2)
    );
    assert_eq!(found.compare(&machine), []);
    // Two CPUs in each other's core, and no sockets.
    let mut claim = machine.clone();
    let (first, second) = (claim.strands[0].core, claim.strands[2].core);
    (claim.strands[0].core, claim.strands[2].core) = (second, first);
    claim.strands.iter_mut().for_each(|strand| strand.package = None);
    let [core, package] = &found.compare(&claim)[..] else { panic!() };
    assert_eq!(
        (core.name, &core.claimed, &core.measured),
        (LevelName::Core, &vec![vec![0, 3], vec![1, 2]], &vec![vec![0, 1], vec![2, 3]])
    );
    assert_eq!((package.name, package.claimed.len(), package.measured.len()), (LevelName::Package, 0, 2));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// What is permuted gives the same groups of the same CPUs, also where values are damaged; units scale nothing but names.
    #[test]
    fn ids_do_not_matter(at in 0..DRAWN.len(), seed in any::<u64>(), unit in 0.01_f64..100.0) {
        let mut random = Rng::with_seed(seed);
        let drawn = &DRAWN[at];
        let latencies = damaged(drawn.pairs(0.05, &mut random), &mut random);
        let mut ids: Vec<u32> = (0..drawn.cpus as u32).map(|id| 3 * id + 1).collect();
        random.shuffle(&mut ids);
        let moved = latencies.pairs().map(|(a, b, value)| ([ids[a], ids[b]], value * unit));
        let renamed = |levels: Vec<&Level>| {
            let groups = levels.into_iter().map(|level| {
                let rename = |group: &Vec<u32>| group.iter().map(|id| ids[*id as usize]).collect::<BTreeSet<u32>>();
                level.groups.iter().map(rename).collect::<BTreeSet<_>>()
            });
            groups.collect::<Vec<_>>()
        };
        let as_is = |levels: Vec<&Level>| -> Vec<BTreeSet<BTreeSet<u32>>> {
            let groups = |level: &Level| level.groups.iter().map(|group| group.iter().copied().collect()).collect();
            levels.into_iter().map(groups).collect()
        };
        let (one, other) = (layout(&latencies), layout(&Latencies::of(moved)));
        prop_assert_eq!(renamed(one.levels.iter().collect()), as_is(other.levels.iter().collect()));
        let open = |layout: &Layout| layout.undecided.iter().map(|open| (open.why, open.cpus.len())).collect::<Vec<_>>();
        prop_assert_eq!(open(&one), open(&other));
    }
}

/// The levels of machines that others measured, where `CHARZ_REAL` has them; see docs/checked-on.md for their source.
#[test]
#[allow(clippy::print_stdout)] // Said where it is skipped.
fn levels_of_measured_machines_are_those_of_their_makers() {
    let Some(folder) = std::env::var_os("CHARZ_REAL").map(|folder| PathBuf::from(folder).join("c2c")) else {
        return println!("CHARZ_REAL is not set: no measured machines");
    };
    let expected = std::fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let rows: Vec<Vec<&str>> = expected.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    for rows in rows.chunk_by(|a, b| a[0] == b[0]).filter(|rows| rows[0][1] != "256") {
        let text = std::fs::read_to_string(folder.join(rows[0][0])).unwrap();
        let value = |text: &str| text.trim().parse().unwrap_or(f64::NAN);
        let lines = text.lines().enumerate();
        let pairs = lines.flat_map(|(a, line)| line.split(',').take(a).enumerate().map(move |(b, text)| (a, b, text)));
        let latencies = Latencies::of(pairs.map(|(a, b, text)| ([a as u32, b as u32], value(text))));
        let (layout, levels) = (layout(&latencies), rows.iter().filter(|row| row[2] != "-"));
        let levels: Vec<(usize, Vec<u32>)> =
            levels.map(|row| (row[3].parse().unwrap(), charz_data::cpulist::parse(row[5]).unwrap())).collect();
        let found: Vec<(usize, Vec<u32>)> =
            layout.levels.iter().map(|level| (level.groups.len(), level.groups[0].clone())).collect();
        assert_eq!(found, levels, "{}", rows[0][0]);
    }
}
