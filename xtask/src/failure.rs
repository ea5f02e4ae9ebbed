//! How a task fails: a sentence and an exit code.

use std::fmt;
use std::process::ExitCode;

#[derive(Debug)]
pub struct Failure {
    /// The exit code of the process.
    pub code: u8,
    message: String,
}

/// What a task, or a part of one, gives back.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// Something was found wrong: a test, a convention, a regression.
    pub fn found(message: impl Into<String>) -> Self {
        Failure { code: 1, message: message.into() }
    }

    /// The command line makes no sense.
    pub fn usage(message: impl Into<String>) -> Self {
        Failure { code: 2, message: message.into() }
    }

    /// The machine lacks something that the task needs.
    pub fn environment(message: impl Into<String>) -> Self {
        Failure { code: 3, message: message.into() }
    }

    /// Whether it is the machine that lacks something.
    #[must_use]
    pub fn is_environment(&self) -> bool {
        self.code == Failure::environment("").code
    }

    /// The same failure as one of the machine, for what it fetches from elsewhere.
    #[must_use]
    pub fn of_environment(self) -> Self {
        Failure::environment(self.message)
    }

    /// A file or folder could not be worked with. `what` is e.g. `read "a.txt"`.
    pub fn io(what: impl fmt::Display, error: &std::io::Error) -> Self {
        Failure::environment(format!("cannot {what}: {error}"))
    }

    /// The same failure, saying in which part of a task it happened.
    pub fn within(self, part: &str) -> Self {
        Failure { code: self.code, message: format!("{part}: {}", self.message) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message.trim_end())
    }
}

/// Ends a process: says why a task failed.
pub fn exit(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(failure.code)
        }
    }
}
