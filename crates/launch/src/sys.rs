//! Every `unsafe` of the crate, each behind a safe interface: calls of Linux that neither the standard library nor rustix has.
#![allow(unsafe_code)]

pub mod affinity;
pub mod environment;
pub mod gate;
pub mod memory;
pub mod notify;
pub mod signals;
pub mod tether;
pub mod trace;
pub mod wait;
