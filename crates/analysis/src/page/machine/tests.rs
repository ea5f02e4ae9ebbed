use charz_data::machine::NumaNode;
use charz_topology::{Source, discover};

use super::*;
use crate::figure::Part;

fn machine(synthetic: &str) -> Machine {
    discover(&Source::Synthetic(synthetic.into())).unwrap()
}

/// Parts in words: `2×package(…)`, strands by their ids.
fn words(parts: &[Part]) -> String {
    let part = |part: &Part| {
        let times = if part.times > 1 { format!("{}×", part.times) } else { String::new() };
        let inside = if part.parts.is_empty() { String::new() } else { format!("({})", words(&part.parts)) };
        format!("{times}{}{inside}", part.label)
    };
    parts.iter().map(part).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(synthetic: &str, expected: &str) {
    assert_eq!(words(&nest(&machine(synthetic), true, Vec::new()).parts), expected);
}

#[test]
fn parts_lie_inside_each_other() {
    check("PU:2", "NUMA node 0(0 1)");
    check("Package:1 Core:2 PU:1", "socket 0(NUMA node 0(core 0(0) core 1(1)))");
    check(
        "Package:1 L3:1(size=8MiB) L2:2(size=1MiB) Core:1 PU:2",
        "socket 0(NUMA node 0(L3 8 MiB(L2 1 MiB(core 0(0 1)) L2 1 MiB(core 1(2 3)))))",
    );
    check("Package:1 Core:1 Group:2 PU:2", "socket 0(NUMA node 0(core 0(ALU slot 0(0 1) ALU slot 1(2 3))))");
    check(
        "Package:2 [NUMA(memory=1GiB)] Core:1 PU:1",
        "socket 0(NUMA node 0 (1 GiB)(core 0(0))) socket 1(NUMA node 1 (1 GiB)(core 1(1)))",
    );
    check("NUMA:1 Package:2 Core:1 PU:1", "NUMA node 0(socket 0(core 0(0)) socket 1(core 1(1)))");
}

/// Hybrid machines have caches that only some strands have.
#[test]
fn a_cache_with_different_contents_is_one_part() {
    let mut machine = machine("L3:1(size=8MiB) L2:2(size=1MiB) Core:1 PU:1");
    machine.strands[0].caches.remove(0);
    assert_eq!(words(&nest(&machine, true, Vec::new()).parts), "NUMA node 0(L3 8 MiB(core 0(0) L2 1 MiB(core 1(1))))");
}

#[test]
fn a_node_without_cpus_lies_beside_the_others() {
    let mut machine = machine("Package:1 [NUMA(memory=1GiB)] Core:1 PU:1");
    let far = NumaNode { os_id: Some(5), subtype: Some("CXL".into()), strands: 0, ..machine.numa_nodes[0].clone() };
    machine.numa_nodes.push(far);
    let nest = nest(&machine, true, Vec::new());
    assert_eq!(words(&nest.parts), "socket 0(NUMA node 0 (1 GiB)(core 0(0))) NUMA node 5 (1 GiB, CXL)");
}

#[test]
fn nodes_that_do_not_add_up_say_nothing_of_memory() {
    let machine = machine("Package:1 [NUMA(memory=4GiB)] Core:2 PU:1");
    let mut report = charz_data::report::fixtures::report(Vec::new());
    report.machine = machine;
    for (total, expected) in [(4_u64, true), (24, false), (1, false)] {
        report.host.memory.total_bytes = Some(total << 30);
        assert_eq!(words(&of_report(&report).parts).contains("4 GiB"), expected, "of {total} GiB");
    }
}

#[test]
fn the_largest_machines_are_drawn_by_few_parts() {
    fn leaves(parts: &[Part]) -> usize {
        parts.iter().map(|part| if part.what == What::Strand { 1 } else { leaves(&part.parts) }).sum()
    }
    for (synthetic, strands) in
        [("Package:4 Core:16 Group:2 PU:4", 512), ("Package:16 Core:64 PU:8", 8192), ("PU:65536", 65536)]
    {
        let nest = nest(&machine(synthetic), true, Vec::new());
        assert_eq!(nest.strands(), strands, "{synthetic}");
        assert!(leaves(&nest.parts) <= MOST_DRAWN, "{synthetic}");
    }
    // hwloc puts a NUMA node around everything where none is named.
    let nest = nest(&machine("Package:16 Core:64 PU:8"), true, Vec::new());
    let packages = &nest.parts[0].parts;
    assert_eq!((packages.len(), packages[0].parts[0].times), (16, 64), "packages are separate, their cores folded");
}

#[test]
fn what_is_not_usable_is_not_folded_with_what_is() {
    let mut machine = machine("Package:2 Core:1024 PU:1");
    machine.strands[5].usable = false;
    let nest = nest(&machine, true, Vec::new());
    assert_eq!(nest.strands(), 2048);
    let package = &nest.parts[0].parts[0];
    let times: Vec<usize> = package.parts.iter().map(|part| part.times).collect();
    assert_eq!(times, [5, 1, 1018]);
    assert!(!package.parts[1].usable && package.usable);
}

#[test]
fn orders_are_those_of_mappings_with_several_crews() {
    use charz_data::report::fixtures::{cell, report};
    let one = |mapping: &str, seats: &[u32]| {
        cell("mem-read", seats.len() as u64, charz_data::report::Unit::BytesPerSecond, 1e9).under(mapping).seated(seats)
    };
    let report = report(vec![one("rr", &[0]), one("rr", &[0, 2]), one("rr", &[0, 2, 1, 0]), one("list:1", &[1])]);
    let orders = of_report(&report).orders;
    assert_eq!(orders, [Order { mapping: "rr".into(), seats: vec![0, 2, 1] }]);
}

#[test]
fn a_machine_is_called_by_its_model_and_its_cores_by_their_kind() {
    let mut hybrid = machine("Package:2 Core:2 PU:1");
    hybrid.source = "/path/of/a/file.xml".into();
    hybrid.packages.iter_mut().for_each(|package| package.model = Some(" Model 9 ".into()));
    let kind = |rank| Kind { speed_rank: Some(rank), how_known: String::new(), infos: Vec::new(), strands: 2 };
    hybrid.kinds = vec![kind(0), kind(1)];
    for (at, strand) in hybrid.strands.iter_mut().enumerate() {
        strand.kind = Some(at as u32 % 2);
    }
    assert_eq!(title(&hybrid), "2 × Model 9, 4 cores, 4 CPUs");
    let parts = words(&nest(&hybrid, false, Vec::new()).parts);
    assert!(parts.contains("socket 0(slow core 0(0) fast core 1(1))"), "{parts}");
    let info = |value: &str| charz_data::machine::Info { name: "CoreType".into(), value: value.into() };
    hybrid.kinds[0].infos.push(info("IntelAtom"));
    hybrid.kinds[1].infos.push(info("IntelCore"));
    let parts = words(&nest(&hybrid, false, Vec::new()).parts);
    assert!(parts.contains("socket 0(E-core 0(0) P-core 1(1))"), "{parts}");
    hybrid.kinds.push(Kind { speed_rank: Some(2), ..hybrid.kinds[0].clone() });
    let names = |machine: &Machine| [0, 1, 2].map(|kind| core_name(machine, Some(kind)));
    assert_eq!(names(&hybrid), ["LP E-core", "P-core", "E-core"]);
    hybrid.kinds.iter_mut().for_each(|kind| kind.infos.clear());
    assert_eq!(names(&hybrid), ["slow core", "kind-1 core", "fast core"]);
    hybrid.kinds.iter_mut().zip(["A", "B", "B"]).for_each(|(kind, design)| kind.infos.push(info(design)));
    assert_eq!(names(&hybrid), ["A core", "slower B core", "B core"]);
    hybrid.packages[1].model = None;
    assert!(words(&nest(&hybrid, false, Vec::new()).parts).contains("socket 0 (Model 9)"));
}
