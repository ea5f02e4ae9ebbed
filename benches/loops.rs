//! What the kernels' loops take, in instructions: a loop that became longer shows here, whatever the machine does meanwhile. A loop
//! that became slower at the same length shows in the bench `kernels`, by the clock.

mod alone;
mod cases;

use cases::{Case, case, keep};
use charz_kernels::{Family, Params, Stop, Watch};

/// Small: an emulator counts them.
const PARAMS: Params = Params { iterations: 4096, size_bytes: 1 << 18, ..Params::SMALL };

fn main() {
    // Workloads take minutes in the emulator, and the floor does nothing.
    let short = |family| !matches!(family, Family::Floor | Family::Workload);
    let cases: Vec<Case> = alone::alone()
        .filter(|kernel| short(kernel.card().family))
        .map(|kernel| {
            case(kernel.card().name.clone(), || {
                let stage = kernel.stage(&PARAMS, 1).expect("the kernel can run here");
                let mut worker = stage.worker(0).expect("there is memory");
                let watch = Watch::new(&Stop::new());
                worker.prepare();
                Box::new(move || keep(worker.run(&watch)))
            })
        })
        .collect();
    cases::run(&cases);
}
