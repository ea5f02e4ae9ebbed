//! A sweep that something happens to.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

static MACHINE: RwLock<()> = RwLock::new(());

/// No other test of this program measures while it lives, since its workers fill the machine.
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    MACHINE.write().unwrap_or_else(PoisonError::into_inner)
}

/// Others may measure at the same time.
pub fn together() -> RwLockReadGuard<'static, ()> {
    MACHINE.read().unwrap_or_else(PoisonError::into_inner)
}

/// charz with the kernels of `tests/faulty`, not yet started, with an environment that no variable of ours disturbs.
pub fn faulty() -> PathBuf {
    let file = Path::new(env!("CARGO_BIN_EXE_charz")).with_file_name("examples").join("faulty");
    // As `/proc` has it.
    file.canonicalize().expect("it is built with the tests")
}

/// A sweep with a folder of its own.
pub struct Trial {
    folder: TempDir,
    /// Shell words that are run first, in the process that the sweep then replaces.
    setup: String,
    /// The flags with their values.
    flags: Vec<(String, String)>,
    variables: Vec<(&'static str, OsString)>,
    file: PathBuf,
}

/// How a sweep ended.
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
    /// The report, if there is one; it is valid then.
    pub report: Option<Value>,
}

impl Ended {
    /// Checks that the sweep came to its end, with the code of one that has a number or has none.
    #[track_caller]
    pub fn check_done(&self) {
        let cells = |report: &Value| report["cells"].as_array().cloned().unwrap_or_default();
        let has_number = |cell: &Value| ["ok", "suspect"].iter().any(|status| cell["status"] == *status);
        let code = self.report.as_ref().map(|report| if cells(report).iter().any(has_number) { 0 } else { 5 });
        assert!(code.is_some() && self.code == code, "{:?}, not {code:?}: {}", self.code, self.err);
    }
}

