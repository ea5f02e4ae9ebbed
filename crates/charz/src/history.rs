//! The database file that keeps the reports of a machine.

mod store;

pub use store::Store;
