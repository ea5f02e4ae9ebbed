//! What a report says about the system and the program.

use charz_topology::{CacheHolds, Machine};

use crate::doctor::{self, chosen, under_hypervisor};
use crate::harness::fingerprint::word;
use crate::limits::Limits;
use crate::report::{self, Host, Memory, Tool};

/// How this program was built.
pub fn tool() -> Tool {
    Tool {
        version: env!("CARGO_PKG_VERSION").into(),
        commit: env!("CHARZ_COMMIT").into(),
        rustc: env!("CHARZ_RUSTC").into(),
        target: env!("CHARZ_TARGET").into(),
        profile: env!("CHARZ_PROFILE").into(),
        rustflags: env!("CHARZ_RUSTFLAGS").into(),
        kernels: env!("CHARZ_KERNELS").into(),
        hwloc: charz_topology::hwloc_version(),
    }
}

/// The system that this process runs on.
pub fn host(machine: &Machine, limits: &Limits) -> Host {
    Host {
        name: word("/proc/sys/kernel/hostname"),
        kernel: word("/proc/sys/kernel/ostype")
            .zip(word("/proc/sys/kernel/osrelease"))
            .map(|(system, release)| format!("{system} {release}")),
        processor: machine.packages.iter().find_map(|package| package.model.clone()),
        virtual_machine: under_hypervisor(),
        clock_source: word("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        transparent_huge_pages: word("/sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|choices| chosen(&choices).map(str::to_owned)),
        frequency_governor: word("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        cpu_quota: machine.usable.quota_cpus.map(|cpus| format!("{cpus:.2}")),
        disturbances: doctor::disturbances().iter().map(|found| format!("{}: {}", found.name, found.read)).collect(),
        memory: Memory {
            total_bytes: limits.memory_total_bytes,
            available_bytes: limits.memory_available_bytes,
            budget_bytes: limits.memory_budget_bytes,
        },
    }
}

/// The strands, as far as a reader of the numbers needs them.
pub fn machine(machine: &Machine) -> report::Machine {
    report::Machine {
        packages: machine.packages.len() as u64,
        numa_nodes: machine.numa_nodes.len() as u64,
        cores: machine.cores.len() as u64,
        alu_evidence: machine.alu.to_string(),
        strands: machine
            .strands
            .iter()
            .map(|strand| report::Strand {
                os_id: strand.os_id,
                package: strand.package,
                numa: strand.numa,
                core: strand.core,
                cache: outermost(machine, strand),
                alu: strand.alu,
                slot: strand.slot,
                kind: strand.kind,
                usable: strand.usable,
            })
            .collect(),
    }
}

/// The outermost cache for data of a strand: any that it shares lies within that.
fn outermost(machine: &Machine, strand: &charz_topology::Strand) -> Option<u32> {
    let holds_data =
        |cache: &&u32| machine.caches.get(**cache as usize).is_some_and(|cache| cache.holds != CacheHolds::Instruction);
    strand.caches.iter().rev().find(holds_data).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_a_kernel() {
        let machine = charz_topology::discover(&charz_topology::Source::ThisMachine).unwrap();
        let host = host(&machine, &Limits::read());
        assert!(host.kernel.is_some_and(|kernel| kernel.starts_with("Linux ")), "/proc names the kernel");
        assert_eq!(super::machine(&machine).strands.len(), machine.strands.len());
    }
}
