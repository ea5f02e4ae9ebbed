//! Machines as hwloc XML: read back by us, and by hwloc's own tools.
#![allow(clippy::print_stdout)] // A test that cannot run here says so.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use charz_topology::{Access, AluSource, Machine, Source, Strand, discover, export_xml, machine_xml};

/// A figure for each pair of nodes that differs from all others.
fn fixtures(machine: &Machine) -> Vec<Access> {
    let ids = || machine.numa_nodes.iter().filter_map(|node| node.os_id);
    let pairs = ids().flat_map(|from| ids().map(move |to| (from, to)));
    pairs
        .map(|(from, to)| Access {
            from,
            to,
            latency_ns: Some(f64::from(100 + 100 * from + to)),
            bytes_per_second: Some(f64::from(1 + from + 50 * to) * f64::from(1 << 30)),
        })
        .collect()
}

/// Exports with synthetic figures into a file of the folder.
#[track_caller]
fn export(source: &Source, folder: &Path) -> (Machine, Source) {
    let machine = discover(source).unwrap();
    let text = export_xml(source, &fixtures(&machine)).unwrap();
    let file: PathBuf = folder.join("exported.xml");
    std::fs::write(&file, text).unwrap();
    (machine, Source::File(file))
}

#[track_caller]
fn check_round_trip(source: &Source) {
    let folder = tempfile::tempdir().unwrap();
    let (before, file) = export(source, folder.path());
    let after = discover(&file).unwrap_or_else(|error| panic!("{source}: {error}"));
    let shape = |machine: &Machine| {
        let strands: Vec<_> =
            machine.strands.iter().map(|s| (s.os_id, s.core, (s.alu, s.slot), s.package, s.numa)).collect();
        let Machine { alu, mut numa_nodes, caches, numa_distances, .. } = machine.clone();
        // What was measured is written as what a node does.
        numa_nodes.iter_mut().for_each(|node| node.tier = None);
        (strands, alu, numa_nodes, caches, numa_distances)
    };
    assert_eq!(shape(&before), shape(&after), "{source}");
}

#[test]
fn what_is_exported_reads_back_as_the_same_machine() {
    check_round_trip(&Source::ThisMachine);
    let groups = ["Package:2 Core:2 Group:4 PU:1", "Core:2 Group:1 PU:2", "Core:2 Group:2 PU:2"];
    for text in ["Package:2 [NUMA(memory=1GB)] L3:1 Core:2 PU:2", "NUMA:3 Core:1 PU:1", "pu:1", "pu:70"]
        .into_iter()
        .chain(groups)
    {
        check_round_trip(&Source::Synthetic(text.to_owned()));
    }
    // A node without CPUs, on a machine whose sockets have memory.
    let folder = tempfile::tempdir().unwrap();
    let (_, file) =
        export(&Source::Synthetic("[NUMA(memory=4GB)] Package:2 [NUMA(memory=1GB)] Core:2 PU:1".into()), folder.path());
    let Source::File(path) = &file else { unreachable!() };
    let text = std::fs::read_to_string(path).unwrap();
    std::fs::write(
        path,
        text.replace("NUMANode\" os_index=\"2\" cpuset=\"0x0000000f", "NUMANode\" os_index=\"2\" cpuset=\"0x0"),
    )
    .unwrap();
    assert!(discover(&file).unwrap().numa_nodes.iter().any(|node| node.strands == 0), "{text}");
    check_round_trip(&file);
    // Nodes behind caches, one of them with text of its own inside.
    let mut cached = discover(&file).unwrap();
    cached.numa_nodes.iter_mut().zip([4096, 8192]).for_each(|(node, bytes)| node.memory_side_cache_bytes = Some(bytes));
    // A description has no figures.
    cached.numa_nodes.iter_mut().for_each(|node| node.tier = None);
    let text = machine_xml(&cached).unwrap();
    let open = text.replacen("/></object>", "><info name=\"a\" value=\"b\"/></object></object>", 1);
    assert_ne!(text, open);
    std::fs::write(path, open).unwrap();
    assert_eq!(discover(&file).unwrap().numa_nodes, cached.numa_nodes);
    check_round_trip(&file);
    let Ok(folder) = std::env::var("CHARZ_TOPOLOGIES") else { return };
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "xml") && discover(&Source::File(path.clone())).is_ok()
        {
            check_round_trip(&Source::File(path));
        }
    }
}

