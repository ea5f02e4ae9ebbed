use super::*;
use charz_data::params::STRIDE;
use charz_topology::{Source, discover};

fn machine(description: &str) -> Machine {
    discover(&Source::Synthetic(description.into())).unwrap()
}

/// Two packages with 4 cores of 2 strands, where L2 belongs to a core and L3 to a package.
fn servers() -> Machine {
    machine("Package:2 L3:1(size=33554432) L2:4(size=1048576) L1d:1(size=32768) Core:1 PU:2")
}

fn ladder() -> BlockSizes {
    BlockSizes::of(&servers())
}

fn sizes(kind: Sizes) -> Vec<u64> {
    ladder().sizes(kind, 256 << 20).unwrap()
}

#[test]
fn levels_fit_well_inside_each_strands_share() {
    let sizes = sizes(Sizes::Levels);
    let [first, second, third, block] = sizes[..] else { panic!("{sizes:?}") };
    // Of a strand are 16 KiB, 512 KiB and 4 MiB.
    assert_eq!(first, 8 << 10);
    assert!(second >= 2 * (16 << 10) && 2 * second <= 512 << 10, "{second}");
    assert!(third >= 2 * (512 << 10) && 2 * third <= 4 << 20, "{third}");
    assert_eq!(block, 128 << 20, "four times the last cache");
    let small = ladder().sizes(Sizes::Levels, 1 << 20).unwrap();
    assert_eq!(small.last(), Some(&(128 << 20)), "for a block of any size");
}

#[test]
fn a_single_size_and_a_list_of_another_kernels_parameter_are_the_plans() {
    let kernel = charz_workloads::find("mem-read").unwrap();
    let large = Params { size_bytes: 128 << 20, ..Params::SMALL };
    let points = |asked: Asked| points(kernel, &asked, &large, &ladder());
    let size = Asked { sizes: Some(AskedSizes::List(vec![4096])), ..Asked::default() };
    assert_eq!(points(size), [Point::default()]);
    let strides = Asked { lists: vec![(&STRIDE, STRIDE.list("64,128").unwrap())], ..Asked::default() };
    assert_eq!(points(strides), [Point::default()]);
}

#[test]
fn a_curve_may_be_asked_to_have_a_size_for_each_level_only() {
    let points = |kernel, no_curves| {
        let kernel = charz_workloads::find(kernel).unwrap();
        points(kernel, &Asked { no_curves, ..Asked::default() }, &Params::SMALL, &ladder())
    };
    let sizes = |no_curves| {
        let sizes = points("chase-random", no_curves).iter().filter_map(|point| point.size_bytes).collect::<Vec<_>>();
        sizes.into_iter().collect::<std::collections::BTreeSet<_>>()
    };
    let own: Vec<u64> = sizes(true).into_iter().collect();
    let [first, second, third, memory] = own[..] else { panic!("{own:?}") };
    assert_eq!((first, memory), (16 << 10, 128 << 20), "half of the first level, for a thread alone");
    assert!((64 << 10..=512 << 10).contains(&second) && (2 << 20..=16 << 20).contains(&third), "{own:?}");
    assert!(sizes(false).len() > 20);
    assert_eq!(points("mem-read", true), points("mem-read", false));
}

#[test]
fn memory_is_well_beyond_the_last_cache() {
    for block in [1 << 20, 1 << 30] {
        assert_eq!(ladder().sizes(Sizes::Block, block), Some(vec![128 << 20]));
    }
    let [small, unknown] = ["L3:1(size=1048576) Core:2 PU:1", "Core:2 PU:1"].map(|text| BlockSizes::of(&machine(text)));
    assert_eq!(small.sizes(Sizes::Block, 256 << 20), Some(vec![32 << 20]));
    assert_eq!(unknown.sizes(Sizes::Block, 256 << 20), None);
}

