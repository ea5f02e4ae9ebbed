//! What `charz numa` and `charz topo` are asked for, in terms of the sweeps that they make.

use charz_topology::Source;

use super::ab::unkept;
use super::convert::{choice, source, sweep};
use super::layers::Layers;
use super::parameters::{AmountArgs, ParamArgs};
use super::spelling::{NumaArgs, TopoArgs, WhatArgs};
use super::usual;
use crate::command::{numa, topo};
use crate::exit::Error;
use crate::plan::AskedSizes;
use crate::view::topo as topo_page;
use charz_data::card::{Access, Chase};
use charz_data::{Role, params};
use charz_render::formats::{CSV, JSON, MEASURED};
use charz_render::picture::{png, svg};
use charz_render::report::CARD;

pub(super) fn numa(args: NumaArgs, layers: &Layers, notes: &mut Vec<String>) -> Result<numa::Options, Error> {
    const ROLES: [Role; 2] = [Role::Latency(Chase::Random), Role::MemoryBandwidth(Access::Read)];
    let axes = ParamArgs::default().with(&params::PAGES, args.pages).with(&params::SIZE, args.size);
    let new = sweep(usual::square(usual::what(&usual::kernels(&ROLES)), axes, args.square), layers, notes)?;
    match &new.request.asked.sizes {
        Some(AskedSizes::List(list)) if list.len() == 1 => {}
        _ => return Err(Error::bad_input("--size: name one size; example: --size 256MiB")),
    }
    Ok(numa::Options {
        new,
        format: choice("--format", &args.format, MEASURED.into_iter().map(|format| (format.name, format)))?,
    })
}

/// What is measured for a card: the curve of latencies, and the bandwidths of each level.
const CARD_ROLES: [Role; 4] = [
    Role::Latency(Chase::Random),
    Role::LevelBandwidth(Access::Read),
    Role::LevelBandwidth(Access::Write),
    Role::LevelBandwidth(Access::Copy),
];

/// Invocations of each of its cells: there are many, and a minute for all.
const CARD_INVOCATIONS: &str = "2-6";

/// Repetitions in each, and how long they last: on a busy machine few of those that are short are interrupted, and the best of many
/// counts.
const CARD_REPETITIONS: &str = "10";
const CARD_SPAN: &str = "3ms";

pub(super) fn topo(args: TopoArgs, layers: &Layers, notes: &mut Vec<String>) -> Result<topo::Options, Error> {
    let source = source(&args.source.topology);
    let Some(measured) = args.measured else {
        let Some(format) = args.format.as_deref() else { return Ok(topo::Options::Said { source, format: None }) };
        let said =
            |format: &'static topo_page::Format| topo::Options::Said { source: source.clone(), format: Some(format) };
        let picture = |write, is_text| topo::Options::Picture { source: source.clone(), write, is_text };
        let others = [
            ("xml", topo::Options::Xml { source: source.clone(), measured: None }),
            ("svg", picture(svg as _, true)),
            ("png", picture(png as _, false)),
        ];
        return choice(
            "--format",
            format,
            topo_page::FORMATS.iter().map(|format| (format.name, said(format))).chain(others),
        );
    };
    let formats = [CARD, CSV, JSON, topo::XML].map(|format| (format.name, format));
    let format = choice("--format", args.format.as_deref().unwrap_or("table"), formats)?;
    match measured {
        Some(measured) if format.name == topo::XML.name => Ok(topo::Options::Xml { source, measured: Some(measured) }),
        _ if source != Source::ThisMachine => Err(Error::bad_input(
            "--topology: a card is of the machine that was measured; beside --measured REPORT it is for --format xml only",
        )),
        Some(measured) => Ok(topo::Options::Card { measured, format }),
        None => {
            let axes = ParamArgs::default();
            let kernels = WhatArgs {
                repetitions: CARD_REPETITIONS.into(),
                amounts: AmountArgs::default().with(&params::SPAN, CARD_SPAN),
                wait: args.wait,
                ..usual::what(&usual::kernels(&CARD_ROLES))
            };
            let mut asked = unkept(kernels, usual::how(axes), CARD_INVOCATIONS, &args.budget);
            (asked.output, asked.force) = (args.output, args.force);
            Ok(topo::Options::Measure { new: Box::new(sweep(asked, layers, notes)?), format })
        }
    }
}
