//! From a launch to a process that sits on its first seat.

use std::env;
use std::fs::File;
use std::io::{self, ErrorKind, PipeWriter};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

use charz_data::Follow;
use charz_system::origin::{self, Invoker};
use charz_system::plugins;

use crate::files;
use crate::launch::{Error, Launch, Streams};
use crate::program::MARK;
use crate::sys::gate::{self, Gate};
use crate::sys::notify::{self, Listener};
use crate::sys::{affinity, memory, signals, tether, trace, wait};

/// A process that is its program, or is about to be.
pub struct Spawned {
    pub child: Child,
    /// Whether ptrace follows it, or holds it, or why not. It stops where its program begins.
    pub traced: io::Result<()>,
    /// Where it asks which CPUs it may use, and whether it can be shown others than those of its first seat.
    pub listener: Option<Listener>,
    pub shows: bool,
    /// When it was let go: where its program begins, it may still stop.
    pub start: Instant,
    /// What the process group is tied to of a program that nothing else would end.
    pub tether: Option<PipeWriter>,
}

/// The CPUs of a program's first thread; where there are none, it may run anywhere.
pub struct First {
    /// Those of its seat.
    pub seat: Vec<u32>,
    /// Those on which it may run where it cannot be shown more than it may use.
    pub alone: Vec<u32>,
}

/// Starts the program, marked, on its CPUs, with SIGCHLD blocked or not, and, if ptrace is to, follows it from the calling thread. `holds`:
/// ptrace stops it where its program begins, also if nothing follows it.
///
/// A thread of its own takes the seat, the policy of memory and the block, which the child inherits: no instruction of the program runs
/// elsewhere, and this process stays where it is. While the child waits at the gate, before it becomes the program, the calling
/// thread attaches to it.
pub fn spawn(launch: &Launch, first: First, follow: Follow, mark: &str, blocked: bool) -> Result<Spawned, Error> {
    let mut command = command(launch)?;
    command.env(MARK, mark);
    if let Some(limit) = files::of_programs() {
        gate::limit_files(&mut command, limit);
    }
    let leads = launch.streams != Streams::Inherit;
    let tether = (leads && follow == Follow::None).then(|| tether::tie(&mut command));
    let tether = tether.transpose().map_err(Error::Process)?;
    let First { seat, alone } = first;
    // A polled one may go on without this process, and may be to get the rights of another user.
    let offers = follow == Follow::Ptrace && seat != alone;
    let mask = if offers { seat } else { alone.clone() };
    let gate = gate::hold(&mut command, offers).map_err(Error::Process)?;
    let start = move || {
        if !mask.is_empty() {
            affinity::set(0, &mask).map_err(|source| Error::Seat(mask, source))?;
        }
        if !launch.nodes.is_empty() {
            memory::place(&launch.nodes).map_err(|source| Error::Memory(launch.nodes.clone(), source))?;
        }
        signals::block(libc::SIGCHLD, blocked);
        command.spawn().map_err(|error| refusal(launch, error))
    };
    let trace: Option<fn(i32) -> io::Result<()>> = match follow {
        Follow::Ptrace => Some(trace::seize),
        Follow::None if launch.together => Some(trace::hold),
        Follow::Poll | Follow::None => None,
    };
    thread::scope(|scope| {
        let starter = thread::Builder::new().name("launch".to_owned());
        let starter = starter.spawn_scoped(scope, start).map_err(Error::Process)?;
        let passed = pass(&gate, offers, &alone, trace);
        drop(gate);
        let child = starter.join().map_err(|_| Error::Process(ErrorKind::Other.into()))??;
        // The starter knows why there is no child.
        let Passed { traced, listener, shows, start } = passed.map_err(Error::Process)?;
        Ok(Spawned { child, traced, listener, shows, start, tether })
    })
}

/// A child behind its gate.
struct Passed {
    traced: io::Result<()>,
    listener: Option<Listener>,
    shows: bool,
    start: Instant,
}

