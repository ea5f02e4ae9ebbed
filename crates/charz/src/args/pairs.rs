//! What `charz c2c` is asked for, in terms of the sweep that it makes.

use charz_topology::cpulist;

use super::convert::{choice, sweep};
use super::layers::Layers;
use super::spelling::{AxesArgs, C2cArgs, WhatArgs};
use super::usual;
use crate::command::c2c;
use crate::exit::Error;
use charz_render::formats::MEASURED;

/// The ways to hand over a line; each has a kernel, with [`PREFIX`] before its name.
const MODES: [&str; 4] = ["read-write", "cas", "fetch-add", "exchange"];
const PREFIX: &str = "c2c-";

/// Repetitions in each invocation: they are short, so that few of them are interrupted.
const REPETITIONS: &str = "5";

pub(super) fn c2c(args: C2cArgs, layers: &Layers, notes: &mut Vec<String>) -> Result<c2c::Options, Error> {
    let kernel = |mode: &String| {
        let mode = choice("--mode", mode, MODES.map(|mode| (mode, mode)))?;
        Ok(format!("{PREFIX}{mode}"))
    };
    let kernels = args.mode.iter().map(kernel).collect::<Result<Vec<_>, Error>>()?;
    let strands = args.strands.as_deref().map(|text| {
        cpulist::parse(text).map_err(|what| Error::bad_input(format!("--strands: {what}; example: --strands 0-3,8")))
    });
    let kernels: Vec<&str> = kernels.iter().map(String::as_str).collect();
    // As many iterations as it takes turns out when the machine is known, as the pairs do.
    let what = WhatArgs {
        threads: "2".into(),
        repetitions: REPETITIONS.into(),
        clock: args.clock,
        binder: args.binder,
        ..usual::what(&kernels)
    };
    let asked = usual::square(what, AxesArgs::with_size("auto"), args.square);
    Ok(c2c::Options {
        new: sweep(asked, layers, notes)?,
        strands: strands.transpose()?,
        all_pairs: args.all_pairs,
        format: choice("--format", &args.format, MEASURED.into_iter().map(|format| (format.name, format)))?,
    })
}