/// As AmpereOne and the M1 without their system-level caches, and POWER10, whose cores reach each other's L3.
#[test]
fn a_larger_cache_may_lie_behind_those_that_are_listed() {
    const BLOCK: u64 = 256 << 20;
    let seats = |workers: u32| (0..workers).map(Some).collect::<Vec<_>>();
    for text in
        ["L2:8(size=2097152) Core:1 PU:1", "Package:1 L2:2(size=2097152) Core:4 PU:1", "L3:8(size=8388608) Core:1 PU:2"]
    {
        let machine = machine(text);
        let sizes = BlockSizes::of(&machine);
        assert_eq!(sizes.memory(BLOCK), BLOCK, "{text}");
        assert_eq!(sizes.sizes(Sizes::Curve, BLOCK).unwrap().last(), Some(&BLOCK), "{text}");
        let of = |workers| divided(&machine, &seats(workers), BLOCK);
        assert_eq!([of(1), of(2), of(8)], [BLOCK, BLOCK / 2, ENOUGH], "{text}");
    }
    // One core shares with none, and the T3 has one L2.
    for text in ["L3:1(size=8388608) Core:1 PU:2", "Package:4 L2:1(size=6291456) Core:16 PU:8"] {
        assert_eq!(BlockSizes::of(&machine(text)).memory(BLOCK), 32 << 20, "{text}");
    }
}

#[test]
fn workers_divide_what_passes_the_caches_that_they_share() {
    let memory = ladder().memory(1 << 20);
    let divided = |seats: &[Option<u32>]| divided(&servers(), seats, memory);
    // Each package has a cache of 32 MiB for 8 strands.
    let seats = |strands: std::ops::Range<u32>| strands.map(Some).collect::<Vec<_>>();
    assert_eq!([divided(&[None]), divided(&seats(0..1)), divided(&seats(7..9))], [128 << 20; 3]);
    assert_eq!(
        (divided(&seats(0..2)), divided(&seats(0..3))),
        (64 << 20, (128_u64 << 20).div_ceil(3).next_multiple_of(4096))
    );
    assert_eq!(divided(&seats(0..9)), 128 << 20, "one of them is alone in the second package");
    assert_eq!([divided(&seats(0..16)), divided(&[None; 16])], [ENOUGH; 2]);
    // The scheduler may put as many as have room in one package, and the rest in the other.
    assert_eq!([divided(&[None; 2]), divided(&[None; 9]), divided(&[None; 10])], [128 << 20, 128 << 20, 64 << 20]);
    assert_eq!(super::divided(&machine("Core:4 PU:1"), &seats(0..4), 256 << 20), 256 << 20, "no cache is known");
    // Each level is to be passed: the last one is smaller than those below together.
    let fourth = machine("L4:1(size=67108864) L3:8(size=268435456) Core:8 PU:1");
    let each = super::divided(&fourth, &seats(0..64), BlockSizes::of(&fourth).memory(1 << 28));
    assert_eq!(each, 128 << 20);
    for workers in 1..=16 {
        let each = divided(&seats(0..workers));
        assert_eq!(level(&servers(), &seats(0..workers), Bytes(each)).as_deref(), Some("memory"), "{workers}: {each}");
    }
}

/// As two dies of which one has a cache on top, and as a device tree that says nothing of the last level.
#[test]
fn the_largest_last_cache_counts_of_those_that_are_used() {
    let mut machine = servers();
    let last: Vec<usize> = (0..machine.caches.len()).filter(|at| machine.caches[*at].level == 3).collect();
    machine.caches[last[0]].size_bytes = Some(96 << 20);
    assert_eq!((machine.last_cache_bytes(), BlockSizes::of(&machine).memory(1 << 28)), (Some(96 << 20), 384 << 20));
    machine.numa_nodes[0].memory_side_cache_bytes = Some(1 << 34);
    assert_eq!((machine.largest_cache_bytes(), BlockSizes::of(&machine).memory(1 << 28)), (Some(1 << 34), 384 << 20));
    machine.strands.iter_mut().for_each(|strand| strand.usable = strand.package == Some(1));
    assert_eq!(BlockSizes::of(&machine).memory(1 << 28), 128 << 20);
    machine.caches[last[1]].size_bytes = None;
    assert_eq!((machine.last_cache_bytes(), BlockSizes::of(&machine).memory(1 << 28)), (None, 1 << 28));
}

#[test]
fn a_level_that_is_no_larger_for_each_is_left_out() {
    let shared = machine("Package:1 L2:1(size=131072) L1d:4(size=65536) Core:1 PU:1");
    let sizes = BlockSizes::of(&shared).sizes(Sizes::Levels, 1 << 20).unwrap();
    assert_eq!(sizes, [32 << 10, 1 << 20]);
    assert_eq!(BlockSizes::of(&machine("Package:1 Core:2 PU:1")).sizes(Sizes::Levels, 1 << 20).unwrap(), [1 << 20]);
}

