//! What the program can do: one module a subcommand. A command takes values and a place to print to; it knows nothing of
//! flags.

pub mod docs;
pub mod kernels;
pub mod map;
pub mod render;
pub mod sweep;
pub mod topo;

use std::io::Write;

use crate::exit::{Error, Exit};

/// Something to do.
pub enum Command {
    /// Show a machine.
    Topo(topo::Options),
    /// Show a placement.
    Map(map::Options),
    /// List the kernels.
    Kernels(kernels::Options),
    /// Measure.
    Sweep(Box<sweep::Options>),
    /// Show a report.
    Render(render::Options),
    /// Print a generated page.
    Docs(docs::Options),
}

impl Command {
    /// Does it, printing results to `out`.
    ///
    /// # Errors
    /// One sentence, with the exit code that goes with it.
    pub fn run(self, out: &mut dyn Write) -> Result<Exit, Error> {
        match self {
            Command::Topo(options) => topo::run(&options, out),
            Command::Map(options) => map::run(&options, out),
            Command::Kernels(options) => kernels::run(&options, out),
            Command::Sweep(options) => sweep::run(*options, out),
            Command::Render(options) => render::run(&options, out),
            Command::Docs(options) => docs::run(&options, out),
        }
    }
}
