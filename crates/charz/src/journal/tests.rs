//! What a journal promises, against disks that fail and files that are damaged.

mod damage;
mod faults;

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::*;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Plan {
    kernels: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Cell {
    name: String,
    rate: f64,
}

fn plan() -> Plan {
    Plan { kernels: vec!["arith-int".into(), "mem-read".into()] }
}

fn cell(index: usize) -> Cell {
    Cell { name: format!("cell {index} of \"all\"\n"), rate: 1.0 / (index as f64 + 3.0) }
}

fn cells(count: usize) -> Vec<Cell> {
    (0..count).map(cell).collect()
}

fn file(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("j.jsonl")
}

/// A journal of `count` cells.
fn written(path: &Path, count: usize) {
    let mut journal = Journal::create(path, &plan()).unwrap();
    cells(count).iter().for_each(|cell| journal.append(cell).unwrap());
}

#[track_caller]
fn read(path: &Path) -> Recovered<Plan, Cell> {
    let recovered = recover(path).unwrap();
    assert_eq!(recovered.header, plan());
    recovered
}

#[track_caller]
fn refuses(result: Result<impl Sized, JournalError>, part: &str) {
    let error = result.err().expect("it was accepted").to_string();
    assert!(error.contains(part), "{error}");
}

#[test]
fn what_is_appended_is_recovered() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    for count in [0, 1, 20] {
        written(&path, count);
        let recovered = read(&path);
        assert_eq!(recovered.records, cells(count));
        assert_eq!((recovered.dropped, recovered.unnamed, recovered.missing), (vec![], 0, vec![]));
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn only_its_owner_reads_a_journal() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    written(&file(&folder), 1);
    assert_eq!(fs::metadata(file(&folder)).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn nothing_is_created_where_something_stands() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let exists = |path: &Path| Journal::create(path, &plan()).unwrap_err().kind();
    fs::write(&path, "mine").unwrap();
    assert_eq!(exists(&path), Some(io::ErrorKind::AlreadyExists));
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    let (link, target) = (folder.path().join("link"), folder.path().join("target"));
    std::os::unix::fs::symlink(&target, &link).unwrap();
    assert_eq!(exists(&link), Some(io::ErrorKind::AlreadyExists));
    assert!(!target.exists(), "a link was followed");
}

#[test]
fn a_journal_goes_on_where_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    written(&path, 2);
    let before = fs::read(&path).unwrap();
    let (mut journal, recovered) = Journal::reopen::<Plan, Cell>(&path).unwrap();
    assert_eq!(recovered.records, cells(2));
    assert_eq!(fs::read(&path).unwrap(), before, "opening writes nothing");
    journal.append(&cell(2)).unwrap();
    drop(journal);
    assert_eq!(read(&path).records, cells(3));
    assert!(fs::read(&path).unwrap().starts_with(&before));
}

#[test]
fn links_are_read_through() {
    let folder = tempfile::tempdir().unwrap();
    written(&file(&folder), 2);
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(file(&folder), &link).unwrap();
    assert_eq!(read(&link).records, cells(2));
    assert!(is_journal(&link));
}

#[test]
fn two_do_not_write_to_one_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let journal = Journal::create(&path, &plan()).unwrap();
    refuses(Journal::reopen::<Plan, Cell>(&path), "another charz");
    assert_eq!(read(&path).records, [], "reading is no writing");
    drop(journal);
    assert!(Journal::reopen::<Plan, Cell>(&path).is_ok());
}

#[test]
fn what_could_not_be_read_again_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let mut journal = Journal::create(&path, &plan()).unwrap();
    refuses(journal.append(&Cell { rate: f64::NAN, ..cell(0) }), "not written");
    refuses(checked::<Cell>(Ok(vec![b' '; MAX_LINE_BYTES + 1]), |line| Some(line)), "longer");
    journal.append(&cell(0)).unwrap();
    assert_eq!(read(&path).records, cells(1));
}

#[test]
fn no_regular_file_no_journal() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    for path in [folder.path(), &pipe, Path::new("/dev/zero"), &folder.path().join("absent")] {
        refuses(recover::<Plan, Cell>(path), "cannot read");
        refuses(Journal::reopen::<Plan, Cell>(path), "cannot open");
        assert!(!is_journal(path));
    }
}

#[test]
fn sizes_are_looked_at_before_they_are_read() {
    let folder = tempfile::tempdir().unwrap();
    written(&file(&folder), 1);
    OpenOptions::new().write(true).open(file(&folder)).unwrap().set_len(MAX_FILE_BYTES + 1).unwrap();
    refuses(recover::<Plan, Cell>(&file(&folder)), "at most");
    assert!(is_journal(&file(&folder)), "the first bytes tell");
}

#[test]
fn room_is_taken_and_given_back() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    let blocks = || fs::metadata(&path).unwrap().blocks() * 512;
    let mut journal = Journal::create(&path, &plan()).unwrap();
    let before = (blocks(), fs::metadata(&path).unwrap().len());
    if journal.reserve(1 << 20).unwrap() == Room::Unknown {
        return;
    }
    assert!(blocks() >= 1 << 20, "{}", blocks());
    assert_eq!(journal.reserve(1 << 10).unwrap(), Room::Taken, "it is there already");
    assert_eq!(fs::metadata(&path).unwrap().len(), before.1);
    refuses(journal.reserve(MAX_FILE_BYTES), "more than");
    drop(journal);
    assert_eq!((blocks(), fs::metadata(&path).unwrap().len()), before);
}
