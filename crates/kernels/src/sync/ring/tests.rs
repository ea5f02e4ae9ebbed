use charz_data::Params;

use super::*;
use crate::kernel::Kernel;
use crate::sys::ring::LAPS;
use crate::tests::{Look, stage_laps};

/// A token that goes round makes as many hops at each worker, give or take the lap in which the ring ended; each lap but the
/// first is noted.
#[track_caller]
fn check_goes_round(among_processes: bool, per_process: u64, numbers: [usize; 3]) {
    let among = |kernel: &&&dyn Kernel| kernel.card().name.ends_with("-processes") == among_processes;
    // Locks that belong to a process (lockf) let two threads of one pass.
    let obeys = |kernel: &&&dyn Kernel| per_process == 1 || kernel.card().obeys(&PER_PROCESS);
    for kernel in KERNELS.iter().filter(among).filter(obeys) {
        let name = &*kernel.card().name;
        for workers in numbers {
            let params = Params { span_ns: 5_000_000, per_process, ..Params::SMALL };
            let stage = kernel.stage(&params, workers).unwrap();
            let told = stage_laps(stage.as_ref(), workers, 2, |_, _| Look::whole(stage.span()));
            for run in 0..2 {
                let laps = || told.iter().map(|laps| &laps[run]);
                assert!(laps().all(|lap| lap.verdict == Ok(())), "{name} x{workers}: {told:?}");
                let hops: Vec<u64> = laps().map(|lap| lap.work.ops.0).collect();
                assert!(hops.iter().max().unwrap() - hops.iter().min().unwrap() <= 1, "{name} x{workers}: {hops:?}");
                let noted: u64 = laps().filter_map(|lap| lap.samples.as_ref()).map(|samples| samples.count).sum();
                assert!(noted.abs_diff(hops[0].min(LAPS as u64)) <= 1, "{name} x{workers}: {noted} laps");
            }
        }
    }
}

#[test]
fn the_token_goes_round() {
    check_goes_round(false, 1, [2, 3, 16]);
}

#[test]
fn the_token_goes_round_among_processes() {
    check_goes_round(true, 1, [2, 3, 16]);
}

#[test]
fn the_token_goes_round_among_processes_of_several_threads() {
    check_goes_round(true, 2, [2, 4, 16]);
    check_goes_round(true, 4, [4, 8, 16]);
}

#[test]
fn workers_are_a_multiple_of_the_threads_of_a_process() {
    let stages = KERNELS.iter().filter(|kernel| kernel.card().obeys(&PER_PROCESS)).map(|kernel| {
        let at = |per_process, workers| kernel.stage(&Params { per_process, ..Params::SMALL }, workers).map(drop);
        (at(2, 6), at(2, 3), at(0, 2), at(4, 2))
    });
    let others = KERNELS.iter().filter(|kernel| !kernel.card().obeys(&PER_PROCESS));
    for kernel in others {
        assert_eq!(kernel.fits(&Params { per_process: 2, ..Params::SMALL }, 3), Ok(()), "{}", kernel.card().name);
    }
    for (fits, too_few, none, more) in stages {
        assert_eq!(fits, Ok(()));
        assert!([too_few, none, more].iter().all(|refused| matches!(refused, Err(Error::Unavailable(_)))));
    }
}

/// A gate that closes after the preparation leaves locks taken.
#[test]
fn a_preparation_without_a_run_is_undone() {
    for kernel in KERNELS {
        let stage = kernel.stage(&Params::SMALL, 2).unwrap();
        // Processes are killed together with what they hold, so no second crew can follow.
        let crews = if kernel.card().name.ends_with("-processes") { 1 } else { 2 };
        for _ in 0..crews {
            let mut workers = [stage.worker(0).unwrap(), stage.worker(1).unwrap()];
            workers.iter_mut().for_each(|worker| worker.prepare());
        }
    }
}
