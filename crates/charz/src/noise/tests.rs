use std::os::unix::fs::PermissionsExt;

use super::*;
use charz_data::report::{Unit, fixtures};

fn subject(kernel: &str) -> Subject {
    Subject {
        host: Some("h".into()),
        processor: None,
        kernels: "0123456789abcdef".into(),
        kernel: kernel.into(),
        workers: 1,
        parameters: "size 65536".into(),
        quantity: Quantity::Capacity,
    }
}

fn floor(kernel: &str, floor: f64) -> Floor {
    Floor { subject: subject(kernel), floor, comparisons: 20, learned: "2026-01-31T12:00:00Z".into() }
}

#[test]
fn the_last_floor_is_read_again_for_its_own_subject_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state/charz/noise.json");
    let mut floors = Floors::read(&file).unwrap();
    assert_eq!(floors.of(&subject("arith-int")), None);
    floors.learn(floor("arith-int", 0.03));
    floors.learn(floor("mem-read", 0.08));
    floors.learn(floor("arith-int", 0.01));
    floors.save(&file).unwrap();
    let read = Floors::read(&file).unwrap();
    assert_eq!((read.of(&subject("arith-int")), read.of(&subject("mem-read"))), (Some(0.01), Some(0.08)));
    let other = Subject { kernels: "fedcba9876543210".into(), ..subject("arith-int") };
    assert_eq!(read.of(&other), None, "another build of the kernels");
    let larger = Subject { parameters: "size 1048576".into(), ..subject("mem-read") };
    assert_eq!(read.of(&larger), None, "a block of another size");
    let delivered = Subject { quantity: Quantity::Delivered, ..subject("arith-int") };
    assert_eq!(read.of(&delivered), None, "another quantity");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn each_cell_of_a_comparison_has_its_own_floor() {
    let cell = |kernel: &str| fixtures::cell(kernel, 1, Unit::OpsPerSecond, 1e9);
    let report = fixtures::report(vec![cell("arith-int"), cell("mem-read")]);
    let mut floors = Floors::default();
    let subject = Subject::of(&report, &report.cells[1], Quantity::Capacity);
    floors.learn(Floor { subject, ..floor("mem-read", 0.4) });
    let found = floors.of_cells([&report; 2], Quantity::Capacity);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [(("mem-read".to_owned(), report.cells[1].point, 1), 0.4)]);
}

#[test]
fn entries_that_make_no_sense_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("noise.json");
    let mut floors = Floors(vec![floor("a", -0.5), floor("b", 2.0), floor("c", 0.02)]);
    floors.0.push(Floor { comparisons: 0, ..floor("d", 0.02) });
    floors.save(&file).unwrap();
    let text = fs::read_to_string(&file).unwrap().replacen("\"floors\": [", "\"floors\": [7, {\"floor\": \"x\"},", 1);
    fs::write(&file, text).unwrap();
    assert_eq!(Floors::read(&file).unwrap(), Floors(vec![floor("c", 0.02)]));
}

#[track_caller]
fn check_refused(content: &[u8], word: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("noise.json");
    fs::write(&file, content).unwrap();
    let refusal = Floors::read(&file).unwrap_err();
    assert!(refusal.contains(word), "{refusal}");
}

#[test]
fn other_files_are_refused() {
    check_refused(b"", "not a file of noise floors");
    check_refused(b"null", "not a file of noise floors");
    check_refused(b"{\"schema\":{\"name\":\"charz-report\",\"major\":1},\"floors\":[]}", "not a file");
    check_refused(b"{\"schema\":{\"name\":\"charz-noise\",\"major\":2},\"floors\":[]}", "not a file");
    check_refused(&[0xff; 100], "not a file of noise floors");
    check_refused("[".repeat(100_000).as_bytes(), "not a file of noise floors");
    check_refused(&vec![b' '; 1 + (1 << 20)], "more than");
    assert!(Floors::read(Path::new("/")).unwrap_err().contains("regular file"));
    assert!(Floors::read(Path::new("/dev/zero")).unwrap_err().contains("regular file"));
}

#[test]
fn the_file_grows_no_further_than_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("noise.json");
    let mut floors = Floors::default();
    (0..MOST_FLOORS + 3).for_each(|number| floors.learn(floor(&format!("kernel-{number}"), 0.02)));
    floors.save(&file).unwrap();
    let read = Floors::read(&file).unwrap();
    assert_eq!((read.of(&subject("kernel-2")), read.of(&subject("kernel-3"))), (None, Some(0.02)));
}

#[test]
fn a_user_has_a_folder_for_each_kind_of_file() {
    let file = |state: &str, home: &str| {
        let value = |name: &str| Some(if name == "HOME" { home } else { state }.into());
        user_file("XDG_STATE_HOME", ".local/state", "charz/x", value)
    };
    assert_eq!(file("/s", "/h"), Some("/s/charz/x".into()));
    assert_eq!(file("relative", "/h"), Some("/h/.local/state/charz/x".into()));
    assert_eq!(file("", ""), None);
}
