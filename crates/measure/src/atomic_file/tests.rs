use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn names(folder: &Path) -> Vec<OsString> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

/// The ways to write a file, and whether each replaces another.
type Way = fn(&Path, &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()>;
const WAYS: [(Way, bool); 3] = [
    (|path, fill| replace(path, fill), true),
    (|path, fill| replace_private(path, fill), true),
    (|path, fill| create(path, fill), false),
];

#[test]
fn the_old_file_or_the_new_one_and_nothing_else() {
    for (write, replaces) in WAYS {
        for exists in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("r.json");
            if exists {
                fs::write(&path, "old").unwrap();
            }
            let before = names(folder.path());
            // More than a buffer holds, and then an error.
            let failed = write(&path, &mut |out| out.write_all(&[7; 100_000]).and(Err(io::Error::other("no more"))));
            assert_eq!(failed.unwrap_err().to_string(), "no more");
            assert_eq!(names(folder.path()), before);
            assert!(!exists || fs::read(&path).unwrap() == b"old");

            let done = write(&path, &mut |out| out.write_all(b"new"));
            let expected = if exists && !replaces { Err(io::ErrorKind::AlreadyExists) } else { Ok(()) };
            assert_eq!(done.map_err(|error| error.kind()), expected);
            assert_eq!(fs::read(&path).unwrap(), if expected.is_ok() { b"new" } else { b"old" });
            assert_eq!(names(folder.path()), ["r.json"]);
        }
    }
}

#[test]
fn links_are_replaced_or_kept_but_never_followed() {
    for (write, replaces) in WAYS {
        let folder = tempfile::tempdir().unwrap();
        let (victim, link) = (folder.path().join("victim"), folder.path().join("link"));
        fs::write(&victim, "mine").unwrap();
        symlink(&victim, &link).unwrap();
        assert_eq!(write(&link, &mut |out| out.write_all(b"new")).is_ok(), replaces);
        assert_eq!(fs::read(&victim).unwrap(), b"mine");
        assert_eq!(fs::symlink_metadata(&link).unwrap().is_symlink(), !replaces);
        assert_eq!(names(folder.path()), ["link", "victim"]);
    }
}

#[test]
fn a_new_file_has_the_usual_mode_or_is_its_owners() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name| folder.path().join(name);
    fs::write(path("usual"), "").unwrap();
    let mode = |name| fs::metadata(path(name)).unwrap().permissions().mode() & 0o777;
    create(&path("public"), |_| Ok(())).unwrap();
    replace_private(&path("private"), |_| Ok(())).unwrap();
    assert_eq!((mode("public"), mode("private")), (mode("usual"), 0o600));
}

#[test]
fn a_file_is_the_same_by_any_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name| folder.path().join(name);
    fs::write(path("one"), "").unwrap();
    fs::write(path("other"), "").unwrap();
    fs::hard_link(path("one"), path("hard")).unwrap();
    symlink(path("one"), path("soft")).unwrap();
    for (name, same) in
        [("one", true), ("./one", true), ("hard", true), ("soft", true), ("other", false), ("no", false)]
    {
        assert_eq!(same_file(&path("one"), &path(name)), same, "{name}");
    }
}

#[test]
fn a_folder_that_cannot_be_put_on_a_disk_is_no_error() {
    sync_folder(Path::new("/proc/file")).unwrap();
    assert!(sync_folder(Path::new("/nowhere/at/all/file")).is_err());
}
