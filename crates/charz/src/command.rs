//! What the program can do: one module a subcommand. A command takes values and a place to print to; it knows nothing of
//! flags.

pub mod ab;
pub mod c2c;
pub mod compare;
pub mod docs;
pub mod doctor;
pub mod explain;
pub mod history;
pub mod kernels;
pub mod map;
pub mod numa;
pub mod render;
pub mod replicate;
pub mod selftest;
pub mod sweep;
pub mod topo;

use std::io::Write;

use crate::exit::{Error, Exit};
use crate::invoke;

pub enum Command {
    Topo(Box<topo::Options>),
    Map(map::Options),
    Kernels(kernels::Options),
    Sweep(Box<sweep::Options>),
    CoreToCore(Box<c2c::Options>),
    Numa(Box<numa::Options>),
    Ab(Box<ab::Options>),
    Selftest(Box<selftest::Options>),
    Replicate(Box<replicate::Options>),
    Render(render::Options),
    Compare(compare::Options),
    History(Box<history::Options>),
    Doctor(doctor::Options),
    Explain(explain::Options),
    Docs(docs::Options),
    Measure,
    /// Say how this program was built, for another that would have it measure.
    About,
}

impl Command {
    pub fn run(self, out: &mut dyn Write) -> Result<Exit, Error> {
        match self {
            Command::Topo(options) => topo::run(*options, out),
            Command::Map(options) => map::run(&options, out),
            Command::Kernels(options) => kernels::run(&options, out),
            Command::Sweep(options) => sweep::run(*options, out),
            Command::CoreToCore(options) => c2c::run(*options, out),
            Command::Numa(options) => numa::run(*options, out),
            Command::Ab(options) => ab::run(*options, out),
            Command::Selftest(options) => selftest::run(&options, out),
            Command::Replicate(options) => replicate::run(*options, out),
            Command::Render(options) => render::run(&options, out),
            Command::Compare(options) => compare::run(&options, out),
            Command::History(options) => history::run(*options, out),
            Command::Doctor(options) => doctor::run(&options, out),
            Command::Explain(options) => explain::run(&options, out),
            Command::Docs(options) => docs::run(&options, out),
            Command::About => about(out),
            Command::Measure => invoke::serve(out).map(|()| Exit::Done).map_err(Error::from),
        }
    }
}

fn about(out: &mut dyn Write) -> Result<Exit, Error> {
    serde_json::to_writer(&mut *out, &crate::sweep::tool()).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(Exit::Done)
}
