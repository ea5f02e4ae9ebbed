//! What can go wrong, each as one sentence that says what is wrong and what to do.

pub(crate) use charz_data::quote;
use thiserror::Error;

/// Why a question about the machine has no answer.
///
/// The messages start in lower case, end without a dot and repeat foreign text only in escaped form, so they can
/// be printed as they are.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// A topology source is missing, unreadable or not a topology.
    #[error("cannot use {what} as a topology: {reason}")]
    Topology {
        /// The source, already escaped, such as `the file "a.xml"`.
        what: String,
        /// What is wrong with it and what would be right.
        reason: String,
    },
    /// A mapping's text is wrong, or it does not fit the machine.
    #[error("cannot use the mapping {mapping}: {reason}")]
    Mapping {
        /// The mapping as it was given, already escaped.
        mapping: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no mapper of that name.
    #[error("unknown mapping {mapping}; there are {known}")]
    UnknownMapping {
        /// The mapping as it was given, already escaped.
        mapping: String,
        /// The name in it, as it was given.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// It is not known what is near a device.
    #[error("cannot place near {device}: {reason}")]
    Near {
        /// The device as it was given, already escaped.
        device: String,
        /// Why.
        reason: String,
    },
    /// A mapper program failed, hung or answered nonsense.
    #[error("the mapper program {program} {reason}")]
    Command {
        /// The program as it was given, already escaped.
        program: String,
        /// What it did: the rest of the sentence.
        reason: String,
    },
    /// The operating system did not seat a thread, or seating was refused before asking it.
    #[error("cannot seat a thread on CPU {os_id}: {reason}")]
    Seat {
        /// The operating system's id of the strand.
        os_id: u32,
        /// Why.
        reason: String,
    },
    /// The operating system did not agree to put memory where it was asked to.
    #[error("cannot put memory on NUMA node {nodes}: {reason}")]
    PlaceMemory {
        /// The operating system's ids of the nodes, as a list.
        nodes: String,
        /// Why.
        reason: String,
    },
    /// The operating system does not report where a thread is.
    #[error("cannot read back where a thread sits: {reason}")]
    ReadBack {
        /// Why.
        reason: String,
    },
}
