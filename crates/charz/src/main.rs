//! Parse, run, print the error with its causes, leave with the right code.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use charz::args::{self, Parsed};
use charz::exit::{Error, Exit};
use charz::render::text::plain;

fn main() -> ExitCode {
    let exit = run().unwrap_or_else(|error| {
        if error.is_broken_pipe() {
            // The reader has seen enough.
            return Exit::Done;
        }
        complain(&error);
        error.exit
    });
    ExitCode::from(exit.code())
}

fn run() -> Result<Exit, Error> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let exit = match args::parse(std::env::args_os())? {
        Parsed::Text(text) => out.write_all(text.as_bytes()).map(|()| Exit::Done)?,
        Parsed::Command(command) => command.run(&mut out)?,
    };
    out.flush()?;
    Ok(exit)
}

/// One line: the sentence and what caused it. Texts out of files cannot steer the terminal.
fn complain(error: &Error) {
    let mut line = format!("charz: {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        line.push_str(&format!(": {error}"));
        cause = error.source();
    }
    // If standard error is gone too, there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "{}", plain(&line));
}
