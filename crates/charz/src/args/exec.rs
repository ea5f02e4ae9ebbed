//! `charz exec`: its flags, and what they ask for.

use std::ffi::OsString;

use charz_launch::Follow;
use charz_topology::Mapping;
use clap::Args;

use super::choice::choice;
use super::help;
use super::map::{MOST_MAPPED, not_a_mapping, refuse_stacks};
use super::quantities::count;
use crate::command::exec::Options;
use crate::exit::Error;
use charz_data::MemoryPolicy;

/// Run a program with its threads pinned as a mapping says
///
/// Each thread is bound to its seat when it appears, without root; threads of processes that the program starts are too. A thread
/// or process of it that asks on which CPUs it may run is shown all seats, so it finds as many as the program may use. Runtimes
/// (OpenMP, OpenBLAS, rayon, tokio, Go, Julia) are asked by their variables for as many threads as there are seats, and OpenMP to
/// bind none itself; variables that are set are kept. CHARZ_SEATS has the number. More threads than seats share them evenly.
///
/// Exit code, signals, terminal and streams are the program's own. When it has ended, standard error gets a summary: whether threads
/// stayed on their seats, what they waited for, and on which NUMA nodes the memory was. What the program leaves running is ended.
/// A program that is not there gives 127, one that cannot be executed 126.
#[derive(Debug, Args)]
pub(crate) struct ExecArgs {
    #[arg(long, visible_alias = "placement", value_name = "MAPPING", default_value = "round-robin",
        help = "The mapping; --help lists them", long_help = help::mappings("The mapping"))]
    pub(crate) mapping: String,
    /// How many seats, and the number of threads that runtimes are asked for [default: each CPU of the mapping once, or as many as a CPU
    /// quota has time for]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<String>,
    /// Let a list: name a CPU more than once, so threads share it on purpose
    #[arg(long)]
    pub(crate) allow_stack: bool,
    /// Take the CPUs nearest to this device first, and put memory there: eth0, mlx5_0, nvme0n1, gpu0 or a PCI address; charz topo lists them
    ///
    /// Without --threads there is a seat on each CPU local to it.
    #[arg(long, value_name = "DEVICE")]
    pub(crate) near: Option<String>,
    /// NUMA nodes of the program's memory: local (where each thread touches it first), remote, interleave, or node:N [default: local;
    /// with --near, the node of the device]
    #[arg(long, value_name = "POLICY")]
    pub(crate) memory: Option<String>,
    /// Threads that get no seat, by order of appearance from 0 (the first thread), such as helpers of a runtime
    ///
    /// They may run on the seats that no other thread has, or on all where each has one. --skip 0 leaves the first thread unbound: of a
    /// program whose first thread waits for the others.
    #[arg(long, value_name = "I,…", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) skip: Vec<String>,
    /// How new threads are found: ptrace, poll or none [default: ptrace, and none where there is nothing to seat]
    ///
    /// ptrace stops each new thread before its first instruction and gives it its seat; where the system refuses it, exec polls. poll
    /// looks for threads every 1 to 8 ms: for programs that do not work under a tracer, such as debuggers, sanitizers and programs
    /// with another user's rights. none seats no thread: all may run on all seats, and OpenMP is asked to bind its own. With poll and
    /// none, a charz that SIGKILL ends leaves the program running; with none, so are daemons that the program leaves.
    #[arg(long, value_name = "WAY")]
    pub(crate) follow: Option<String>,
    /// Print nothing when the program ends
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The program and its arguments, after -- if they begin with a hyphen
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) program: Vec<OsString>,
}

pub(super) fn exec(args: ExecArgs) -> Result<Options, Error> {
    let mapping: Mapping = args.mapping.parse().map_err(not_a_mapping)?;
    refuse_stacks(std::slice::from_ref(&mapping), args.allow_stack)?;
    let mut words = args.program.into_iter();
    Ok(Options {
        mapping,
        threads: args.threads.map(|text| count("--threads", &text, MOST_MAPPED)).transpose()?,
        near: args.near,
        memory: args.memory.map(|text| memory(&text)).transpose()?,
        skip: args.skip.iter().map(|text| ordinal(text)).collect::<Result<_, _>>()?,
        follow: args
            .follow
            .map(|text| choice("--follow", &text, Follow::ALL.map(|way| (way.name(), way))))
            .transpose()?,
        quiet: args.quiet,
        program: words.next().unwrap_or_default(),
        arguments: words.collect(),
    })
}

fn memory(text: &str) -> Result<MemoryPolicy, Error> {
    match text {
        "interleave" => Ok(MemoryPolicy::Interleaved),
        // First is of workers that share a block.
        text => text.parse().ok().filter(|policy| *policy != MemoryPolicy::First).ok_or_else(|| {
            Error::bad_input(format!("--memory: {text:?} is no policy; there are local, remote, interleave and node:N"))
        }),
    }
}

fn ordinal(text: &str) -> Result<usize, Error> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or_else(|| {
        Error::bad_input(format!(
            "--skip: {text:?} is no thread; count from 0, the program's first, example: --skip 1,2"
        ))
    })
}
