#![doc = include_str!("../README.md")]
#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::disallowed_methods))] // A test may panic.

mod asked;
mod cost;
mod crew;
mod files;
mod launch;
mod left;
mod observe;
mod polled;
mod program;
mod reading;
mod ready;
mod relay;
pub mod runtimes;
mod seats;
mod sleep;
mod spawn;
mod sys;
mod traced;

pub use charz_data::Follow;
pub use cost::stop_cost;
pub use crew::{Crew, Event, Stream};
pub use files::allow_files;
pub use launch::{Ended, Error, Following, Id, Launch, MAX_THREADS, Streams, Thread};
pub use left::{Children, Left, adopt_orphans};
pub use observe::own_allowed;
pub use relay::{Arrived, Relay};
pub use sys::environment::prepare_hwloc;
