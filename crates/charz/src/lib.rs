//! `charz` puts *what* (a kernel) on *where* (a seat), times it, checks it, and tells it.
//!
//! The program is `args` → `command` → {`sweep`, `render`, …} → {`plan`, `harness`, `stats`} → the crates
//! `charz-topology` and `charz-kernels`. Each module says at its top what it knows; what it does not know is the point:
//!
//! * [`report`] is data on disk and knows neither the harness that fills it nor the renderers that read it.
//! * [`harness`] measures one cell and knows nothing of mappings, reports or files.
//! * [`sweep`] measures and prints nothing; it tells a [`sweep::Listener`].
//! * [`page`] decides what is said of reports, as [`figure`]s and sentences, and knows nothing of formats.
//! * [`history`] keeps reports and knows neither who measured them nor who shows them.
//! * [`render`] turns data into text and measures nothing.
//! * Only [`args`] knows how the command line is spelled.

pub mod args;
pub(crate) mod atomic_file;
pub mod command;
pub mod doctor;
pub mod exit;
#[cfg(test)]
mod golden;
pub mod harness;
pub mod history;
pub mod invoke;
pub(crate) mod journal;
pub mod judge;
pub mod limits;
pub(crate) mod lock;
pub(crate) mod noise;
#[doc(hidden)]
pub mod parsers;
pub mod plan;
pub mod predict;
pub mod program;
pub mod selftest;
pub(crate) mod signals;
pub mod sweep;
pub mod view;
