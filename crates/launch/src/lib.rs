#![doc = include_str!("../README.md")]
#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::disallowed_methods))] // A test may panic.

mod crew;
mod files;
mod launch;
mod left;
mod observe;
mod polled;
mod program;
mod reading;
mod relay;
pub mod runtimes;
mod seats;
mod spawn;
mod sys;
mod traced;

pub use crew::{Crew, Event, Stream};
pub use files::allow_files;
pub use launch::{Ended, Error, Follow, Following, Id, Launch, MAX_THREADS, Streams, Thread};
pub use left::{Left, adopt_orphans, kill_left_by};
pub use observe::own_allowed;
pub use relay::{Arrived, Relay};
