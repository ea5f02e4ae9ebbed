//! The kernels that one worker measures by its work alone.

use charz_kernels::params::{SAMPLES, SPAN};
use charz_kernels::{Family, Kernel};

/// A kernel that cannot run on this machine has no time to measure; one whose workers meet has none by itself, one that does
/// what it can in a given time has that time, and what the system is measured by is made anew before each run.
pub fn alone() -> impl Iterator<Item = &'static dyn Kernel> {
    charz_workloads::kernels().filter(|kernel| {
        let card = kernel.card();
        let by_work = !card.obeys(&SPAN) && !card.obeys(&SAMPLES);
        card.family != Family::Sync && by_work && !card.blocks_in_kernel && kernel.check().is_ok()
    })
}
