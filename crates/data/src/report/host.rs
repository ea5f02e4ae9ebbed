//! Where a report comes from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The program that measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// Its version.
    pub version: String,
    /// The commit that it was built from, or `unknown`.
    pub commit: String,
    /// The compiler.
    pub rustc: String,
    /// The target triple.
    pub target: String,
    /// The build profile, and the optimisation level of the kernels.
    pub profile: String,
    /// Flags given to the compiler beside the profile's.
    pub rustflags: String,
    /// A hash of the kernels' source code, 16 hexadecimal digits: with the compiler, its flags and the profile it says whether
    /// two programs run the same loops.
    pub kernels: String,
    /// The version of hwloc that read the machine.
    pub hwloc: String,
}

impl Tool {
    /// Whether it was built with optimisation; numbers of other builds are suspect (V24).
    pub fn optimised(&self) -> bool {
        !self.profile.starts_with("debug")
    }
}

/// The system that was measured. Everything that could not be read is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Host {
    /// The host's name; in a job of Slurm the node's.
    pub name: Option<String>,
    /// The node's name as Slurm has it; null or absent outside of its jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slurm_name: Option<String>,
    /// The vendor and the product, by the firmware; of a cloud's guests the type of the instance.
    pub product: Option<String>,
    /// The kernel's name and release.
    pub kernel: Option<String>,
    /// The processor's model.
    pub processor: Option<String>,
    /// The version of its microcode.
    pub microcode: Option<String>,
    /// The version of the machine's firmware.
    pub firmware: Option<String>,
    /// The clock of the processor in hertz, as the system claims it: its nominal frequency where it has one.
    pub claimed_hz: Option<f64>,
    /// Entries for 4 KiB pages in the last level of the TLB for data, or for data and instructions, by CPUID; absent where the processor or
    /// its hypervisor reports none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tlb_4k_entries: Option<u64>,
    /// Entries for 2 MiB pages in the last level that holds such; those of 4 KiB may share them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tlb_2m_entries: Option<u64>,
    /// Whether a hypervisor runs below the system.
    pub virtual_machine: Option<bool>,
    /// What the kernel keeps time by.
    pub clock_source: Option<String>,
    /// The policy of transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// The frequency governor of the first strand.
    pub frequency_governor: Option<String>,
    /// How many nanoseconds longer than requested the system may let a thread wait, to wake several threads at once.
    pub timer_slack_ns: Option<u64>,
    /// Processor quota of the control group, in strands' worth; null if there is none.
    pub cpu_quota: Option<String>,
    /// What was disturbing measurements when the sweep began, one sentence each; `charz doctor` reports more.
    pub disturbances: Vec<String>,
    /// What the user calls it (`--label`), by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// What counts the energy of processor packages, as `package-0, package-1`, or `unavailable: ` and the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<String>,
    /// Memory.
    pub memory: Memory,
}

/// Memory, by `/proc/meminfo` and the control group. hwloc's own figure is not used: it is wrong on some guests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Memory {
    /// Installed.
    pub total_bytes: Option<u64>,
    /// The modules and the speed that they are configured for, as `8 × 32 GiB at 4800 MT/s`, or `unavailable: ` and the reason.
    pub modules: Option<String>,
    /// Available when the sweep began, the control group's limit included.
    pub available_bytes: Option<u64>,
    /// The most that the blocks of one cell may take in all.
    pub budget_bytes: Option<u64>,
}
