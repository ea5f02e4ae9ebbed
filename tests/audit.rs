//! `charz audit`: shapes and refusals; what it concludes is tested on models of machines.

use std::collections::HashSet;

use charz_topology::{AluSource, Source, discover};

use crate::support::charz;

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
