//! What `CHARZ_LOG=FILE` keeps for a report of a defect: how this program was built and called, what the machine is like, which files were
//! read, what was decided and printed, and when. Of the environment it has what charz reads, and no values that `--command` gives its program.

use std::backtrace::Backtrace;
use std::fs::{File, OpenOptions};
use std::io::{IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::panic;
use std::process;
use std::sync::OnceLock;
use std::time::{Instant, SystemTime};

use charz_data::Program;
use charz_data::cpulist;
use charz_data::escape::plain;
use charz_measure::doctor::{Look, State, examine};
use charz_measure::invoke;
use charz_system::{Status, file};
use rustix::fs::OFlags;
use rustix::process::geteuid;

use crate::exit::{Error, Exit};
use crate::provenance::tool;

/// The variable that names the file.
pub const VARIABLE: &str = "CHARZ_LOG";

/// What charz, the libraries it is made of and its terminal read of the environment: names, and how names begin.
const READ: [&str; 13] = [
    "CHARZ_",
    "HWLOC_",
    "LC_",
    "LANG",
    "TERM",
    "COLUMNS",
    "NO_COLOR",
    "CLICOLOR",
    "SLURM_CPUS",
    "SLURM_JOB_CPUS",
    "SLURMD_NODENAME",
    "XDG_",
    "MALLOC_ARENA",
];

struct Log {
    file: File,
    begun: Instant,
}

static LOG: OnceLock<Log> = OnceLock::new();

/// Appends a line to the log, if there is one. A line that cannot be written is left out, and the command goes on.
pub fn line(about: &str, text: impl FnOnce() -> String) {
    let Some(Log { file, begun }) = LOG.get() else { return };
    let line = format!("{} {:.3} s  {about}: {}\n", process::id(), begun.elapsed().as_secs_f64(), plain(&text()));
    // In one call: several processes append to one file.
    let _ = (&*file).write_all(line.as_bytes());
}

/// Begins the log of this process, if one is asked for. Processes that measure have none.
///
/// # Errors
/// The file cannot be written.
pub fn begin() -> Result<(), Error> {
    let measures = std::env::args_os().nth(1).is_some_and(|verb| verb == invoke::VERB);
    let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty() && !measures) else { return Ok(()) };
    let cannot = |error| {
        let sentence = format!("{VARIABLE}: cannot append to {path:?}; name a file elsewhere, or unset it");
        Error::ended(Exit::of_path(&error), sentence).caused_by(error)
    };
    // A pipe without a reader is refused rather than waited for.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags).open(&path);
    let _ = LOG.set(Log { file: file.map_err(cannot)?, begun: Instant::now() });
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panicked| {
        line("panic", || format!("{panicked}; {}", Backtrace::force_capture()));
        report(panicked);
    }));
    circumstances();
    Ok(())
}

fn circumstances() {
    line("began", || humantime::format_rfc3339_seconds(SystemTime::now()).to_string());
    line("charz", || serde_json::to_string(&tool()).unwrap_or_default());
    line("arguments", arguments);
    line("folder", || std::env::current_dir().unwrap_or_default().display().to_string());
    let mut variables: Vec<(String, String)> = std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .filter(|(name, _)| READ.iter().any(|begin| name.starts_with(begin)))
        .collect();
    variables.sort();
    for (name, value) in variables {
        line("environment", || format!("{name}={}", Program::without_values(&value)));
    }
    line("system", || file::word("/proc/version").unwrap_or_default());
    line("process", || {
        let cpus = Status::of_process().cpus().unwrap_or_default();
        let terminals = [
            ("in", std::io::stdin().is_terminal()),
            ("out", std::io::stdout().is_terminal()),
            ("err", std::io::stderr().is_terminal()),
        ];
        let terminals: Vec<&str> = terminals.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
        format!("user {}, CPUs {}, terminals [{}]", geteuid().as_raw(), cpulist::print(&cpus), terminals.join(" "))
    });
    for finding in examine(&Look::at_once()).iter().filter(|finding| finding.state != State::Ok) {
        line("doctor", || format!("{:?} {}: {}", finding.state, finding.key, finding.read));
    }
}

/// What was typed, without the values of a program's environment.
fn arguments() -> String {
    let typed: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let end = typed.iter().position(|word| word == "--").map_or(typed.len(), |at| at + 1);
    let (own, program) = typed.split_at(end);
    let own = own.iter().map(|word| match word.split_once('=').filter(|_| word.starts_with("--")) {
        Some((flag, value)) => format!("{flag}={}", Program::without_values(value)),
        None => Program::without_values(word),
    });
    let own = own.collect::<Vec<_>>();
    let joined = |words: &[String]| shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default();
    format!("{} {}", joined(&own), Program::without_values(&joined(program))).trim_end().to_owned()
}
