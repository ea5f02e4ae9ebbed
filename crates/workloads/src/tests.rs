//! The laws of kernels, for the workloads.

charz_kernels::laws!(crate::KERNELS);
