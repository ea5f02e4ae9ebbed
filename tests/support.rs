//! Running the program, and golden files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use charz_topology::cpulist;
use rustix::process::{Pid, Signal, kill_process};

/// The SPARC T3-4, of which the source document measured four packages, sixteen cores, two ALUs and eight strands.
pub const T3_4: &str = "Package:4 Core:16 Group:2 PU:4";

/// The program, not yet started, with an environment that no variable of ours disturbs, and with a lock of its own: tests run
/// side by side, and none is here for its numbers.
pub fn charz() -> Command {
    program(Path::new(env!("CARGO_BIN_EXE_charz")))
}

/// The same for another program that is charz with additions.
pub fn program(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"CHARZ_") {
            command.env_remove(name);
        }
    }
    // Nor the width of its terminal.
    command.env_remove("COLUMNS");
    command.env("CHARZ_LOCK_DIR", own_folder());
    // The variables of the machine's user must not change what is expected here.
    command.env("XDG_STATE_HOME", state());
    command
}

/// The folder of the user's state, the same for all callers: by it charz knows its own reports again.
fn state() -> &'static Path {
    static STATE: OnceLock<PathBuf> = OnceLock::new();
    STATE.get_or_init(own_folder)
}

/// A folder for each caller, among the build's temporary files.
fn own_folder() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("locks/{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder of temporary files can be written");
    folder
}

/// What a run came to.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let err = String::from_utf8(output.stderr).expect("errors are UTF-8");
        // What hwloc finds odd is said in charz's own words.
        assert!(!["hwloc/", "hwloc has encountered", "****"].iter().any(|sign| err.contains(sign)), "{err}");
        Ran { code: output.status.code(), out: String::from_utf8(output.stdout).expect("output is UTF-8"), err }
    }
}

impl Ran {
    /// Checks that a sweep came to its end. On a busy machine it may have no number, which has a code of its own.
    #[track_caller]
    pub fn check_swept(&self) {
        assert!(matches!(self.code, Some(0 | 5)), "{:?}: {}", self.code, self.err);
    }
}

/// A text as if the terminal were wide enough.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs the program to its end.
pub fn run(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Ran {
    charz().args(args).output().expect("the program starts").into()
}

/// Runs the program, which must succeed without a word on standard error, and gives its output.
#[track_caller]
pub fn output(args: &[&str]) -> String {
    let ran = run(args);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{args:?}");
    ran.out
}

/// Compares with a file under `tests/golden`, or rewrites it when `CHARZ_GOLDEN=update` is set.
#[track_caller]
pub fn check_golden(name: &str, found: &str) {
    let path = root().join("tests/golden").join(name);
    if std::env::var_os("CHARZ_GOLDEN").is_some_and(|value| value == "update") {
        std::fs::write(&path, found).expect("the golden file can be written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{} differs; cargo xtask golden rewrites it", path.display());
}

/// Writes a program of the shell.
///
/// Another process writes it: a program that another test starts meanwhile might inherit the open file from this one, and Linux runs no
/// file that is open for writing.
pub fn write_program(path: &Path, text: &str) {
    let written =
        Command::new("sh").args(["-c", r#"printf %s "$1" > "$0" && chmod 755 "$0""#]).arg(path).arg(text).status();
    assert!(written.expect("there is a shell").success(), "{}", path.display());
}

/// Sends a signal to a process that was not waited for. Not every system has a program for it.
pub fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("a child is there until it is waited for");
}

/// CPUs that this process may use.
pub fn cpus() -> Vec<u32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    cpulist::parse(list.trim()).unwrap()
}

/// The root of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A sweep that takes about a second: arguments without `--output`.
pub const SMALL: [&str; 15] = [
    "sweep",
    "--kernel",
    "arith-int,mem-read",
    "--mapping",
    "round-robin,auto",
    "--threads",
    "1,2",
    "--steps",
    "20000",
    "--size",
    "2MiB",
    "--iterations",
    "2",
    "--runs",
    "2",
];

/// Runs [`SMALL`] into a file and gives the report as any reader of JSON sees it.
#[track_caller]
pub fn small_report(file: &Path) -> serde_json::Value {
    run(SMALL.iter().map(OsStr::new).chain([OsStr::new("--output"), file.as_os_str()])).check_swept();
    read_json(file)
}

/// A file of JSON; of a report, with what is derived of each cell, run and iteration in it, for tests of what is concluded.
#[track_caller]
pub fn read_json(file: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(file).expect("the file is there");
    crate::derived::with_derived(serde_json::from_str(&text).expect("the file is JSON"))
}
