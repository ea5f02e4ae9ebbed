//! What the harness takes: a cell of the kernel that does nothing. Timed as it measures; counted with a gate that sleeps, since a worker
//! that spins takes as many instructions as it waits for.

use std::time::Instant;

use charz_benches::cases::{Case, case, keep, timed};
use charz_benches::cells::Cells;
use charz_kernels::Params;

const PARAMS: Params = Params { iterations: 1, ..Params::SMALL };

fn main() {
    let kernel = || charz_workloads::find("noop").expect("it is in the catalog");
    let timed = |workers| {
        timed(format!("harness/{workers}"), move || {
            let cells = Cells::here();
            Box::new(move |times| {
                let start = Instant::now();
                (0..times).for_each(|_| keep(cells.whole(kernel(), PARAMS, workers, true)));
                start.elapsed()
            })
        })
    };
    let counted = case("harness/asleep", move || {
        let cells = Cells::here();
        Box::new(move || keep(cells.whole(kernel(), PARAMS, 1, false)))
    });
    charz_benches::cases::run(&[timed(1), timed(2), counted].into_iter().collect::<Vec<Case>>());
}
