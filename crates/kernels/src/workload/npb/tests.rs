//! What holds of each benchmark.

use charz_data::{Class, Family, Params};

use crate::kernel::Kernel;
use crate::tests::{Look, stage_laps};

fn params(class: Class) -> Params {
    Params { class, ..Params::SMALL }
}

/// The kernels of the family.
fn benchmarks() -> impl Iterator<Item = &'static dyn Kernel> {
    crate::kernels().filter(|kernel| kernel.card().family == Family::Workload && kernel.card().name.starts_with("npb-"))
}

/// Whole runs of a class by so many workers, which agree with the NPB.
#[track_caller]
fn check(kernel: &dyn Kernel, class: Class, workers: usize) {
    let stage = kernel.stage(&params(class), workers).unwrap();
    for lap in stage_laps(stage.as_ref(), workers, 1, |_, _| Look::whole(None)).into_iter().flatten() {
        assert_eq!(lap.verdict, Ok(()), "{} {class} x{workers}", kernel.card().name);
    }
}

#[test]
fn answers_of_the_smallest_classes_are_those_of_the_npb() {
    for kernel in benchmarks() {
        check(kernel, Class::S, 1);
        check(kernel, Class::W, 2);
    }
}
