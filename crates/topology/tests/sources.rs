//! Topology sources: this machine, and everything that is no topology.
#![allow(clippy::print_stderr, reason = "a skipped test must say so")]

use std::fs;
use std::path::Path;
use std::process::Command;

use charz_topology::{Source, discover, hwloc_version};
use proptest::prelude::*;

/// The sentence with which a file is refused; it must be one line.
#[track_caller]
fn refused(path: &Path) -> String {
    let sentence = discover(&Source::File(path.to_owned())).expect_err("this is no topology").to_string();
    assert!(!sentence.contains(['\n', '\u{1b}']) && sentence.len() < 600, "{sentence:?}");
    sentence
}

#[test]
fn files_that_are_no_topology_are_refused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let noise: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for (name, bytes, part) in [("noise", &noise[..], "not UTF-8"), ("\u{1b}[2J", b"", "\\u{1b}")] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let sentence = refused(&path);
        assert!(sentence.contains(part), "{sentence:?} does not say {part:?}");
    }
}

#[test]
fn a_machine_that_was_cut_off_anywhere_is_refused() {
    let Some(folder) = std::env::var_os("CHARZ_TOPOLOGIES") else {
        eprintln!("skipped: CHARZ_TOPOLOGIES does not name a folder of hwloc XML files");
        return;
    };
    let text = fs::read_to_string(Path::new(&folder).join("fakecpukinds.xml")).unwrap();
    let path = tempfile::NamedTempFile::new().unwrap();
    for end in (0..text.trim_end().len()).step_by(7) {
        fs::write(path.path(), &text[..end]).unwrap();
        refused(path.path());
    }
}

#[test]
fn this_machine_says_what_may_be_used() {
    let machine = discover(&Source::ThisMachine).unwrap();
    assert_eq!(machine.usable.strands as usize, machine.usable_strands().count());
    assert!(machine.usable.strands > 0 && machine.usable.affinity.is_some() && machine.usable.cpuset.is_some());
    assert!(machine.usable.quota_cpus.is_none_or(|cpus| cpus > 0.0));
    let version = hwloc_version();
    assert!(version.split('.').count() >= 2 && version.starts_with('2'), "{version}");
}

/// Runs one test of this binary again with a variable in its environment; true if it passes.
fn again(test: &str, name: &str, value: &str) -> bool {
    let this = std::env::current_exe().unwrap();
    Command::new(this).args(["--exact", test]).env(name, value).output().unwrap().status.success()
}

#[test]
fn an_environment_that_describes_another_machine_is_noticed() {
    let inner = "an_environment_that_describes_another_machine_is_noticed";
    if std::env::var_os("HWLOC_SYNTHETIC").is_some() {
        let sentence = discover(&Source::ThisMachine).expect_err("the environment lies").to_string();
        assert!(sentence.contains("unset HWLOC_XMLFILE"), "{sentence}");
        let binder = charz_topology::Binder::new(charz_topology::Backend::Hwloc);
        assert!(binder.place_memory(&[0]).is_err());
        // What is asked for by name is not affected.
        let strand = binder.read_back().unwrap().allowed[0];
        binder.seat(strand).unwrap();
        assert!(binder.read_back().unwrap().is_only(strand));
        assert_eq!(discover(&Source::Synthetic("pu:3".to_owned())).unwrap().strands.len(), 3);
    } else {
        assert!(again(inner, "HWLOC_SYNTHETIC", "pack:2 core:2 pu:2"));
    }
}

#[test]
fn nobody_is_seated_on_a_machine_that_the_environment_calls_another() {
    let inner = "nobody_is_seated_on_a_machine_that_the_environment_calls_another";
    if std::env::var_os("HWLOC_THISSYSTEM").is_some() {
        let sentence = charz_topology::Binder::new(charz_topology::Backend::Hwloc).seat(0).unwrap_err().to_string();
        assert!(sentence.contains("HWLOC_THISSYSTEM"), "{sentence}");
    } else {
        assert!(again(inner, "HWLOC_THISSYSTEM", "0"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// What passes the check never harms hwloc, and has as many strands as its counts multiply to.
    #[test]
    fn synthetic_levels_multiply(levels in prop::collection::vec((0..14usize, 1..4usize), 0..7), strands in 1..4usize) {
        let names = [
            "Package", "NUMA", "Core", "Group", "Die", "L1d", "L2", "L3", "L1i", "PU", "[NUMA]", "Machine", "L4", "L2i",
        ];
        let words = levels.iter().map(|(name, count)| match names[*name] {
            memory @ "[NUMA]" => memory.to_owned(),
            name => format!("{name}:{count}"),
        });
        let text = words.chain([format!("PU:{strands}")]).collect::<Vec<_>>().join(" ");
        if let Ok(machine) = discover(&Source::Synthetic(text)) {
            let counts = levels.iter().filter(|(name, _)| names[*name] != "[NUMA]").map(|(_, count)| count);
            prop_assert_eq!(machine.strands.len(), counts.product::<usize>() * strands);
            prop_assert!(machine.strands.iter().all(|strand| strand.usable));
        }
    }

    #[test]
    fn any_text_is_refused_or_loaded(text in "[a-z0-9:\\[\\](),=* ]{0,40}") {
        let _ = discover(&Source::Synthetic(text));
    }
}
