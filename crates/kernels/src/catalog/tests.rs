//! The laws of the built-in kernels, and what is known of some of them.

use charz_data::{PageKind, Params, Work};

use super::*;
use crate::kernel::Error;
use crate::laws::{PARAMS, check_refused};

crate::laws!(kernels().collect::<Vec<_>>());

#[test]
fn each_is_found_by_its_name_and_few_run_by_default() {
    for kernel in kernels() {
        assert!(find(&kernel.card().name).is_some_and(|found| found.card().name == kernel.card().name));
    }
    assert!(find("mem").is_none());
    let by_default: Vec<_> = kernels().map(Kernel::card).filter(|card| card.by_default).collect();
    let names: Vec<_> = by_default.iter().map(|card| &*card.name).collect();
    assert_eq!(names, ["arith-int", "arith-float", "mem-read", "mem-write-data"]);
}

#[test]
fn arithmetic_counts_eight_a_step() {
    for (name, chains) in [("arith-int", 1), ("arith-float", 1), ("arith-int-ilp", 6), ("arith-float-ilp", 12)] {
        let work = find(name).unwrap().stage(&PARAMS, 1).unwrap().work();
        assert_eq!(work, Work::ops(8 * chains * PARAMS.iterations), "{name}");
    }
}

#[test]
fn a_write_has_traffic_of_its_own() {
    let of = |name| find(name).unwrap().traffic();
    assert_eq!([of("mem-read"), of("mem-write-data")], [1.0, 2.0].map(Some));
}

#[test]
fn too_little_or_too_much_is_refused() {
    for name in ["arith-int", "arith-float", "peak-int", "peak-float"] {
        check_refused(
            find(name).unwrap(),
            1,
            Params { iterations: u64::MAX, ..PARAMS },
            "iterations, not 18446744073709551615",
        );
    }
    let size = |bytes| Params { size_bytes: bytes, ..PARAMS };
    check_refused(find("mem-read").unwrap(), 1, size(0), "at least 256 bytes");
    check_refused(find("mem-read-streams").unwrap(), 1, size(2047), "at least 2048 bytes");
    check_refused(find("mem-write").unwrap(), 1, size(63), "at least 64 bytes");
    check_refused(find("mem-copy").unwrap(), 1, size(127), "at least 128 bytes");
    check_refused(find("mem-scale").unwrap(), 1, size(127), "at least 128 bytes");
    check_refused(find("mem-add").unwrap(), 1, size(191), "at least 192 bytes");
    check_refused(find("mem-triad").unwrap(), 1, size(191), "at least 192 bytes");
}

#[test]
fn more_memory_than_any_machine_has_is_refused() {
    for pages in PageKind::ALL {
        let params = Params { size_bytes: 1 << 60, pages, ..PARAMS };
        let stage = find("mem-read").unwrap().stage(&params, 1).unwrap();
        match stage.worker(0).err() {
            Some(Error::Refused(reason)) => assert!(reason.contains("ask for"), "{reason}"),
            other => panic!("{pages}: {other:?}"),
        }
    }
}
