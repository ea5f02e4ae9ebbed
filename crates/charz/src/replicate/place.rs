//! What of a machine decides which of a document's cells make sense on it.

use charz_data::machine::Machine;

use super::count::What;
use super::data::Need;

/// How many there are of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Usable strands.
    pub strands: u64,
    /// Cores with usable strands.
    pub cores: u64,
    /// Packages with usable strands.
    pub packages: u64,
    /// NUMA nodes with usable strands.
    pub nodes: u64,
}

impl Place {
    /// Those of a machine.
    pub fn of(machine: &Machine) -> Place {
        let usable = || machine.usable_strands();
        // What nobody knows is one.
        let distinct = |mut ids: Vec<u32>| {
            ids.sort_unstable();
            ids.dedup();
            ids.len().max(1) as u64
        };
        Place {
            strands: usable().count() as u64,
            cores: distinct(usable().filter_map(|strand| strand.core).collect()),
            packages: distinct(usable().filter_map(|strand| strand.package).collect()),
            nodes: distinct(usable().filter_map(|strand| strand.numa).collect()),
        }
    }

    /// How many there are.
    pub(super) fn count(&self, what: What) -> u64 {
        match what {
            What::Strands => self.strands,
            What::Cores => self.cores,
            What::Packages => self.packages,
            What::Core => (self.strands / self.cores.max(1)).max(1),
        }
    }

    /// Why a claim that needs this cannot be seen here, as a clause; `None` if it can.
    pub(super) fn lacks(&self, need: Need) -> Option<&'static str> {
        match need {
            Need::Packages if self.packages < 2 => Some("this machine has one package"),
            Need::Nodes if self.nodes < 2 => Some("this machine has one NUMA node"),
            Need::SharedCores if self.strands <= self.cores => Some("no core here has two strands"),
            _ => None,
        }
    }
}