/// As a container writes it: the whole machine, and what it may use.
#[test]
fn a_file_of_a_control_group_has_the_whole_machine() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, file) = export(&Source::Synthetic("Core:2 PU:2".to_owned()), folder.path());
    let Source::File(path) = &file else { unreachable!() };
    let text = std::fs::read_to_string(path).unwrap();
    let all = "allowed_cpuset=\"0x0000000f\"";
    assert!(text.contains(all), "{text}");
    std::fs::write(path, text.replace(all, "allowed_cpuset=\"0x00000006\"")).unwrap();
    let part = discover(&file).unwrap();
    assert_eq!(part.strands.len(), whole.strands.len());
    assert_eq!(part.usable_strands().map(|strand| strand.os_id).collect::<Vec<_>>(), [1, 2]);
    assert_eq!((part.usable.strands, part.usable.cpuset.as_deref()), (2, Some("1-2")));
}

#[test]
fn lstopo_shows_what_was_measured() {
    let program = "lstopo-no-graphics";
    if Command::new(program).arg("--version").output().is_err() {
        return println!("skipped: there is no {program} here; install hwloc or hwloc-nox");
    }
    let folder = tempfile::tempdir().unwrap();
    let show = |source: &str, flag: &str| {
        let (_, Source::File(file)) = export(&Source::of(source), folder.path()) else { unreachable!() };
        let shown = Command::new(program).arg(flag).arg("-i").arg(file).output().unwrap();
        assert!(shown.status.success(), "{source}: {shown:?}");
        String::from_utf8(shown.stdout).unwrap()
    };
    let found = show("Package:2 [NUMA(memory=1GB)] Core:2 PU:1", "--memattrs");
    for line in [
        "NUMANode L#0 = 100 from cpuset 0x00000003",
        "NUMANode L#1 = 101 from cpuset 0x00000003",
        "NUMANode L#0 = 200 from cpuset 0x0000000c",
        "NUMANode L#1 = 52224 from cpuset 0x00000003",
    ] {
        assert!(found.contains(line), "{line}: {found}");
    }
    let found = show("Package:2 [NUMA(memory=1GB)] Core:2 PU:1", "--distances");
    for word in ["MeasuredLatency", "MeasuredBandwidth", "201", "53248"] {
        assert!(found.contains(word), "{word}: {found}");
    }
    let found = show("this", "--memattrs");
    assert!(found.contains("NUMANode L#0 = 100 from cpuset"), "{found}");
}

#[test]
fn what_the_firmware_claims_is_no_measurement() {
    let folder = tempfile::tempdir().unwrap();
    let (_, Source::File(file)) = export(&Source::of("NUMA:2 Core:1 PU:1"), folder.path()) else { unreachable!() };
    assert!(discover(&Source::File(file.clone())).unwrap().numa_distances.is_empty());
    // 2 is a user's word, and 1 the operating system's, which has it from the firmware.
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("kind=\"6\"", "kind=\"5\"")).unwrap();
    assert_eq!(discover(&Source::File(file)).unwrap().numa_distances, [[100, 101], [200, 201]]);
}

#[test]
fn what_was_not_measured_is_not_exported() {
    let source = Source::of("NUMA:2 Core:1 PU:1");
    let half = [Access { from: 0, to: 1, latency_ns: Some(130.4), bytes_per_second: None }];
    let text = export_xml(&source, &half).unwrap();
    assert!(text.contains("value=\"130\" initiator_cpuset=\"0x00000001\""), "{text}");
    assert!(!text.contains("name=\"Bandwidth\"") && !text.contains("MeasuredLatency"), "{text}");
    let odd = [f64::NAN, 0.0, -1.0, f64::INFINITY].map(|value| Access { latency_ns: Some(value), ..half[0] });
    assert_eq!(export_xml(&source, &odd).unwrap().matches("memattr").count(), 0);
    let strangers = [Access { from: 7, to: 9, latency_ns: Some(1.0), bytes_per_second: None }];
    assert_eq!(export_xml(&source, &strangers).unwrap(), export_xml(&source, &[]).unwrap());
}

