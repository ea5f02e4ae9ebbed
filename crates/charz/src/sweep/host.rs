//! What a report says about the system and the program.

use charz_topology::{Cache, CacheHolds, Machine};

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
        microcode: std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| microcode(&text)),
        firmware: word("/sys/class/dmi/id/bios_version"),
        claimed_hz: claimed_hz(machine),
        virtual_machine: under_hypervisor(),
        clock_source: word("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        transparent_huge_pages: word("/sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|choices| chosen(&choices).map(str::to_owned)),
        frequency_governor: word("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        timer_slack_ns: word("/proc/self/timerslack_ns").and_then(|nanos| nanos.parse().ok()),
        cpu_quota: machine.usable.quota_cpus.map(|cpus| format!("{cpus:.2}")),
        disturbances: doctor::disturbances().iter().map(|found| format!("{}: {}", found.name, found.read)).collect(),
        memory: Memory {
            total_bytes: limits.memory_total_bytes,
            available_bytes: limits.memory_available_bytes,
            budget_bytes: limits.memory_budget_bytes,
        },
    }
}

/// The clock that the system claims: the nominal one of the driver or of the model's name, else the present one of the kernel,
/// which guests have from their host.
fn claimed_hz(machine: &Machine) -> Option<f64> {
    let driver = word("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency").and_then(|khz| khz.parse::<f64>().ok());
    let model = machine.packages.iter().find_map(|package| named_ghz(package.model.as_deref()?));
    let kernel = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| kernel_mhz(&text));
    let claims = [driver.map(|khz| khz * 1e3), model.map(|ghz| ghz * 1e9), kernel.map(|mhz| mhz * 1e6)];
    claims.into_iter().flatten().find(|hz| hz.is_finite() && *hz > 0.0)
}

/// `… CPU @ 2.50GHz`
fn named_ghz(model: &str) -> Option<f64> {
    model.rsplit_once('@')?.1.trim().strip_suffix("GHz")?.trim().parse().ok()
}

/// `cpu MHz         : 2596.134`
fn kernel_mhz(cpuinfo: &str) -> Option<f64> {
    first_word(cpuinfo, "cpu MHz")?.parse().ok()
}

/// `microcode\t: 0xa101144`
fn microcode(cpuinfo: &str) -> Option<String> {
    first_word(cpuinfo, "microcode").filter(|word| !word.is_empty()).map(str::to_owned)
}

/// What the first processor says under this name.
fn first_word<'a>(cpuinfo: &'a str, name: &str) -> Option<&'a str> {
    let line = cpuinfo.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim())
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
                cache: data_caches(machine, strand).last().map(|(at, _)| at),
                cache_bytes: data_caches(machine, strand).map_while(|(_, cache)| cache.size_bytes).collect(),
                alu: strand.alu,
                slot: strand.slot,
                kind: strand.kind,
                usable: strand.usable,
            })
            .collect(),
        nodes: nodes(machine),
        caches: caches(machine),
    }
}

fn nodes(machine: &Machine) -> Vec<report::NumaNode> {
    let node = |(index, node): (usize, &charz_topology::NumaNode)| report::NumaNode {
        os_id: node.os_id,
        memory_bytes: node.memory_bytes,
        usable: node.usable,
        distances: machine.numa_distances.get(index).cloned().unwrap_or_default(),
    };
    machine.numa_nodes.iter().enumerate().map(node).collect()
}

/// The caches, those that are alike counted.
fn caches(machine: &Machine) -> Vec<report::Caches> {
    let mut alike: Vec<report::Caches> = Vec::new();
    for cache in &machine.caches {
        let holds = match cache.holds {
            CacheHolds::Unified => "unified",
            CacheHolds::Data => "data",
            CacheHolds::Instruction => "instruction",
        };
        let one = report::Caches {
            level: cache.level,
            holds: holds.to_owned(),
            size_bytes: cache.size_bytes,
            line_bytes: cache.line_bytes,
            ways: cache.ways,
            strands: cache.strands.into(),
            count: 1,
        };
        match alike.iter_mut().find(|known| report::Caches { count: 1, ..(*known).clone() } == one) {
            Some(known) => known.count += 1,
            None => alike.push(one),
        }
    }
    alike
}

/// The caches for data of a strand, from the innermost outwards: any that it shares lies within the last.
fn data_caches<'a>(machine: &'a Machine, strand: &charz_topology::Strand) -> impl Iterator<Item = (u32, &'a Cache)> {
    let caches = strand.caches.iter().filter_map(|at| Some((*at, machine.caches.get(*at as usize)?)));
    caches.filter(|(_, cache)| cache.holds != CacheHolds::Instruction)
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

    #[test]
    fn clocks_are_claimed_in_two_ways() {
        assert_eq!(named_ghz("Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz"), Some(2.5));
        assert_eq!(named_ghz("AMD EPYC"), None);
        assert_eq!(kernel_mhz("model name\t: x\ncpu MHz\t\t: 2596.134\ncpu MHz\t\t: 1.0\n"), Some(2596.134));
        assert_eq!(kernel_mhz("cpu MHz : fast\n"), None);
    }

    #[test]
    fn microcode_is_that_of_the_first_processor() {
        assert_eq!(microcode("flags\t: a\nmicrocode\t: 0xa101144\nmicrocode\t: 0x1\n").as_deref(), Some("0xa101144"));
        assert_eq!(microcode("microcode\t: \n"), None);
        assert_eq!(microcode("processor\t: 0\n"), None);
    }

    #[test]
    fn caches_that_are_alike_are_counted() {
        let source = charz_topology::Source::Synthetic("Package:2 L3:1(size=8MiB) L2:2(size=1MiB) Core:1 PU:2".into());
        let told = machine(&charz_topology::discover(&source).unwrap());
        let found: Vec<_> = told.caches.iter().map(|one| (one.level, one.size_bytes, one.strands, one.count)).collect();
        assert_eq!(found, [(3, Some(8 << 20), 4, 2), (2, Some(1 << 20), 2, 4)]);
        assert_eq!(told.nodes.len() as u64, told.numa_nodes);
    }
}
