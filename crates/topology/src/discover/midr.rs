//! Names of Arm's processors, whose registers hold numbers only.
//!
//! The kernel shows the fields of each CPU's MIDR_EL1 in `/proc/cpuinfo`. The numbers are those of the processors' Technical Reference
//! Manuals and of `arch/arm64/include/asm/cputype.h` of Linux 6.12; the names are spelt as by lscpu of util-linux 2.40.

use std::collections::BTreeMap;

use charz_system::cpuinfo;

use crate::Machine;

/// By implementer: parts and their names.
#[rustfmt::skip]
const NAMES: [(u32, &[(u32, &str)]); 10] = [
    (0x41, &[
        (0xd03, "Cortex-A53"), (0xd04, "Cortex-A35"), (0xd05, "Cortex-A55"), (0xd07, "Cortex-A57"),
        (0xd08, "Cortex-A72"), (0xd09, "Cortex-A73"), (0xd0a, "Cortex-A75"), (0xd0b, "Cortex-A76"),
        (0xd0c, "Neoverse-N1"), (0xd0d, "Cortex-A77"), (0xd0e, "Cortex-A76AE"), (0xd40, "Neoverse-V1"),
        (0xd41, "Cortex-A78"), (0xd42, "Cortex-A78AE"), (0xd44, "Cortex-X1"), (0xd46, "Cortex-A510"),
        (0xd47, "Cortex-A710"), (0xd48, "Cortex-X2"), (0xd49, "Neoverse-N2"), (0xd4a, "Neoverse-E1"),
        (0xd4b, "Cortex-A78C"), (0xd4c, "Cortex-X1C"), (0xd4d, "Cortex-A715"), (0xd4e, "Cortex-X3"),
        (0xd4f, "Neoverse-V2"), (0xd80, "Cortex-A520"), (0xd81, "Cortex-A720"), (0xd82, "Cortex-X4"),
        (0xd83, "Neoverse-V3AE"), (0xd84, "Neoverse-V3"), (0xd85, "Cortex-X925"), (0xd87, "Cortex-A725"),
        (0xd8e, "Neoverse-N3"),
    ]),
    (0x42, &[(0x516, "ThunderX2")]),
    (0x43, &[(0x0a1, "ThunderX-88XX"), (0x0af, "ThunderX2-99xx")]),
    (0x46, &[(0x001, "A64FX")]),
    (0x48, &[(0xd01, "TaiShan-v110"), (0xd02, "TaiShan-v120")]),
    (0x4e, &[(0x003, "Denver-2"), (0x004, "Carmel")]),
    (0x50, &[(0x000, "X-Gene")]),
    (0x51, &[(0x001, "Oryon"), (0xc00, "Falkor"), (0xc01, "Saphira")]),
    (0x61, &[
        (0x022, "Icestorm-M1"), (0x023, "Firestorm-M1"), (0x024, "Icestorm-M1-Pro"), (0x025, "Firestorm-M1-Pro"),
        (0x028, "Icestorm-M1-Max"), (0x029, "Firestorm-M1-Max"), (0x032, "Blizzard-M2"), (0x033, "Avalanche-M2"),
    ]),
    (0xc0, &[(0xac3, "Ampere-1"), (0xac4, "Ampere-1a")]),
];

/// Gives packages without a model the names of their processors, in the order of their strands.
pub(super) fn name(machine: &mut Machine, cpuinfo: &str) {
    let names = names(cpuinfo);
    let mut found: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for strand in &machine.strands {
        let Some((package, name)) = strand.package.zip(names.get(&strand.os_id)) else { continue };
        let found = found.entry(package).or_default();
        if !found.contains(&name.as_str()) {
            found.push(name);
        }
    }
    for (package, names) in found {
        machine.packages[package as usize].model.get_or_insert_with(|| names.join(" + "));
    }
}

/// The name of each CPU by its id.
pub(super) fn names(cpuinfo: &str) -> BTreeMap<u32, String> {
    let cpus = cpuinfo.split("\n\n").filter_map(|cpu| {
        let field = |name: &str| cpuinfo::value(cpu, name);
        Some((number(field("processor")?)?, name_of(field("CPU implementer")?, field("CPU part")?)?))
    });
    cpus.collect()
}

/// The name of a processor by these fields of its register. Numbers stand for what has no name here: `Arm 0x41 part 0xfff`.
pub(super) fn name_of(implementer: &str, part: &str) -> Option<String> {
    let (implementer, part) = (number(implementer)?, number(part)?);
    let parts = NAMES.iter().find(|(of, _)| *of == implementer).map_or(&[][..], |(_, parts)| parts);
    let name = parts.iter().find(|(number, _)| *number == part).map(|(_, name)| (*name).to_owned());
    Some(name.unwrap_or_else(|| format!("Arm {implementer:#x} part {part:#x}")))
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, discover};

    /// Of a guest with `-cpu neoverse-n1` under Linux 6.1.
    const NEOVERSE: &str = "processor\t: 0\nBogoMIPS\t: 125.00\nFeatures\t: fp asimd evtstrm aes\nCPU implementer\t: 0x41\n\
        CPU architecture: 8\nCPU variant\t: 0x4\nCPU part\t: 0xd0c\nCPU revision\t: 1\n";

    fn cpu(id: u32, implementer: &str, part: &str) -> String {
        let text = NEOVERSE.replace("processor\t: 0", &format!("processor\t: {id}"));
        text.replace("0x41", implementer).replace("0xd0c", part)
    }

    #[track_caller]
    fn check(cpuinfo: &[String], expected: &[Option<&str>]) {
        let mut machine = discover(&Source::Synthetic("Package:2 Core:2 PU:1".into())).unwrap();
        name(&mut machine, &cpuinfo.join("\n"));
        let models: Vec<Option<&str>> = machine.packages.iter().map(|package| package.model.as_deref()).collect();
        assert_eq!(models, expected);
    }

    #[test]
    fn packages_are_named_by_their_cpus() {
        let all = |part| (0..4).map(|id| cpu(id, "0x41", part)).collect::<Vec<_>>();
        check(&all("0xd0c"), &[Some("Neoverse-N1"); 2]);
        check(&all("0xd4f"), &[Some("Neoverse-V2"); 2]);
        let mixed = [cpu(0, "0x41", "0xd08"), cpu(1, "0x41", "0xd03"), cpu(2, "0x41", "0xd03")];
        check(&mixed, &[Some("Cortex-A72 + Cortex-A53"), Some("Cortex-A53")]);
        check(&[cpu(0, "0xff", "0x001")], &[Some("Arm 0xff part 0x1"), None]);
    }

    #[test]
    fn other_processors_have_no_such_fields() {
        check(&["processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n".to_owned()], &[None; 2]);
        check(&[String::new()], &[None; 2]);
    }

    #[test]
    fn every_number_has_one_name() {
        let all = || NAMES.iter().flat_map(|(of, parts)| parts.iter().map(move |(part, name)| (of, part, name)));
        for (at, (of, part, name)) in all().enumerate() {
            let same = all().take(at).find(|(o, p, n)| (*o, *p) == (of, part) || *n == name);
            assert_eq!(same, None, "{name}");
        }
    }
}
