//! Exit codes, and the error that carries one.

use std::fmt;
use std::io;

use charz_measure::plan::PlanError;

/// Why the program ends, as the shell sees it. [`EXITS`] documents every code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    Done = 0,
    Regression = 1,
    BadInput = 2,
    Environment = 3,
    Wrong = 4,
    NoVerdict = 5,
    NotExecutable = 126,
    NotFound = 127,
    HungUp = 129,
    Interrupted = 130,
    Terminated = 143,
}

/// Every exit code with its meaning: the source of the help text and of the documentation.
pub const EXITS: &[(Exit, &str)] = &[
    (Exit::Done, "done; a closed output pipe and the end of the given budget count as done"),
    (
        Exit::Regression,
        "a comparison found at least one configuration slower, `audit` a contradiction, or `doctor` something to fix (--strict); \
         `fleet check` has the codes of Nagios: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN",
    ),
    (
        Exit::BadInput,
        "an argument or a named file cannot be used; nothing was measured or written, but `fleet add` adds the other files",
    ),
    (
        Exit::Environment,
        "the machine or its system refused something (disk, memory, threads), or a run failed; finished configurations are kept",
    ),
    (Exit::Wrong, "a kernel or a program gave a wrong answer; its configuration says so, the others are kept"),
    (
        Exit::NoVerdict,
        "no verdict: nothing could be compared, a difference was skipped or is open, a sweep has no result, `predict` no number, or --strict was given and not every \
         result is reliable",
    ),
    (Exit::NotExecutable, "`charz exec`: the program cannot be executed; else the code is the program's own"),
    (Exit::NotFound, "`charz exec`: there is no such program"),
    (Exit::HungUp, "stopped by SIGHUP (the terminal went away); the report is valid and can be resumed"),
    (Exit::Interrupted, "stopped by SIGINT (^C); the report is valid and can be resumed"),
    (Exit::Terminated, "stopped by SIGTERM or SIGUSR1; the report is valid and can be resumed"),
];

impl Exit {
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Where a file could not be opened or created: its path cannot be used, or the system has no room for it.
    pub fn of_path(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::InvalidFilename => Exit::BadInput,
            _ if error.raw_os_error() == Some(libc::ELOOP) => Exit::BadInput,
            _ => Exit::Environment,
        }
    }
}

/// One sentence for the user, with the exit code that goes with it.
#[derive(Debug)]
pub struct Error {
    pub exit: Exit,
    /// `None` where the source's own sentence suffices.
    sentence: Option<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error that needs no sentence beside its own.
    pub fn new(exit: Exit, error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Error { exit, sentence: None, source: Some(Box::new(error)) }
    }

    pub fn bad_input(sentence: impl Into<String>) -> Self {
        Self::ended(Exit::BadInput, sentence)
    }

    pub fn environment(sentence: impl Into<String>) -> Self {
        Self::ended(Exit::Environment, sentence)
    }

    pub fn ended(exit: Exit, sentence: impl Into<String>) -> Self {
        Error { exit, sentence: Some(sentence.into()), source: None }
    }

    /// Puts the place in front of the sentence that its cause was read from.
    pub fn read_from(mut self, place: &str) -> Self {
        // Where its sentence is the source's, that is said here, and not again.
        let told = if self.sentence.is_some() { self.to_string() } else { self.whole() };
        self.source = self.source.filter(|_| self.sentence.is_some());
        self.sentence = Some(format!("{place}: {told}"));
        self
    }
    pub fn caused_by(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// What caused it, from the nearest on.
    pub fn causes(&self) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
        std::iter::successors(std::error::Error::source(self), |error| error.source())
    }

    /// The error with its causes, and the remedy where the system's limit on open files is one.
    pub fn whole(&self) -> String {
        let causes: String = self.causes().map(|cause| format!(": {cause}")).collect();
        let told = format!("{self}{causes}");
        match self.is_out_of_files() && !told.contains("ulimit -n") {
            true => format!("{told}; raise the limit on open files with ulimit -n 1024"),
            false => told,
        }
    }

    /// Whether the reader of our output went away, which is no error to speak of.
    pub fn is_broken_pipe(&self) -> bool {
        self.is_of_system(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Whether this process, or all of them, may open no more files.
    pub fn is_out_of_files(&self) -> bool {
        self.is_of_system(|error| matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)))
    }

    fn is_of_system(&self, is_it: impl Fn(&io::Error) -> bool) -> bool {
        let own = self.source.as_deref().and_then(|error| error.downcast_ref::<io::Error>());
        let mut all = own.into_iter().chain(self.causes().filter_map(|error| error.downcast_ref()));
        all.any(is_it)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.sentence, &self.source) {
            (Some(sentence), _) => f.write_str(sentence),
            (None, Some(error)) => error.fmt(f),
            (None, None) => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.source.as_deref()?;
        if self.sentence.is_some() { Some(source) } else { source.source() }
    }
}

impl From<charz_topology::Error> for Error {
    fn from(error: charz_topology::Error) -> Self {
        let refused = matches!(error, charz_topology::Error::Seat { .. } | charz_topology::Error::ReadBack { .. });
        Self::ended(if refused { Exit::Environment } else { Exit::BadInput }, error.to_string())
    }
}

impl From<PlanError> for Error {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Mapping(error) => error.into(),
            PlanError::Kernel(_) => Self::environment(error.to_string()),
            PlanError::Memory(_) | PlanError::Size { .. } | PlanError::Threads { .. } => {
                Self::bad_input(error.to_string())
            }
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::environment("cannot write the result to standard output").caused_by(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_speaks_for_itself_is_said_once() {
        let full = || io::Error::from_raw_os_error(libc::EMFILE);
        let speaks = Error::new(Exit::BadInput, full()).read_from("--resume");
        let told = speaks.whole();
        assert!(told.starts_with("--resume: ") && told.contains("ulimit -n"), "{told}");
        assert_eq!(told.matches(&full().to_string()).count(), 1, "{told}");
        let explained = Error::environment("no").caused_by(full()).read_from("--resume");
        assert_eq!((explained.to_string().as_str(), explained.causes().count()), ("--resume: no", 1));
        assert!(explained.is_out_of_files() && !explained.is_broken_pipe());
    }
}
