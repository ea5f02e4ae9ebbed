//! Programs that bring a mapper or a kernel of their own are charz with one more.

use std::path::Path;

use crate::support::{Ran, program, read_json};

/// Runs one of the examples of `crates/charz`, which `cargo test` builds.
#[track_caller]
fn example(name: &str, args: &[&str]) -> String {
    let file = Path::new(env!("CARGO_BIN_EXE_charz")).with_file_name("examples").join(name);
    let ran: Ran = program(&file).args(args).output().expect("it is built").into();
    ran.check_swept();
    ran.out
}

#[test]
fn a_mapper_from_outside_places_threads() {
    let args = ["map", "--mapping", "backwards", "--threads", "3", "--topology", "Core:2 PU:2", "--format", "json"];
    let json: serde_json::Value = serde_json::from_str(&example("added_mapper", &args)).unwrap();
    assert_eq!(json["seats"], serde_json::json!([3, 2, 1]));
    assert!(example("added_mapper", &["map", "--help"]).contains("backwards"), "help lists it");
}

#[test]
fn a_kernel_from_outside_is_swept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let path = Path::to_str(&file).unwrap();
    let args = "sweep --kernel lcg --mapping dumb --threads 1 --steps 200000 --iterations 2 --runs 2 --output";
    example("added_kernel", &args.split(' ').chain([path]).collect::<Vec<_>>());
    let report = read_json(&file);
    let cell = &report["cells"][0];
    assert_eq!(cell["kernel"], "lcg");
    // A busy machine may cost the number its status, but not the verified answer.
    assert_eq!(cell["runs"][0]["ending"], "done", "{cell}");
    assert!(example("added_kernel", &["kernels"]).contains("lcg"), "the catalog lists it");
}
