//! Every call fails once, in every way; and what else may stand where a temporary file is to be.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::SystemTime;

use rustix::io::Errno;

use super::*;
use crate::disk::faulty::{ERRORS, Fault, Faulty};
use crate::disk::link_new;

const OLD: &[u8] = b"the old file";

/// More than a buffer holds, so that it takes several writes.
fn new() -> Vec<u8> {
    (0..5_000_u32).flat_map(u32::to_le_bytes).collect()
}

fn fill(writer: &mut dyn Write) -> io::Result<()> {
    new().chunks(5000).try_for_each(|chunk| writer.write_all(chunk))
}

fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

fn state(path: &Path) -> Option<(Vec<u8>, SystemTime, u64)> {
    let metadata = fs::metadata(path).ok()?;
    Some((fs::read(path).unwrap(), metadata.modified().unwrap(), metadata.ino()))
}

/// The law for one fault in taking room and writing; whether it happened.
#[track_caller]
fn check(place: Place, old: bool, at: usize, fault: Fault) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    if old {
        fs::write(&path, OLD).unwrap();
    }
    let before = state(&path);
    let disk = Faulty::new(at, fault);
    let done = reserve_on(&&disk, &path, 1000).and_then(|()| put(&&disk, &path, place, fill));
    let what = format!("{fault:?} at call {at}, {:?}: {done:?}", disk.failed_call());
    let after = state(&path);
    let replaced = after.as_ref().is_some_and(|(bytes, ..)| *bytes == new());
    match done {
        Ok(()) => assert!(replaced, "{what}"),
        // The last call: the new file is there, and may be gone after a power cut.
        Err(_) if disk.calls().last() == Some(&"sync_folder") => assert!(replaced, "{what}"),
        Err(_) => assert_eq!(after, before, "{what}"),
    }
    if matches!(fault, Fault::Once(_) | Fault::Short) && disk.failed_call() != Some("remove") {
        let left = names(folder.path());
        assert!(left.len() <= 1, "{left:?} after {what}");
    }
    disk.happened()
}

#[test]
fn whatever_fails_the_old_file_or_the_new_one() {
    let of_each = ERRORS.into_iter().flat_map(|errno| [Fault::Once(errno), Fault::Forever(errno), Fault::Torn(errno)]);
    let faults: Vec<Fault> = of_each.chain([Fault::Short, Fault::Once(Errno::OPNOTSUPP)]).collect();
    for (place, old) in [(Place::Over, true), (Place::Over, false), (Place::New, false), (Place::New, true)] {
        for fault in &faults {
            let calls = (0..).take_while(|at| check(place, old, *at, *fault)).count();
            assert!(calls >= 6, "{fault:?} was tried at {calls} calls only");
        }
    }
}

#[test]
fn the_name_comes_after_the_bytes_and_before_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    for (place, renamed) in [(Place::New, "rename_new"), (Place::Over, "rename")] {
        let disk = Faulty::new(usize::MAX, Fault::Short);
        put(&&disk, &path, place, fill).unwrap();
        assert!(disk.calls().ends_with(&["sync", renamed, "sync_folder"]), "{:?}", disk.calls());
    }
}

#[test]
fn a_fill_that_fails_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    fs::write(&path, OLD).unwrap();
    let before = state(&path);
    let failed = replace(&path, |writer| writer.write_all(b"half").and(Err(io::Error::other("no more"))));
    assert_eq!(failed.unwrap_err().to_string(), "no more");
    assert_eq!((state(&path), names(folder.path())), (before, vec!["r.json".into()]));
}

#[test]
fn a_new_file_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    create(&path, fill).unwrap();
    let before = state(&path);
    assert_eq!(create(&path, |_| Ok(())).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    let link = folder.path().join("link");
    symlink("nowhere", &link).unwrap();
    assert_eq!(create(&link, fill).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(state(&path), before);
    assert_eq!(names(folder.path()), ["link", "r.json"]);
}

#[test]
fn links_stand_in_for_renaming() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::write(&from, OLD).unwrap();
    link_new(&from, &to).unwrap();
    assert_eq!(fs::read(&to).unwrap(), OLD);
    assert_eq!(names(folder.path()), ["to"]);
    fs::write(&from, "new").unwrap();
    assert_eq!(link_new(&from, &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&to).unwrap(), OLD);
}

#[test]
fn the_mode_is_that_of_any_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let (path, usual) = (folder.path().join("r.json"), folder.path().join("usual"));
    fs::write(&usual, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    reserve(&path, 10).unwrap();
    assert_eq!(mode(&temporary_name(&path)) & 0o777, 0o600);
    replace(&path, fill).unwrap();
    assert_eq!(mode(&path), mode(&usual));
}

#[test]
fn room_is_taken_used_and_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    for fault in [Fault::Short, Fault::Once(Errno::OPNOTSUPP)] {
        let disk = Faulty::new(1, fault);
        reserve_on(&&disk, &path, 1 << 20).unwrap();
        let taken = fs::metadata(temporary_name(&path)).unwrap();
        assert!(taken.blocks() * 512 >= 1 << 20, "{fault:?}");
        replace(&path, fill).unwrap();
        let written = fs::metadata(&path).unwrap();
        assert_eq!((written.ino(), written.len()), (taken.ino(), new().len() as u64), "it was used");
        assert!(written.blocks() * 512 < 1 << 20, "what was not needed is given back");
        reserve(&path, 10).unwrap();
        release(&path);
        assert_eq!(names(folder.path()), ["r.json"]);
    }
}

#[test]
fn what_is_not_ours_is_not_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("r.json"), folder.path().join("other"));
    fs::write(&other, OLD).unwrap();
    let temporary = temporary_name(&path);
    let traps: [fn(&Path, &Path) -> io::Result<()>; 3] =
        [|other, at| symlink(other, at), |other, at| fs::hard_link(other, at), |_, at| fs::create_dir(at)];
    for trap in traps {
        trap(&other, &temporary).unwrap();
        let error = open_temporary(&System, &temporary).unwrap_err().to_string();
        assert!(error.contains("in the way"), "{error}");
        assert_eq!(fs::read(&other).unwrap(), OLD);
        let _ = fs::remove_file(&temporary).or_else(|_| fs::remove_dir(&temporary));
    }
}
