//! Why something cannot be planned.

use charz_topology::Error;

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("--memory: {0}")]
    Memory(String),
    #[error("--size: one thread would need {needed}, and the machine has {memory} of memory; example: --size 16MiB")]
    Size { needed: String, memory: String },
    #[error("--threads: {workers} threads are more than the {at_most} that are safe here ({because}); ask for fewer")]
    Threads { workers: usize, at_most: usize, because: String },
    /// The kernel of a cell that is listed by name.
    #[error("there is no kernel {0:?}")]
    Kernel(String),
    #[error(transparent)]
    Mapping(#[from] Error),
}
