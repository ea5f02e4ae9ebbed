//! Whether samples began when they were due: V32.

use charz_kernels::params;

use super::case::{Case, total};
use super::raise;
use charz_data::checks::V32;
use charz_data::report::Mark;
use charz_data::units;

pub(super) fn marks(case: &Case<'_>) -> Vec<Option<Mark>> {
    if !case.obeys(&params::PERIOD) {
        return Vec::new();
    }
    let met = || case.clean_runs().flat_map(|run| &run.laps).filter_map(|lap| lap.contention);
    let samples = total(met().map(|met| met.attempts));
    let late = total(met().map(|met| met.waits)) as f64 / samples.max(1) as f64;
    vec![raise(&V32, late, || {
        format!("{} of the samples began late, since those before them took so long", units::percent(late))
    })]
}
