//! The lock within one process; that of another is held in `tests/faults/signals.rs`.

use std::os::unix::fs::symlink;

use super::*;

fn take_in(folders: &[(&Path, bool)], patience: Duration) -> Result<MachineLock, LockError> {
    let folders: Vec<_> = folders.iter().map(|(folder, is_shared)| (folder.to_path_buf(), *is_shared)).collect();
    MachineLock::acquire_in(&folders, patience, &|_| {}, &|| false)
}

fn take(folder: &Path, patience: Duration) -> Result<MachineLock, LockError> {
    take_in(&[(folder, true)], patience)
}

#[test]
fn a_holder_is_named_and_a_wait_ends_when_it_is_cancelled_or_patience_does() {
    let folder = tempfile::tempdir().unwrap();
    let _lock = take(folder.path(), Duration::ZERO).unwrap();
    let refused = take(folder.path(), Duration::from_millis(1));
    let Err(LockError::Busy { holder, .. }) = refused else { panic!("{refused:?}") };
    assert!(holder.ends_with(&format!("(process id {})", std::process::id())), "{holder}");
    let looks = Cell::new(0);
    let cancelled = || looks.replace(looks.get() + 1) == 2;
    let told = std::cell::RefCell::new(Vec::new());
    let waits = |holder: &str| told.borrow_mut().push(holder.to_owned());
    let refused = MachineLock::acquire_in(&[(folder.path().into(), true)], Duration::MAX, &waits, &cancelled);
    assert!(matches!(refused, Err(LockError::Cancelled)), "{refused:?}");
    assert_eq!((looks.get(), told.into_inner()), (3, vec![holder]));
}

/// Links, pipes, folders: refused without a trace, and the next folder serves.
#[test]
fn what_others_planted_is_not_locked() {
    type Trap = fn(&Path, &Path) -> io::Result<()>;
    let traps: [(&str, Trap); 5] = [
        ("link", |victim, path| symlink(victim, path)),
        ("dangling link", |_, path| symlink("nowhere", path)),
        ("hard link", |victim, path| fs::hard_link(victim, path)),
        ("folder", |_, path| fs::create_dir(path)),
        ("pipe", |_, path| {
            Ok(rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o600.into(), 0)?)
        }),
    ];
    for (trap, set) in traps {
        let folder = tempfile::tempdir().unwrap();
        let (path, victim) = (folder.path().join(NAME), folder.path().join("victim"));
        fs::write(&victim, "mine").unwrap();
        set(&victim, &path).unwrap();
        let refused = take(folder.path(), Duration::ZERO);
        assert!(matches!(refused, Err(LockError::Impossible { .. })), "{trap}: {refused:?}");
        assert_eq!(fs::read(&victim).unwrap(), b"mine", "{trap}");
        assert!(!folder.path().join("nowhere").exists(), "{trap}: a link was followed");
        let other = tempfile::tempdir().unwrap();
        take_in(&[(folder.path(), true), (other.path(), true)], Duration::ZERO).unwrap();
    }
}

#[test]
fn a_foreign_file_is_locked_and_never_written() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(NAME), "theirs").unwrap();
    drop(take(folder.path(), Duration::ZERO).unwrap());
    assert_eq!(fs::read(folder.path().join(NAME)).unwrap(), b"theirs");
}

#[test]
fn a_file_that_was_removed_locks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    let lock = take(folder.path(), Duration::ZERO).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(!is_at(&lock.files[0], &path));
    fs::write(&path, "").unwrap();
    assert!(!is_at(&lock.files[0], &path), "a file of the same name is another one");
}

#[test]
fn every_user_may_take_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let lock = take(folder.path(), Duration::ZERO).unwrap();
    assert_eq!(lock.files[0].metadata().unwrap().permissions().mode() & 0o777, 0o444);
}

/// A child that outlives its killed parent would hold the lock otherwise.
#[test]
fn programs_that_are_started_do_not_inherit_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let lock = take(folder.path(), Duration::ZERO).unwrap();
    assert!(rustix::io::fcntl_getfd(&lock.files[0]).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
}

/// As root, who may use `/run/lock`, and a user, who may not.
#[test]
fn whoever_can_use_one_of_the_shared_folders_meets_the_others_there() {
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [first, second, own] = folders.each_ref().map(tempfile::TempDir::path);
    let missing = &first.join("missing");
    let lock = take_in(&[(first, true), (second, true), (own, false)], Duration::ZERO).unwrap();
    assert_eq!((lock.files.len(), lock.unshared()), (2, None), "none of its own where all users meet");
    for others in [[(first, true), (missing, true)], [(missing, true), (second, true)]] {
        assert!(matches!(take_in(&others, Duration::ZERO), Err(LockError::Busy { .. })), "{others:?}");
    }
    drop(lock);
    let lock = take_in(&[(missing, true), (missing, false), (own, false), (second, false)], Duration::ZERO).unwrap();
    assert_eq!((lock.files.len(), lock.unshared()), (1, Some(&*own.join(NAME))));
    // A folder with two names.
    let link = &own.join("link");
    symlink(first, link).unwrap();
    assert_eq!(take_in(&[(first, true), (link, true)], Duration::ZERO).unwrap().files.len(), 1);
}

#[test]
fn folders_in_their_order() {
    let folders = |set: &[(&str, &str)]| {
        let find = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
        folders(find)
    };
    let temporary = std::env::temp_dir();
    assert_eq!(folders(&[("CHARZ_LOCK_DIR", "/a"), ("XDG_RUNTIME_DIR", "/b")]), [(PathBuf::from("/a"), true)]);
    let shared = [("/run/lock".into(), true), ("/tmp".into(), true)];
    let usual =
        |own: &[PathBuf]| [&shared[..], &own.iter().map(|own| (own.clone(), false)).collect::<Vec<_>>()].concat();
    let variables = [("CHARZ_LOCK_DIR", ""), ("XDG_RUNTIME_DIR", "/b")];
    assert_eq!(folders(&variables), usual(&["/b".into(), temporary.clone()]));
    assert_eq!(folders(&[("XDG_RUNTIME_DIR", "relative")]), usual(&[temporary]));
}