#[test]
fn what_cannot_be_exported_says_why() {
    for (source, part) in [
        ("Package:4 Core:16 Group:64 PU:4", "up to 8192"),
        ("/nowhere.xml", "no such file"),
        ("pack:2 core", "synthetic"),
    ] {
        let error = export_xml(&Source::of(source), &[]).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

/// Everything that mappers and reports take from a machine.
fn described(machine: &Machine, folder: &Path) -> Machine {
    let file = folder.join("described.xml");
    std::fs::write(&file, machine_xml(machine).unwrap()).unwrap();
    let mut read = discover(&Source::File(file)).unwrap_or_else(|error| panic!("{}: {error}", machine.source));
    read.source.clone_from(&machine.source);
    read
}

/// For each strand, by its id, those of its core and of its package.
fn companions(machine: &Machine) -> BTreeMap<u32, [BTreeSet<u32>; 2]> {
    let those = |same: &dyn Fn(&Strand) -> bool| machine.strands.iter().filter(|s| same(s)).map(|s| s.os_id).collect();
    let of = |own: &Strand| [those(&|other| other.core == own.core), those(&|other| other.package == own.package)];
    machine.strands.iter().map(|own| (own.os_id, of(own))).collect()
}

/// Written by us and read back, a machine has the same strands in the same places.
#[test]
fn a_described_machine_reads_back_as_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [
        "Package:4 Core:16 Group:2 PU:4",
        "Package:2 [NUMA(memory=1GB)] L3:1 L2:4 Core:1 PU:2",
        "NUMA:3 Core:1 PU:1",
        "pu:70",
    ];
    let mut sources: Vec<Source> = texts.map(|text| Source::Synthetic(text.to_owned())).into();
    if let Ok(folder) = std::env::var("CHARZ_TOPOLOGIES") {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        sources.extend(files.filter(|path| path.extension().is_some_and(|end| end == "xml")).map(Source::File));
    }
    for source in sources {
        let Ok(machine) = discover(&source) else { continue };
        // A chain of caches or nodes that overlap is refused, in a sentence.
        if let Err(refused) = machine_xml(&machine) {
            assert!(refused.to_string().contains("overlap"), "{source}: {refused}");
            continue;
        }
        let read = described(&machine, folder.path());
        if !machine.absent.is_empty() {
            // hwloc orders parts by all of their strands, and those that are absent have no part in a description.
            assert_eq!(companions(&read), companions(&machine), "{source}");
            continue;
        }
        let places = |machine: &Machine| {
            let place = |s: &Strand| (s.os_id, s.package, s.core, s.alu, s.slot, s.kind, s.numa, s.caches.len());
            machine.strands.iter().map(place).collect::<Vec<_>>()
        };
        assert_eq!(places(&read), places(&machine), "{source}");
        assert_eq!((&read.caches, read.alu), (&machine.caches, machine.alu), "{source}");
    }
}

#[test]
fn a_described_machine_allows_what_its_process_may_use() {
    let folder = tempfile::tempdir().unwrap();
    let mut machine = discover(&Source::of("Package:2 [NUMA(memory=1GB)] Core:2 PU:1")).unwrap();
    for usable in [&[1, 2, 3][..], &[3]] {
        machine.strands.iter_mut().for_each(|strand| strand.usable = usable.contains(&strand.os_id));
        machine.numa_nodes[0].usable = usable.len() > 1;
        let read = described(&machine, folder.path());
        assert_eq!((read.strands, read.numa_nodes), (machine.strands.clone(), machine.numa_nodes.clone()));
    }
}

/// Groups of one strand, and of a whole core, are no objects of hwloc, and are still read.
#[test]
fn measured_groups_are_read_however_small_they_are() {
    let folder = tempfile::tempdir().unwrap();
    for (width, text) in
        [(1, "Core:2 PU:2"), (2, "Core:2 PU:2"), (1, "Core:3 PU:1"), (4, "Core:2 PU:8"), (1, "Core:2 PU:4")]
    {
        let mut machine = discover(&Source::Synthetic(text.to_owned())).unwrap();
        machine.alu = AluSource::Measured;
        machine.strands.iter_mut().for_each(|strand| {
            (strand.alu, strand.slot) = (strand.strand_in_core / width, strand.strand_in_core % width);
        });
        machine.doubts = vec!["strand 1 <is> & \"was\"".to_owned(), "another".to_owned()];
        let read = described(&machine, folder.path());
        assert_eq!(
            (read.alu, &read.strands, &read.doubts),
            (AluSource::Measured, &machine.strands, &machine.doubts),
            "{text}"
        );
    }
}

#[test]
fn parts_that_overlap_are_refused() {
    let mut machine = discover(&Source::Synthetic("Package:2 Core:2 PU:1".to_owned())).unwrap();
    machine.strands[1].package = Some(1);
    machine.strands[2].package = Some(0);
    machine.strands[1].core = Some(2);
    assert!(machine_xml(&machine).is_err_and(|error| error.to_string().contains("overlap")));
}
