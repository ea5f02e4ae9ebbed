//! Two processes: the test binary runs itself again as the other one.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Child, Command, Stdio};

use super::*;

const FOLDER: &str = "CHARZ_TEST_LOCK_FOLDER";
const NEVER: &dyn Fn() -> bool = &|| false;

fn take(folder: &Path, patience: Duration) -> Result<MachineLock, Refused> {
    MachineLock::acquire_in(&[folder.to_owned()], "charz sweep", patience, NEVER)
}

#[track_caller]
fn busy(folder: &Path) -> Busy {
    match take(folder, Duration::ZERO) {
        Err(Refused::Busy(busy)) => busy,
        other => panic!("{other:?}"),
    }
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
fn another_process_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let other = Other::start(folder.path());
    let found = busy(folder.path());
    assert_eq!((found.pid, found.task.as_deref()), (Some(other.process.id()), Some("charz sweep")));
    let message = found.to_string();
    assert!(message.starts_with(&format!("charz sweep with process id {} is", other.process.id())), "{message}");
    assert!(found.since.unwrap() < Duration::from_secs(600), "{message}");
}

#[test]
fn the_lock_ends_with_its_process_although_a_child_lives() {
    let folder = tempfile::tempdir().unwrap();
    let mut other = Other::start(folder.path());
    busy(folder.path());
    other.process.kill().unwrap();
    other.process.wait().unwrap();
    assert!(Path::new(&format!("/proc/{}", other.grandchild)).exists());
    // What the dead process wrote is still there, and no lock.
    assert!(std::fs::metadata(folder.path().join("charz.lock")).unwrap().len() > 0);
    drop(take(folder.path(), Duration::ZERO).unwrap());
}

#[test]
fn who_waits_gets_the_lock_when_it_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let mut other = Other::start(folder.path());
    let path = folder.path().to_owned();
    let waiting = thread::spawn(move || take(&path, Duration::from_secs(60)).map(drop));
    other.process.kill().unwrap();
    waiting.join().unwrap().unwrap();
}

#[test]
fn a_wait_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let _lock = take(folder.path(), Duration::ZERO).unwrap();
    let looks = std::cell::Cell::new(0);
    let cancelled = || looks.replace(looks.get() + 1) == 2;
    let folders = [folder.path().to_owned()];
    let refused = MachineLock::acquire_in(&folders, "charz", Duration::from_secs(600), &cancelled);
    assert!(matches!(refused, Err(Refused::Cancelled)), "{refused:?}");
    assert_eq!(looks.get(), 3);
}

#[test]
fn patience_ends() {
    let folder = tempfile::tempdir().unwrap();
    let _lock = take(folder.path(), Duration::ZERO).unwrap();
    assert!(matches!(take(folder.path(), Duration::from_millis(1)), Err(Refused::Busy(_))));
}

#[test]
fn who_does_not_tell_is_not_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("charz.lock");
    // No process has the number; text of nobody; a file that is too long.
    for told in ["{\"pid\":4294967295,\"task\":\"x\",\"since_unix_s\":1}", "\u{1b}[2J", &"x".repeat(1 << 20)] {
        let _lock = take(folder.path(), Duration::ZERO).unwrap();
        std::fs::write(&path, told).unwrap();
        let found = busy(folder.path());
        assert_eq!(found, Busy { pid: None, task: None, since: None });
        assert!(found.to_string().starts_with("another charz is measuring"), "{found}");
    }
}

#[test]
fn what_others_wrote_does_not_reach_the_terminal() {
    let busy = Busy { pid: Some(1), task: Some("\u{1b}[2J\n".into()), since: None };
    assert!(!busy.to_string().contains(|c: char| c.is_control()), "{busy}");
}

#[test]
fn the_lock_is_no_link_pipe_or_folder() {
    for trap in ["link", "pipe", "folder"] {
        let folder = tempfile::tempdir().unwrap();
        let (path, target) = (folder.path().join("charz.lock"), folder.path().join("target"));
        match trap {
            "link" => symlink(&target, &path).unwrap(),
            "pipe" => {
                let kind = rustix::fs::FileType::Fifo;
                rustix::fs::mknodat(rustix::fs::CWD, &path, kind, 0o600.into(), 0).unwrap();
            }
            _ => std::fs::create_dir(&path).unwrap(),
        }
        let refused = take(folder.path(), Duration::ZERO);
        assert!(matches!(refused, Err(Refused::Impossible(..))), "{trap}: {refused:?}");
        assert!(!target.exists(), "a link was followed");
        // The next folder serves.
        let other = tempfile::tempdir().unwrap();
        let folders = [folder.path().to_owned(), other.path().to_owned()];
        MachineLock::acquire_in(&folders, "charz", Duration::ZERO, NEVER).unwrap();
    }
}

#[test]
fn a_file_that_was_removed_locks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("charz.lock");
    let lock = take(folder.path(), Duration::ZERO).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(!file::is_at(&lock.file, &path));
    std::fs::write(&path, "").unwrap();
    assert!(!file::is_at(&lock.file, &path), "a file of the same name is another one");
}

#[test]
fn every_user_may_hold_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let lock = take(folder.path(), Duration::ZERO).unwrap();
    assert_eq!(lock.file.metadata().unwrap().permissions().mode() & 0o777, 0o666);
}

#[test]
fn folders_in_their_order() {
    let folders = |set: &[(&str, &str)]| {
        let find = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
        file::folders(find)
    };
    let temporary = std::env::temp_dir();
    assert_eq!(folders(&[("CHARZ_LOCK_DIR", "/a"), ("XDG_RUNTIME_DIR", "/b")]), [PathBuf::from("/a")]);
    assert_eq!(folders(&[("XDG_RUNTIME_DIR", "/b")]), [PathBuf::from("/run/lock"), "/b".into(), temporary.clone()]);
    assert_eq!(folders(&[("XDG_RUNTIME_DIR", "relative")]), [PathBuf::from("/run/lock"), temporary]);
}
