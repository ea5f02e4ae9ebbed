//! The program from its arguments to its exit code: parse, run, print the error with its causes. A program that brings
//! kernels of its own (`charz_kernels::add`) calls [`main`] like charz itself.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use rustix::process::{getegid, geteuid, getgid, getuid};

use crate::args::{self, Parsed};
use crate::exit::{Error, Exit};
use crate::log;
use crate::signals::survive_file_size_limit;
use crate::view::look;
use charz_fleet::words::check_failed;
use charz_measure::limits;

/// Runs the command of this process's arguments. Errors are printed on standard error; the code is that of [`Exit`].
pub fn main() -> ExitCode {
    // A kernel starts this program for what only a fresh process has: nothing comes before it.
    if let Some(code) = charz_kernels::serve() {
        return code;
    }
    charz_launch::prepare_hwloc();
    charz_workloads::join();
    let exit = refuse_tight_limits().and_then(|()| run()).unwrap_or_else(|error| {
        if error.is_broken_pipe() {
            // The reader has seen enough.
            return Exit::Done;
        }
        complain(&error);
        if args::is_check(std::env::args_os()) {
            // Nagios reads this line and this code, whatever went wrong.
            let _ = writeln!(std::io::stdout(), "{}", check_failed(&error.whole()));
            return Exit::Environment;
        }
        error.exit
    });
    log::line("end", || format!("exit code {}", exit.code()));
    ExitCode::from(exit.code())
}

/// Before anything else: what follows may take more than there is.
fn refuse_tight_limits() -> Result<(), Error> {
    limits::shortage().map_or(Ok(()), |reason| Err(Error::environment(reason)))
}

// A function of its own: its stack frame is not there yet when the limits are read.
#[inline(never)]
fn run() -> Result<Exit, Error> {
    refuse_borrowed_rights()?;
    survive_file_size_limit()
        .map_err(|error| Error::environment("the system refused a signal handler").caused_by(error))?;
    log::begin()?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let exit = match args::parse(std::env::args_os())? {
        Parsed::Text(text) => out.write_all(text.as_bytes()).map(|()| Exit::Done)?,
        Parsed::Command { command, output, colour, notes } => {
            look::choose(colour, output.is_some());
            for note in notes {
                look::say(&format!("charz: note: {note}"));
            }
            match output {
                Some(file) => command.run_into(file)?,
                None => command.run(&mut out)?,
            }
        }
    };
    out.flush()?;
    Ok(exit)
}

/// With the set-user-ID or set-group-ID bit, any user of the program would read and write files with its owner's rights:
/// topologies, reports, mapper programs.
fn refuse_borrowed_rights() -> Result<(), Error> {
    if geteuid() == getuid() && getegid() == getgid() {
        return Ok(());
    }
    Err(Error::environment(
        "this program does not run with another user's rights; take its setuid and setgid bits away",
    ))
}

fn complain(error: &Error) {
    look::say(&format!("charz: {}", error.whole()));
}