impl Trial {
    /// A short sweep of these kernels: one worker, two invocations of two repetitions.
    pub fn of(kernels: &str) -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let file = folder.path().join("r.json");
        let trial = Trial { folder, setup: String::new(), flags: Vec::new(), variables: Vec::new(), file };
        let few = trial.with("--steps", "200000").with("--iterations", "2").with("--runs", "2");
        // More than any of them takes on a busy machine, whose pilots are slow too.
        few.with("--mapping", "dumb").with("--threads", "1").with("--budget", "30m").with("--kernel", kernels)
    }

    /// The same of a program.
    pub fn of_program(command: &str) -> Self {
        let mut trial = Trial::of("");
        trial.flags.retain(|(flag, _)| !["--kernel", "--steps", "--iterations"].contains(&flag.as_str()));
        trial.with("--command", command)
    }

    /// With this value for this flag.
    pub fn with(mut self, flag: &str, value: &str) -> Self {
        self.flags.retain(|(old, _)| old != flag);
        self.flags.push((flag.into(), value.into()));
        self
    }

    /// With shell words that are run first; the sweep begins if they succeed.
    pub fn after(mut self, setup: &str) -> Self {
        self.setup += setup;
        self.setup += " && ";
        self
    }

    /// With a variable.
    pub fn variable(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// With its report elsewhere.
    pub fn into(self, file: PathBuf) -> Self {
        Trial { file, ..self }
    }

    /// The report, if there is one; it is valid then.
    pub fn report(&self) -> Option<Value> {
        let text = fs::read_to_string(&self.file).ok()?;
        Some(crate::derived::with_derived(serde_json::from_str(&text).expect("a report that is there is whole")))
    }

    /// Where the report stands when the sweep has ended.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Where the journal stands until there is a report.
    pub fn journal(&self) -> PathBuf {
        self.file.with_extension("json.journal")
    }

    /// Its folder, for other files.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// The sweep, not yet started.
    pub fn command(&self) -> Command {
        let flags = self.flags.iter().map(|(flag, value)| format!("{flag}={value}").into());
        let output = ["--output".into(), self.file.clone().into()];
        self.shell(&self.setup, flags.chain(output))
    }

    /// Finishes the sweep, without what happened to it before.
    pub fn resume(&self) -> Ended {
        self.end(self.rest().output().expect("the program starts"))
    }

    /// Begins to finish it, and looks away.
    pub fn start_resume(&self) -> Child {
        self.rest().stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
    }

    fn rest(&self) -> Command {
        self.shell("", ["--resume".into(), self.file.clone().into()])
    }

    fn shell(&self, setup: &str, flags: impl IntoIterator<Item = OsString>) -> Command {
        let mut shell = Command::new("sh");
        shell.stdin(Stdio::null());
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"CHARZ_")) {
            shell.env_remove(name);
        }
        shell.env("CHARZ_LOCK_DIR", self.folder.path()).envs(self.variables.iter().cloned());
        shell.arg("-c").arg(format!("{setup}exec \"$0\" sweep \"$@\""));
        shell.arg(faulty()).args(flags);
        shell
    }

    /// Starts it and looks away.
    pub fn start(&self) -> Child {
        self.command().stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
    }

    /// The processes of the program that run in or for this sweep, by the folder that their environment names.
    pub fn processes(&self) -> Vec<u32> {
        let lock = format!("CHARZ_LOCK_DIR={}", self.folder.path().display());
        let pids = fs::read_dir("/proc").expect("this test needs /proc");
        let pids = pids.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let ours = |pid: &u32| {
            let process = Path::new("/proc").join(pid.to_string());
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            fs::read_link(process.join("exe")).is_ok_and(|program| program == faulty())
                && environment.split(|byte| *byte == 0).any(|variable| variable == lock.as_bytes())
        };
        pids.filter(ours).collect()
    }

    /// Waits until a process measures, and gives its number.
    #[track_caller]
    pub fn measuring(&self, sweep: &Child) -> u32 {
        self.measuring_for(sweep, Duration::ZERO)
    }

    /// Waits until a process has measured for some time.
    #[track_caller]
    pub fn measuring_for(&self, sweep: &Child, time: Duration) -> u32 {
        let patience = Instant::now() + Duration::from_secs(600);
        loop {
            // The sweep is under way when its journal is; before that there are pilots.
            let begun = self.journal().exists();
            if let Some(pid) = self.processes().into_iter().find(|pid| begun && *pid != sweep.id()) {
                thread::sleep(time);
                if time.is_zero() || self.processes().contains(&pid) {
                    return pid;
                }
            }
            assert!(Instant::now() < patience, "no process measures");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Runs it to its end.
    pub fn run(&self) -> Ended {
        self.end(self.command().output().expect("the program starts"))
    }

    /// What a sweep that was started comes to.
    pub fn wait(&self, child: Child) -> Ended {
        self.end(child.wait_with_output().expect("a child can be waited for"))
    }

    fn end(&self, output: Output) -> Ended {
        let text = |bytes| String::from_utf8(bytes).expect("text is UTF-8");
        Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr), report: self.report() }
    }
}

impl Ended {
    /// The only cell of this kernel.
    #[track_caller]
    pub fn cell(&self, kernel: &str) -> &Value {
        let report = self.report.as_ref().unwrap_or_else(|| panic!("no report: {}", self.err));
        let mut cells = report["cells"].as_array().expect("a report has cells").iter();
        cells.find(|cell| cell["kernel"] == kernel).expect("the kernel has a cell")
    }

    /// How that cell ended.
    #[track_caller]
    pub fn status(&self, kernel: &str) -> &str {
        self.cell(kernel)["status"].as_str().expect("a status is a word")
    }

    /// Why.
    #[track_caller]
    pub fn reason(&self, kernel: &str) -> &str {
        self.cell(kernel)["reason"].as_str().unwrap_or_default()
    }

    /// That it was measured: two invocations have values. What they are worth on a busy machine is another matter.
    #[track_caller]
    pub fn check_measured(&self, kernel: &str) {
        let invocations = self.cell(kernel)["runs"].as_array().expect("a cell has invocations");
        let done = invocations.iter().filter(|invocation| invocation["ending"] == "done").count();
        assert!(done >= 2, "{kernel}: {}: {}", self.cell(kernel)["reason"], self.err);
    }
}