#[test]
fn curves_go_well_past_the_last_cache_in_even_steps() {
    let sizes = sizes(Sizes::Curve);
    assert_eq!((sizes.first(), sizes.last()), (Some(&(4 << 10)), Some(&(128 << 20))));
    for pair in sizes.windows(2) {
        let ratio = pair[1] as f64 / pair[0] as f64;
        assert!((1.40..1.43).contains(&ratio), "{pair:?}");
        assert_eq!(pair[0] % 64, 0);
    }
    let unknown = BlockSizes::of(&machine("Package:1 Core:2 PU:1")).sizes(Sizes::Curve, 1 << 20).unwrap();
    assert_eq!(unknown.last(), Some(&(256 << 20)));
}

#[test]
fn blocks_of_all_workers_are_to_fit_a_level_together() {
    let machine = servers();
    let seats = |ids: &[u32]| ids.iter().map(|&id| Some(id)).collect::<Vec<_>>();
    #[track_caller]
    fn check(machine: &Machine, seats: &[Option<u32>], kib: u64, expected: Option<&str>) {
        assert_eq!(level(machine, seats, Bytes(kib << 10)).as_deref(), expected);
    }
    let of = |package: usize, strand: usize| {
        machine.strands.iter().filter(|s| s.package == Some(package as u32)).nth(strand).unwrap().os_id
    };
    let (core, others) = (seats(&[of(0, 0), of(0, 1)]), seats(&[of(0, 0), of(1, 0)]));
    check(&machine, &core, 16, Some("L1"));
    check(&machine, &core, 17, Some("L2"));
    check(&machine, &others, 32, Some("L1"));
    check(&machine, &core, 16 << 10, Some("L3"));
    check(&machine, &core, (16 << 10) + 1, Some("memory"));
    check(&machine, &others, 32 << 10, Some("L3"));
    check(&machine, &[None], 32, Some("L1"));
    check(&machine, &[None, None], 1, None);
    // Without a cache of a level nothing is inside of it.
    let mut bare = machine.clone();
    let strand = bare.strands.iter_mut().find(|strand| strand.os_id == of(0, 0)).unwrap();
    strand.caches.retain(|at| machine.caches[*at as usize].level < 3);
    check(&bare, &seats(&[of(0, 0)]), 4 << 10, Some("memory"));
    check(&bare, &seats(&[of(0, 2)]), 4 << 10, Some("L3"));
    check(&bare, &seats(&[of(0, 0), of(1, 0)]), 4 << 10, None);
    let own = bare.strands.iter().find(|strand| strand.os_id == of(0, 0)).unwrap().caches.clone();
    for at in own {
        let cache = &mut bare.caches[at as usize];
        cache.size_bytes = cache.size_bytes.map(|size| if cache.level == 2 { 4 << 20 } else { size });
    }
    check(&bare, &seats(&[of(0, 0), of(1, 0)]), 4 << 10, Some("L3"));
    // What may be in a cache of unknown size is in no level that is known.
    let mut unknown = machine.clone();
    let mut forget = |level: u32| {
        unknown.caches.iter_mut().filter(|cache| cache.level == level).for_each(|cache| cache.size_bytes = None);
        unknown.clone()
    };
    let (second, both) = (forget(2), forget(3));
    check(&second, &core, 16, Some("L1"));
    check(&second, &core, 17, None);
    check(&second, &core, (16 << 10) + 1, Some("memory"));
    check(&both, &core, 16, Some("L1"));
    check(&both, &core, (16 << 10) + 1, None);
}

/// More than a cache holds, and less than all of them, of the outermost level that has several; and the source's.
#[test]
fn a_divided_set_is_between_one_cache_and_all() {
    let of = |text: &str| BlockSizes::of(&machine(text)).sizes(Sizes::BetweenCaches(8 << 20), 1 << 28).unwrap();
    let [source, own] = sizes(Sizes::BetweenCaches(8 << 20))[..] else { panic!("two packages with an L3 each") };
    assert!(source == 8 << 20 && own > 32 << 20 && own < 64 << 20, "{own}");
    let [own, source] = of("L3:1(size=33554432) L2:4(size=1048576) Core:1 PU:1")[..] else { panic!("four L2") };
    assert!(source == 8 << 20 && own > 1 << 20 && own < 4 << 20, "{own}");
    assert_eq!(of("L2:1(size=1048576) Core:4 PU:1"), [8 << 20], "one cache is all caches");
    assert_eq!(of("Core:4 PU:1"), [8 << 20]);
}
