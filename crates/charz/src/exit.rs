//! Exit codes, and the error that carries one.

use std::fmt;
use std::io;

/// Why the program ends, as the shell sees it. [`EXITS`] documents every one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything asked for was done.
    Done,
    /// A comparison found something slower.
    Regression,
    /// What was typed, or a file that was named, cannot be used.
    BadInput,
    /// The machine or its operating system refused something; finished cells are kept.
    Environment,
    /// A kernel computed a wrong answer.
    Wrong,
    /// Not every cell is `ok`, or not every comparison has a verdict, and that was asked for.
    NotAllOk,
    /// Stopped by SIGINT (^C).
    Interrupted,
    /// Stopped by SIGTERM.
    Terminated,
    /// Stopped by SIGHUP: the terminal went away.
    HungUp,
}

/// Every exit code with its meaning: the source of the help text and of the documentation.
pub const EXITS: &[(Exit, u8, &str)] = &[
    (Exit::Done, 0, "done; a closed output pipe and the end of the given budget count as done"),
    (Exit::Regression, 1, "a comparison found at least one cell slower"),
    (Exit::BadInput, 2, "an argument or a named file cannot be used; nothing was measured or written"),
    (
        Exit::Environment,
        3,
        "the machine or its system refused something (disk, memory, threads); finished cells are kept",
    ),
    (Exit::Wrong, 4, "a kernel computed a wrong answer; its cell says so, the others are kept"),
    (Exit::NotAllOk, 5, "finished, but --strict was given and a cell is not ok, or a comparison has no verdict"),
    (Exit::HungUp, 129, "stopped by SIGHUP (the terminal went away); the report is valid and can be resumed"),
    (Exit::Interrupted, 130, "stopped by SIGINT (^C); the report is valid and can be resumed"),
    (Exit::Terminated, 143, "stopped by SIGTERM; the report is valid and can be resumed"),
];

impl Exit {
    /// The process's exit code.
    pub fn code(self) -> u8 {
        EXITS.iter().find(|(exit, ..)| *exit == self).map_or(3, |(_, code, _)| *code)
    }
}

/// One sentence for the user, with the exit code that goes with it.
#[derive(Debug)]
pub struct Error {
    /// How the program should end.
    pub exit: Exit,
    sentence: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An argument or a named file cannot be used.
    pub fn bad_input(sentence: impl Into<String>) -> Self {
        Error { exit: Exit::BadInput, sentence: shortened(sentence.into()), source: None }
    }

    /// The machine or its system refused something.
    pub fn environment(sentence: impl Into<String>) -> Self {
        Error { exit: Exit::Environment, sentence: sentence.into(), source: None }
    }

    /// Ended before there was anything to tell.
    pub fn ended(exit: Exit, sentence: impl Into<String>) -> Self {
        Error { exit, sentence: sentence.into(), source: None }
    }

    /// A file that the user named cannot be used as a report.
    pub fn from_bad_file(error: crate::report::FileError) -> Self {
        Error { exit: Exit::BadInput, sentence: shortened(error.to_string()), source: error.into_source() }
    }

    /// Puts the place in front of the sentence that its cause was read from.
    #[must_use]
    pub fn read_from(mut self, place: &str) -> Self {
        self.sentence = format!("{place}: {}", self.sentence);
        self
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn caused_by(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// Whether the reader of our output went away, which is no error to speak of.
    pub fn is_broken_pipe(&self) -> bool {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(self);
        while let Some(error) = cause {
            if error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe) {
                return true;
            }
            cause = error.source();
        }
        false
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|e| e as _)
    }
}

impl From<charz_topology::Error> for Error {
    fn from(error: charz_topology::Error) -> Self {
        let refused = matches!(error, charz_topology::Error::Seat { .. } | charz_topology::Error::ReadBack { .. });
        let sentence = error.to_string();
        if refused { Error::environment(sentence) } else { Error::bad_input(sentence) }
    }
}

/// The longest sentence in characters. What was typed may be megabytes, and is repeated in what is said of it.
const LONGEST: usize = 800;

/// A sentence, without its middle where it is too long: what is wrong stands at its start, what to do at its end.
fn shortened(sentence: String) -> String {
    let length = sentence.chars().count();
    if length <= LONGEST {
        return sentence;
    }
    let start: String = sentence.chars().take(LONGEST / 2).collect();
    let end: String = sentence.chars().skip(length - LONGEST / 2).collect();
    format!("{start} … {end}")
}

/// Failing to write to standard output.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::environment("cannot write the result to standard output").caused_by(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_has_one_code_of_its_own() {
        let all = [
            Exit::Done,
            Exit::Regression,
            Exit::BadInput,
            Exit::Environment,
            Exit::Wrong,
            Exit::NotAllOk,
            Exit::Interrupted,
            Exit::Terminated,
            Exit::HungUp,
        ];
        for exit in all {
            assert_eq!(EXITS.iter().filter(|(e, ..)| *e == exit).count(), 1, "{exit:?}");
            assert_eq!(EXITS.iter().filter(|(_, code, _)| *code == exit.code()).count(), 1, "{exit:?}");
        }
        assert_eq!(all.len(), EXITS.len());
    }

    #[test]
    fn a_sentence_about_megabytes_keeps_its_start_and_its_end() {
        let sentence = Error::bad_input(format!("--size: {:?} is not a size", "é".repeat(1 << 20))).to_string();
        assert!(sentence.starts_with("--size: \"é") && sentence.ends_with("é\" is not a size"), "{sentence}");
        assert!(sentence.len() < 2 * LONGEST + 10, "{}", sentence.len());
    }

    #[test]
    fn a_closed_pipe_is_recognised_behind_a_sentence() {
        let closed = Error::from(io::Error::from(io::ErrorKind::BrokenPipe));
        let full = Error::from(io::Error::from(io::ErrorKind::StorageFull));
        assert!(closed.is_broken_pipe());
        assert!(!full.is_broken_pipe());
    }
}
