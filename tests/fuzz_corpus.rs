//! The fuzz targets over their corpora, which hold what is likely to break a law, and over what once did.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::root;

#[path = "../fuzz/src/lib.rs"]
mod fuzz;

/// The longest that one input may take, on a build without optimisation and a busy machine. Refusing takes microseconds; what
/// is slower than this is slow because its author wanted that.
const MOST_TIME: Duration = Duration::from_secs(5);

#[track_caller]
fn replay(target: &str, folder: &Path) -> usize {
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("the corpus is there").map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in &files {
        let data = fs::read(file).expect("an input can be read");
        let start = Instant::now();
        let ran = std::panic::catch_unwind(|| fuzz::run(target, &data));
        assert!(ran.is_ok(), "{} breaks a law, told above", file.display());
        assert!(start.elapsed() < MOST_TIME, "{} took {:?}", file.display(), start.elapsed());
    }
    files.len()
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
