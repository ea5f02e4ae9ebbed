//! What commands ask for that make a sweep of their own and let their users say only a part of it.

use charz_data::Role;

use super::ab::unkept;
use super::convert::FITTING;
use super::parameters::{AmountArgs, ParamArgs};
use super::spelling::{HowArgs, SquareArgs, SweepArgs, WhatArgs};

/// These kernels with blocks of these sizes, and all that is said of a square.
pub(super) fn square(what: WhatArgs, params: ParamArgs, args: SquareArgs) -> SweepArgs {
    let what = WhatArgs { seed: args.seed, wait: args.wait, ..what };
    SweepArgs {
        precision: args.precision,
        strict: args.strict,
        dry_run: args.dry_run,
        output: args.output,
        force: args.force,
        ..unkept(what, how(params), &args.invocations, &args.budget)
    }
}

/// The first kernel in each of these roles.
pub(super) fn kernels(roles: &[Role]) -> Vec<&'static str> {
    let card = |role: &Role| charz_kernels::kernels().map(|kernel| kernel.card()).find(|card| card.role == *role);
    roles.iter().filter_map(card).map(|card| &*card.name).collect()
}

/// These kernels, for as many workers as the command itself finds out.
pub(super) fn what(kernels: &[&str]) -> WhatArgs {
    WhatArgs {
        kernel: kernels.iter().map(|name| (*name).to_owned()).collect(),
        family: Vec::new(),
        threads: "auto".into(),
        amounts: AmountArgs::default(),
        repetitions: "auto".into(),
        seed: None,
        oversubscribe: "1".into(),
        accept_panic: false,
        wait: false,
        clock: "auto".into(),
        binder: "hwloc".into(),
    }
}

/// Blocks of these sizes, and all else as usual.
pub(super) fn how(params: ParamArgs) -> HowArgs {
    HowArgs { mapping: vec![FITTING.into()], params, allow_stack: false }
}
