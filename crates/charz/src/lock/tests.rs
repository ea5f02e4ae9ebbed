//! Two processes: the test binary runs itself again as the other one.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};

use super::*;

const FOLDER: &str = "CHARZ_TEST_LOCK_FOLDER";

fn take(folder: &Path, patience: Duration) -> Result<MachineLock, LockError> {
    MachineLock::acquire_in(&[folder.to_owned()], patience, &|| false)
}

/// A process that holds the lock, with a child of its own.
struct Other {
    process: Child,
    grandchild: u32,
}

impl Other {
    fn start(folder: &Path) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "lock::tests::hold_for_another_test", "--ignored", "--nocapture"])
            .env(FOLDER, folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
        let grandchild = lines.filter_map(|line| line.split_once("holds ")?.1.parse().ok()).next().unwrap();
        Other { process, grandchild }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let grandchild = rustix::process::Pid::from_raw(self.grandchild.cast_signed()).unwrap();
        let _ = rustix::process::kill_process(grandchild, rustix::process::Signal::KILL);
    }
}

/// Holds the lock until it is killed, or nobody writes to it any more.
#[test]
#[ignore = "the other process of the tests beside it"]
fn hold_for_another_test() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let _lock = take(Path::new(&folder), Duration::ZERO).unwrap();
    let mut child = Command::new("sleep").arg("60").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    writeln!(io::stdout(), "holds {}", child.id()).unwrap();
    let _ = io::stdin().read(&mut [0]);
    let _ = child.kill();
    let _ = child.wait();
}

#[test]
fn another_process_is_named_and_its_lock_ends_with_it_although_a_child_lives() {
    let folder = tempfile::tempdir().unwrap();
    let mut other = Other::start(folder.path());
    let refused = take(folder.path(), Duration::ZERO).unwrap_err();
    let LockError::Busy { holder, .. } = refused else { panic!("{refused:?}") };
    assert!(holder.ends_with(&format!("--exact (process id {})", other.process.id())), "{holder}");
    other.process.kill().unwrap();
    other.process.wait().unwrap();
    assert!(Path::new(&format!("/proc/{}", other.grandchild)).exists());
    take(folder.path(), LINGER).unwrap();
}

#[test]
fn a_wait_ends_when_it_is_cancelled_or_patience_does() {
    let folder = tempfile::tempdir().unwrap();
    let _lock = take(folder.path(), Duration::ZERO).unwrap();
    assert!(matches!(take(folder.path(), Duration::from_millis(1)), Err(LockError::Busy { .. })));
    let looks = std::cell::Cell::new(0);
    let cancelled = || looks.replace(looks.get() + 1) == 2;
    let refused = MachineLock::acquire_in(&[folder.path().to_owned()], Duration::MAX, &cancelled);
    assert!(matches!(refused, Err(LockError::Cancelled)), "{refused:?}");
    assert_eq!(looks.get(), 3);
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
        let folders = [folder.path().to_owned(), other.path().to_owned()];
        MachineLock::acquire_in(&folders, Duration::ZERO, &|| false).unwrap();
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
    assert!(!is_at(&lock.file, &path));
    fs::write(&path, "").unwrap();
    assert!(!is_at(&lock.file, &path), "a file of the same name is another one");
}

#[test]
fn every_user_may_take_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let lock = take(folder.path(), Duration::ZERO).unwrap();
    assert_eq!(lock.file.metadata().unwrap().permissions().mode() & 0o777, 0o444);
}

#[test]
fn folders_in_their_order() {
    let folders = |set: &[(&str, &str)]| {
        let find = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
        folders(find)
    };
    let temporary = std::env::temp_dir();
    assert_eq!(folders(&[("CHARZ_LOCK_DIR", "/a"), ("XDG_RUNTIME_DIR", "/b")]), [PathBuf::from("/a")]);
    assert_eq!(
        folders(&[("CHARZ_LOCK_DIR", ""), ("XDG_RUNTIME_DIR", "/b")]),
        [PathBuf::from("/run/lock"), "/b".into(), temporary.clone()]
    );
    assert_eq!(folders(&[("XDG_RUNTIME_DIR", "relative")]), [PathBuf::from("/run/lock"), temporary]);
}
