//! How a task fails: a sentence and an exit code.

use std::fmt;

/// Exit code: something was found wrong (a test, a convention, a regression).
pub const FOUND: u8 = 1;
/// Exit code: the command line makes no sense.
pub const USAGE: u8 = 2;
/// Exit code: the machine lacks something that the task needs.
pub const ENVIRONMENT: u8 = 3;

/// Why a task did not succeed.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
}

/// What a task, or a part of one, gives back.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// Something was found wrong: exit code [`FOUND`].
    pub fn found(message: impl Into<String>) -> Self {
        Failure { code: FOUND, message: message.into() }
    }

    /// The command line makes no sense: exit code [`USAGE`].
    pub fn usage(message: impl Into<String>) -> Self {
        Failure { code: USAGE, message: message.into() }
    }

    /// The machine lacks something: exit code [`ENVIRONMENT`].
    pub fn environment(message: impl Into<String>) -> Self {
        Failure { code: ENVIRONMENT, message: message.into() }
    }

    /// A file or folder could not be worked with: exit code [`ENVIRONMENT`]. `what` is e.g. `read "a.txt"`.
    pub fn io(what: impl fmt::Display, error: &std::io::Error) -> Self {
        Failure::environment(format!("cannot {what}: {error}"))
    }

    /// The same failure, saying in which part of a task it happened.
    pub fn within(self, part: &str) -> Self {
        Failure { code: self.code, message: format!("{part}: {}", self.message) }
    }

    /// The exit code of the process.
    pub fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message.trim_end())
    }
}

/// Refuses arguments where a task takes none.
pub fn no_arguments(task: &str, arguments: &[String]) -> Outcome {
    match arguments.first() {
        None => Ok(()),
        Some(first) => Err(Failure::usage(format!("`{task}` takes no arguments, but got {first:?}"))),
    }
}
