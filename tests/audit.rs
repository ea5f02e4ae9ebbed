//! `charz audit`: shapes and refusals; what it concludes is tested on models of machines.

use std::collections::HashSet;
use std::fs::File;

use charz_topology::{AluSource, Source, discover};

use crate::support::{charz, run};

#[test]
fn an_audit_ends_in_time_and_every_relation_has_a_verdict_and_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("measured\u{1b}[2J.xml");
    let ran =
        charz().args(["audit", "--json", "--budget", "4s", "--seed", "1", "--write"]).arg(&file).output().unwrap();
    assert!(matches!(ran.status.code(), Some(0 | 1)), "{ran:?}");
    assert!(!ran.stderr.contains(&0x1b), "the name of a file steers the terminal: {ran:?}");
    let found: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let relations = found["relations"].as_array().unwrap();
    let kinds: HashSet<&str> = relations.iter().map(|relation| relation["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains("clock") && kinds.contains("tsc"), "{kinds:?}");
    for relation in relations {
        let evidence = &relation["evidence"];
        match relation["verdict"].as_str().unwrap() {
            "inconclusive" => assert!(evidence["measured"].is_null() && evidence["reason"].is_string(), "{relation}"),
            "confirmed" => assert!(evidence["measured"].is_boolean(), "{relation}"),
            "contradicted" => assert_ne!(evidence["measured"], evidence["claimed"], "{relation}"),
            other => panic!("{other}"),
        }
    }
    // Measured or not, the machine is still all of its strands.
    let [written, this] = [Source::File(file.clone()), Source::ThisMachine].map(|source| discover(&source).unwrap());
    let ids = |machine: &charz_topology::Machine| machine.strands.iter().map(|s| s.os_id).collect::<HashSet<_>>();
    assert_eq!(ids(&written), ids(&this));
    assert_eq!(found["alu"].as_str().unwrap().starts_with("measured"), written.alu == AluSource::Measured);
}

#[test]
fn the_page_of_an_audit_has_its_verdict_and_every_relation() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.html");
    let ran = charz().args(["audit", "--budget", "1s", "--format", "html", "--output"]).arg(&file).output().unwrap();
    assert!(matches!(ran.status.code(), Some(0 | 1)) && ran.stdout.is_empty(), "{ran:?}");
    let page = std::fs::read_to_string(&file).unwrap();
    for words in ["<strong>Linux's topology is", "clock", "time-stamp counters", "class=\"nest\""] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("id=\"quality\"") && !page.contains("href=\"#environment\""), "there is no report");
    // What cannot be printed is kept.
    let (written, full) = (folder.path().join("a.xml"), File::options().write(true).open("/dev/full").unwrap());
    let mut audit = charz();
    audit.args(["audit", "--budget", "1s", "--format", "html", "--write"]).arg(&written).stdout(full);
    assert!(audit.status().unwrap().code() == Some(3) && written.exists());
}

#[test]
fn what_cannot_be_audited_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kept.xml");
    std::fs::write(&file, "kept").unwrap();
    let file = file.to_str().unwrap();
    let long = format!("{}/{}", folder.path().display(), "a".repeat(300));
    for (arguments, word) in [
        (vec!["--write", file], "--force"),
        (vec!["--write", "/no such folder/a.xml"], "folder"),
        (vec!["--write", long.as_str()], "--write"),
        (vec!["--force", "--write", folder.path().to_str().unwrap()], "is a folder"),
        (vec!["--budget", "0s"], "--budget"),
        (vec!["--budget", "soon"], "--budget"),
        (vec!["--seed", "x"], "--seed"),
        (vec!["--format", "xml"], "--format"),
        (vec!["--force"], "--write"),
        (vec!["--format", "html", "-o", "/no such folder/a.html"], "--output"),
    ] {
        let refused = run([&["audit"][..], &arguments].concat());
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(refused.err.lines().count() == 1 && refused.err.contains(word), "{}", refused.err);
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), "kept");
}
