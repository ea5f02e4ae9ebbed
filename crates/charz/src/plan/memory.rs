//! Where workers' memory is put: as reports have it, and as the topology finds it.

use charz_data::report::{MemoryHome, Point};
use charz_topology::MemoryPolicy;

/// The policy of a point.
pub(crate) fn memory_policy(point: &Point) -> MemoryPolicy {
    match point.memory {
        None | Some(MemoryHome::Local) => MemoryPolicy::Local,
        Some(MemoryHome::First) => MemoryPolicy::First,
        Some(MemoryHome::Remote) => MemoryPolicy::Remote,
        Some(MemoryHome::Interleaved) => MemoryPolicy::Interleaved,
        Some(MemoryHome::Node(id)) => MemoryPolicy::Node(id),
    }
}

/// The same for a report.
pub(super) fn home(policy: MemoryPolicy) -> MemoryHome {
    match policy {
        MemoryPolicy::Local => MemoryHome::Local,
        MemoryPolicy::First => MemoryHome::First,
        MemoryPolicy::Remote => MemoryHome::Remote,
        MemoryPolicy::Interleaved => MemoryHome::Interleaved,
        MemoryPolicy::Node(id) => MemoryHome::Node(id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_memory_come_back() {
        for text in ["local", "first", "remote", "interleaved", "node:3"] {
            let policy: MemoryPolicy = text.parse().unwrap();
            assert_eq!(memory_policy(&Point { memory: Some(home(policy)), ..Point::default() }), policy);
        }
    }
}
