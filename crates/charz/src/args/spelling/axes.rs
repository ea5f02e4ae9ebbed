//! What of a cell's memory can be varied.

use clap::Args;

#[derive(Clone, Debug, Args)]
pub(crate) struct AxesArgs {
    /// Sizes of a worker's private block in memory kernels: auto, levels, curve, or multiples of 64 bytes such as 32KiB,256MiB
    ///
    /// levels is one size inside each level of caches, for workers on all strands at once, and for memory 256 MiB, or four times the last cache if that is more; curve goes from
    /// 4 KiB to four times the last cache in steps of the square root of two. auto takes what a kernel is about: 256 MiB for those
    /// of memory. A cell whose blocks would take more than half of the available memory is skipped, with the reason in the
    /// report.
    #[arg(long, value_name = "SIZE,…", default_value = "auto", allow_hyphen_values = true)]
    pub(crate) size: String,
    /// Pages of the blocks: auto, or a list of 4k, thp (transparent huge pages), 2m and 1g (reserved); the report says what was obtained
    ///
    /// auto is thp, and 4k beside it where a kernel is about the difference.
    #[arg(long, value_name = "KIND,…", default_value = "auto")]
    pub(crate) pages: String,
    /// Bytes from one place of a block that a load may read to the next, in kernels that chase: auto, or multiples of 64
    #[arg(long, value_name = "N,…", default_value = "auto", allow_hyphen_values = true)]
    pub(crate) stride: String,
    /// Chains of loads that a worker follows at once, in kernels that chase several: auto, or numbers from 1 to 16
    #[arg(long, value_name = "N,…", default_value = "auto", allow_hyphen_values = true)]
    pub(crate) chains: String,
    /// Steps of about a nanosecond between two portions of load, in kernels that load the memory: auto, or numbers
    #[arg(long, value_name = "N,…", default_value = "auto", allow_hyphen_values = true)]
    pub(crate) delay: String,
    /// Where the blocks are put: auto, or a list of local, first, remote, interleaved and node:N; the report says where they were
    ///
    /// auto is local: each worker's own NUMA node, by its own touch; first the first worker's, for all; remote the farthest from each
    /// worker; interleaved all nodes in turn, page by page; node:N the one with this id. A cell that has no such place on this
    /// machine is skipped.
    #[arg(long, value_name = "PLACE,…", default_value = "auto")]
    pub(crate) memory: String,
}

impl AxesArgs {
    /// What a kernel varies by itself, in blocks of this size.
    pub(crate) fn with_size(size: impl Into<String>) -> Self {
        let auto = || "auto".to_owned();
        AxesArgs { size: size.into(), pages: auto(), stride: auto(), chains: auto(), delay: auto(), memory: auto() }
    }
}
