//! What `charz c2c` is asked for, in terms of the sweep that it makes.

use charz_data::card::LineOperation;
use charz_data::{Role, cpulist};

use super::convert::{choice, sweep};
use super::layers::Layers;
use super::parameters::ParamArgs;
use super::spelling::{C2cArgs, WhatArgs};
use super::usual;
use crate::command::c2c;
use crate::exit::Error;
use charz_render::formats::MEASURED;

/// Repetitions in each invocation: they are short, so that few of them are interrupted.
const REPETITIONS: &str = "5";

pub(super) fn c2c(args: C2cArgs, layers: &Layers, notes: &mut Vec<String>) -> Result<c2c::Options, Error> {
    let modes = LineOperation::ALL.map(|operation| (operation.name(), Role::LineTransfer(operation)));
    let role = |mode: &String| choice("--mode", mode, modes.clone());
    let roles = args.mode.iter().map(role).collect::<Result<Vec<_>, Error>>()?;
    let strands = args.strands.as_deref().map(|text| {
        cpulist::parse(text).map_err(|what| Error::bad_input(format!("--strands: {what}; example: --strands 0-3,8")))
    });
    // As many iterations as it takes turns out when the machine is known, as the pairs do.
    let what = WhatArgs {
        threads: "2".into(),
        repetitions: REPETITIONS.into(),
        clock: args.clock,
        binder: args.binder,
        ..usual::what(&usual::kernels(&roles))
    };
    let asked = usual::square(what, ParamArgs::default(), args.square);
    Ok(c2c::Options {
        new: sweep(asked, layers, notes)?,
        strands: strands.transpose()?,
        all_pairs: args.all_pairs,
        format: choice("--format", &args.format, MEASURED.into_iter().map(|format| (format.name, format)))?,
    })
}
