//! Machines of any size.

use charz_topology::{Machine, Source, discover};

/// A machine of so many strands, a power of two from 512 on: T3-4s side by side.
pub fn machine(strands: u32) -> Machine {
    let description = format!("Package:{} Core:16 Group:2 PU:4", strands / 128);
    discover(&Source::Synthetic(description)).expect("the description is right")
}
