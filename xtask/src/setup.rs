//! `setup`: the native packages that building and running charz needs.

use crate::failure::{Outcome, no_arguments};
use crate::packages::{self, CC, HWLOC};

/// What building and testing need.
const NEEDS: [packages::Need; 2] = [CC, HWLOC];

/// Checks, and installs what is missing.
pub fn start(arguments: &[String]) -> Outcome {
    no_arguments("setup", arguments)?;
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