/// Lets the child go through the gate.
fn pass(gate: &Gate, offers: bool, alone: &[u32], trace: Option<fn(i32) -> io::Result<()>>) -> io::Result<Passed> {
    let pid = gate.child()?;
    let listener = gate.listener()?;
    let shows = listener.is_some() && notify::reaches(pid);
    if offers && !shows && !alone.is_empty() {
        // One that cannot be shown more CPUs than it may use may use them until others appear.
        let _ = affinity::set(pid, alone);
    }
    let traced = trace.map(|trace| trace(pid));
    let start = Instant::now();
    gate.open()?;
    if let Some(Ok(())) = traced {
        pass_signals(pid);
    }
    Ok(Passed { traced: traced.unwrap_or(Ok(())), listener, shows, start })
}

/// Until the child is the program: a signal that reaches it on its way, such as one to the whole group, stops it under ptrace, and the
/// starter would wait for ever.
fn pass_signals(pid: i32) {
    while let Some((event, signal)) = wait::next_stop(pid).filter(|(event, _)| *event != libc::PTRACE_EVENT_EXEC) {
        // One that SIGKILL ends meanwhile takes no request.
        wait::stop(pid);
        let _ = match (event, signal) {
            (0, signal) => trace::resume(pid, signal),
            (_, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) => trace::listen(pid),
            _ => trace::resume(pid, 0),
        };
    }
}

fn command(launch: &Launch) -> Result<Command, Error> {
    let mut command = Command::new(&launch.program);
    plugins::restore(command.args(&launch.arguments));
    for (name, value) in &launch.environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let input = match launch.streams {
        Streams::Inherit => return Ok(command),
        Streams::Captured => no_input().map_err(Error::Process)?,
        Streams::Conversation => Stdio::piped(),
    };
    let output = launch.output.as_deref().map_or_else(|| Ok(Stdio::piped()), file)?;
    command.stdin(input).stdout(output).stderr(Stdio::piped()).process_group(0);
    Ok(command)
}

/// A file to write anew. Opening anything else, such as a named pipe, may wait, and a link of another user leads wherever that one likes.
fn file(path: &Path) -> Result<Stdio, Error> {
    let refused = |why: String| Err(Error::Output(path.to_owned(), io::Error::other(why)));
    if let Some(user) = origin::foreign_link(path, &Invoker::current()) {
        return refused(format!("it is a link that {} made", origin::name(user)));
    }
    if path.metadata().is_ok_and(|found| !found.is_file() && path != Path::new(NULL)) {
        return refused("it is no regular file".to_owned());
    }
    File::create(path).map(Stdio::from).map_err(|error| Error::Output(path.to_owned(), error))
}

const NULL: &str = "/dev/null";

/// [`Stdio::null`], whose error would be taken for one of the program where this system has no such device.
fn no_input() -> io::Result<Stdio> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{NULL} cannot be opened: {error}"));
    File::open(NULL).map(Stdio::from).map_err(named)
}

fn refusal(launch: &Launch, error: io::Error) -> Error {
    match error.kind() {
        // execve(2) says this of a script's interpreter too.
        ErrorKind::NotFound if found(launch).is_some() => Error::NoInterpreter,
        ErrorKind::NotFound => Error::NotFound,
        ErrorKind::PermissionDenied if found(launch).is_none() => Error::NotFound,
        ErrorKind::WouldBlock | ErrorKind::OutOfMemory => Error::Process(error),
        _ if error.raw_os_error() == Some(libc::EMFILE) || error.raw_os_error() == Some(libc::ENFILE) => {
            Error::Process(error)
        }
        _ => Error::NotExecutable(error),
    }
}

/// Where the program is: at its path, or in a folder of `PATH`. One that may not be searched, such as another user's, gives execvp(3)
/// the error of a program that may not be executed.
fn found(launch: &Launch) -> Option<PathBuf> {
    if launch.program.as_encoded_bytes().contains(&b'/') {
        let path = PathBuf::from(&launch.program);
        // What may not be looked at may well be there.
        return path.try_exists().unwrap_or(true).then_some(path);
    }
    let own = launch.environment.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
    let path = own.unwrap_or_else(|| env::var_os("PATH")).unwrap_or_default();
    env::split_paths(&path).map(|folder| folder.join(&launch.program)).find(|path| path.is_file())
}
