#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod bind;
mod discover;
mod error;
mod mapper;
mod memory;
mod modes;
mod near;
#[doc(hidden)]
pub mod parsers;
mod placement;
mod usable;

pub use bind::{Backend, Binder, Seating, Seats, hwloc_version};
pub use charz_data::cpulist;
pub use charz_data::distance::{Access, Distance};
pub use charz_data::machine::{
    AluSource, Cache, CacheHolds, Core, Device, DeviceKind, Group, Info, Kind, Machine, MemoryTier, NumaNode, Package,
    Strand, Usable,
};
pub use discover::describe::machine_xml;
pub use discover::export::export_xml;
pub use discover::{Source, discover};
pub use error::Error;
pub use mapper::{
    ALIASES, MAPPERS, Mapper, MapperCard, Mapping, NotAdded, Order, ReadMapper, add, mappers, pair_mappings,
    parse_mappings,
};
pub use memory::memory_homes;
pub use modes::modes;
pub use near::Near;
pub use placement::{Placement, place};
pub use usable::Present;
