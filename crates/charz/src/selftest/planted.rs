//! An injected slowdown of known size.

use std::time::Duration;

use charz_kernels::params;

use crate::invoke::{Invoke, Order};
use charz_data::report::Invocation;

/// Does more work than ordered and reports only what was ordered, so it is slower by a known share on any machine.
pub struct Planted<'a> {
    pub inner: &'a dyn Invoke,
    pub share: f64,
}

impl Planted<'_> {
    fn more(&self, order: &Order) -> Order {
        let grown = |number: u64, step: u64| ((number as f64 * (1.0 + self.share) / step as f64).round() as u64) * step;
        let obeys = |param| charz_kernels::find(&order.kernel).is_some_and(|kernel| kernel.card().obeys(param));
        let mut more = order.clone();
        if obeys(&params::ITERATIONS) {
            more.params.iterations = grown(order.params.iterations, 1);
        } else if obeys(&params::SIZE) {
            more.params.size_bytes = grown(order.params.size_bytes, LINE_BYTES);
        }
        more
    }
}

/// Kernels stream whole cache lines.
const LINE_BYTES: u64 = 64;

impl Invoke for Planted<'_> {
    fn invoke(&self, order: &Order, seed: u64) -> Invocation {
        let more = self.more(order);
        let mut invocation = self.inner.invoke(&more, seed);
        // Only one of the two grew; the other factor is 1.
        let credited = |done: u64| {
            let done = u128::from(done) * u128::from(order.params.iterations) * u128::from(order.params.size_bytes);
            let share = done / (u128::from(more.params.iterations) * u128::from(more.params.size_bytes)).max(1);
            u64::try_from(share).unwrap_or(u64::MAX)
        };
        for lap in invocation.runs.iter_mut().flat_map(|run| &mut run.laps) {
            (lap.ops, lap.bytes) = (credited(lap.ops), credited(lap.bytes));
        }
        invocation
    }

    fn rest(&self, time: Duration) {
        self.inner.rest(time);
    }
}
