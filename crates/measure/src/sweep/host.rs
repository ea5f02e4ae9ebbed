//! What a report says about the system and the program.

use std::collections::BTreeMap;

use charz_system::file::{CLOCK_SOURCE, number, word};
use charz_system::{cpuinfo, dmi, energy};
use charz_topology::Machine;

use crate::doctor::{self, chosen, under_hypervisor};
use crate::limits::Limits;
use charz_data::report::{Host, Memory};

pub fn host(machine: &Machine, limits: &Limits) -> Host {
    let cpuinfo = cpuinfo::read();
    #[cfg(target_arch = "x86_64")]
    let [tlb_4k_entries, tlb_2m_entries] = charz_kernels::cpu::tlb_entries();
    #[cfg(not(target_arch = "x86_64"))]
    let [tlb_4k_entries, tlb_2m_entries] = [None; 2];
    Host {
        name: node(),
        slurm_name: slurm_name(),
        product: dmi::product(),
        kernel: word("/proc/sys/kernel/ostype")
            .zip(word("/proc/sys/kernel/osrelease"))
            .map(|(system, release)| format!("{system} {release}")),
        processor: machine.packages.iter().find_map(|package| package.model.clone()),
        microcode: cpuinfo::value(&cpuinfo, "microcode").filter(|word| !word.is_empty()).map(str::to_owned),
        firmware: word("/sys/class/dmi/id/bios_version"),
        claimed_hz: claimed_hz(machine, &cpuinfo),
        tlb_4k_entries,
        tlb_2m_entries,
        virtual_machine: under_hypervisor(),
        clock_source: word(CLOCK_SOURCE),
        transparent_huge_pages: word("/sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|choices| chosen(&choices).map(str::to_owned)),
        frequency_governor: word(frequency_file(machine, "scaling_governor")),
        timer_slack_ns: number("/proc/self/timerslack_ns"),
        cpu_quota: machine.usable.quota_cpus.map(|cpus| format!("{cpus:.2}")),
        disturbances: doctor::disturbances().iter().map(|found| format!("{}: {}", found.name, found.read)).collect(),
        labels: BTreeMap::new(),
        energy: Some(energy::told()),
        memory: Memory {
            modules: Some(dmi::memory_modules()),
            total_bytes: limits.memory_total_bytes,
            available_bytes: limits.memory_available_bytes,
            budget_bytes: limits.memory_budget_bytes,
        },
    }
}

/// The name that the batch system has for this node, else the host's: several nodes of Slurm may be one host, and containers of one host
/// share its name.
pub fn node() -> Option<String> {
    slurm_name().or_else(|| word("/proc/sys/kernel/hostname"))
}

fn slurm_name() -> Option<String> {
    std::env::var("SLURMD_NODENAME").ok().filter(|name| !name.is_empty())
}

/// A file about the frequency of the first CPU, which need not be CPU 0.
fn frequency_file(machine: &Machine, name: &str) -> String {
    let first = machine.strands.iter().map(|strand| strand.os_id).min().unwrap_or(0);
    format!("/sys/devices/system/cpu/cpu{first}/cpufreq/{name}")
}

/// The clock that the system claims: the nominal one of the driver or of the model's name, else the present one of the kernel,
/// which guests have from their host.
fn claimed_hz(machine: &Machine, cpuinfo: &str) -> Option<f64> {
    let driver = number::<f64>(frequency_file(machine, "base_frequency"));
    let model = machine.packages.iter().find_map(|package| named_ghz(package.model.as_deref()?));
    let kernel = cpuinfo::number(cpuinfo, "cpu MHz");
    let claims = [driver.map(|khz| khz * 1e3), model.map(|ghz| ghz * 1e9), kernel.map(|mhz| mhz * 1e6)];
    claims.into_iter().flatten().find(|hz| hz.is_finite() && *hz > 0.0)
}

/// `… CPU @ 2.50GHz`
fn named_ghz(model: &str) -> Option<f64> {
    model.rsplit_once('@')?.1.trim().strip_suffix("GHz")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_a_kernel() {
        let machine = charz_topology::discover(&charz_topology::Source::ThisMachine).unwrap();
        let host = host(&machine, &Limits::read());
        assert!(host.kernel.is_some_and(|kernel| kernel.starts_with("Linux ")), "/proc names the kernel");
    }

    #[test]
    fn a_model_may_claim_its_clock() {
        assert_eq!(named_ghz("Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz"), Some(2.5));
        assert_eq!(named_ghz("AMD EPYC"), None);
    }
}
