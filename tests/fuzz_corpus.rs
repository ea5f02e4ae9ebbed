//! The fuzz targets over their corpora, which hold what is likely to break a law, and over what once did.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::support::root;

#[path = "../fuzz/src/lib.rs"]
mod fuzz;

/// The most time of a CPU that one input may take, on a build without optimisation. Refusing takes microseconds; what is slower
/// than this is slow because its author wanted that.
const MOST_TIME: Duration = Duration::from_secs(5);

#[track_caller]
fn replay(target: &str, folder: &Path) -> usize {
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("the corpus is there").map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in &files {
        let data = fs::read(file).expect("an input can be read");
        let start = own_time();
        let ran = std::panic::catch_unwind(|| fuzz::run(target, &data));
        assert!(ran.is_ok(), "{} breaks a law, told above", file.display());
        let took = own_time() - start;
        assert!(took < MOST_TIME, "{} took {took:?}", file.display());
    }
    files.len()
}

/// What this thread has had of its CPUs.
fn own_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("it is not negative")
}

#[test]
fn every_target_keeps_its_laws_on_its_corpus() {
    for target in fuzz::TARGETS {
        let inputs = replay(target.name, &root().join("fuzz/corpus").join(target.name));
        assert!(inputs >= 10, "{} has {inputs} inputs, too few to say anything", target.name);
        let regressions = root().join("fuzz/regressions").join(target.name);
        if regressions.is_dir() {
            replay(target.name, &regressions);
        }
    }
}
