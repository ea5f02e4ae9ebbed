//! Where things are: the strands of a machine, in which order to fill them, and how to sit on one.
//!
//! The story in five steps:
//!
//! 1. [`discover`] turns a [`Source`] (this machine, a file of hwloc XML, a synthetic description) into a [`Machine`],
//!    plain data that says for each [`Strand`] its package, NUMA node, core, ALU group and slot, and whether this
//!    process may use it.
//! 2. A [`Mapping`] such as `round-robin` or `list:0,8` is read from text; [`mappers`] lists them, and a program can [`add`] its own.
//! 3. [`Mapping::order`] says in which [`Order`] workers fill the usable strands, however irregular the machine.
//! 4. [`place`] deals any number of workers along the order, and starts over where it ends: a [`Placement`].
//! 5. Each worker's thread takes its seat by a [`Binder`] and reads back where the operating system has put it.
//!
//! The crate knows nothing of what workers do, of time, or of reports. It contains no unsafe code.
#![forbid(unsafe_code)]

mod alu;
mod bind;
pub mod cgroup;
mod discover;
mod error;
mod mapper;
mod memory;
#[doc(hidden)]
pub mod parsers;
mod placement;
mod usable;

pub use bind::{Backend, Binder, Seating, Seats, hwloc_version};
pub use charz_data::cpulist;
pub use charz_data::distance::{Access, Distance};
pub use charz_data::machine::{
    AluSource, Cache, CacheHolds, Core, Group, Info, Kind, Machine, NumaNode, Package, Strand, Usable,
};
pub use discover::export::export_xml;
pub use discover::{Source, discover, discover_timed};
pub use error::Error;
pub use mapper::{
    MAPPERS, Mapper, MapperCard, Mapping, NotAdded, Order, ReadMapper, add, mappers, pair_mappings, parse_mappings,
};
pub use memory::MemoryPolicy;
pub use placement::{Placement, place};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
