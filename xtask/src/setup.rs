//! `setup`: the native packages that building and running charz needs.

use crate::arguments;
use crate::failure::Outcome;
use crate::packages::{self, CC, HWLOC};

const NEEDS: [packages::Need; 2] = [CC, HWLOC];

pub fn start(words: &[String]) -> Outcome {
    arguments::none("setup", words)?;
    if packages::ensure(&NEEDS)? {
        eprintln!("setup: everything is there now");
    } else {
        eprintln!("setup: nothing is missing");
    }
    Ok(())
}

/// The same without a word when nothing is missing, for the tasks that begin with it.
pub fn quietly() -> Outcome {
    packages::ensure(&NEEDS).map(|_| ())
}
