//! What of a machine and of the kernels decides which cells of a document make sense.

use std::collections::BTreeSet;

use super::cell::CellSpec;
use super::document::Requirement;
use charz_data::machine::{Machine, Strand};

/// Whether a kernel runs with this number of workers; why not, as a clause.
pub type Admits = fn(kernel: &str, workers: u64) -> Result<(), String>;

/// A machine to replicate a document on. Cores, packages and nodes count if a strand of theirs is usable.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Usable strands.
    pub strands: u64,
    pub cores: u64,
    pub packages: u64,
    pub nodes: u64,
    pub admits: Admits,
}

impl Target {
    pub fn new(machine: &Machine, admits: Admits) -> Target {
        let usable = || machine.usable_strands();
        // An unknown number is 1.
        let distinct =
            |of: fn(&Strand) -> Option<u32>| usable().filter_map(of).collect::<BTreeSet<_>>().len().max(1) as u64;
        Target {
            strands: usable().count() as u64,
            cores: distinct(|strand| strand.core),
            packages: distinct(|strand| strand.package),
            nodes: distinct(|strand| strand.numa),
            admits,
        }
    }

    /// The documents went beyond the strands of their machines, and so does a replication, up to twice the strands.
    pub fn max_workers(&self) -> u64 {
        2 * self.strands.max(1)
    }

    /// Whether all kernels of a cell run with this number of workers.
    pub(super) fn runs(&self, spec: &CellSpec, workers: u64) -> Result<(), String> {
        spec.kernels().try_for_each(|kernel| (self.admits)(kernel, workers))
    }

    pub(super) fn check(&self, requirement: Option<Requirement>) -> Result<(), String> {
        match requirement {
            Some(Requirement::Packages) if self.packages < 2 => Err("this machine has one package".into()),
            Some(Requirement::Nodes) if self.nodes < 2 => Err("this machine has one NUMA node".into()),
            Some(Requirement::SharedCores) if self.strands <= self.cores => {
                Err("no core of this machine has two usable strands".into())
            }
            _ => Ok(()),
        }
    }
}
