//! How many instructions a core of this processor can issue per cycle.

/// The dispatch slots of a core per cycle: the most that it can take into execution for long. `None` where it is not known, and where
/// kinds of core differ.
#[cfg(target_arch = "x86_64")]
pub(super) fn issue_width() -> Option<u64> {
    let cpu = charz_kernels::cpu::Signature::read();
    known(&cpu.vendor, cpu.family, cpu.model)
}

/// By vendor, family and model, as CPUID has them.
///
/// AMD: 6 macro-operations dispatched per cycle of family 17h and 19h, 8 of family 1Ah (Software Optimization Guides, publications 55723,
/// 56665 and 58455). Intel: the slots per cycle of its Top-down Microarchitecture Analysis (Optimization Reference Manual), 4 up to Skylake
/// and its heirs, 5 from Ice Lake, 6 from Golden Cove on.
#[cfg(any(target_arch = "x86_64", test))]
fn known(vendor: &[u8; 12], family: u32, model: u32) -> Option<u64> {
    match (vendor, family, model) {
        (b"AuthenticAMD" | b"HygonGenuine", 0x17..=0x19, _) => Some(6),
        (b"AuthenticAMD", 0x1a, _) => Some(8),
        // Nehalem, Westmere, Sandy Bridge, Ivy Bridge, Haswell, Broadwell, Skylake and its heirs.
        (b"GenuineIntel", 6, 0x1a | 0x1e | 0x2e | 0x25 | 0x2c | 0x2f | 0x2a | 0x2d | 0x3a | 0x3e) => Some(4),
        (b"GenuineIntel", 6, 0x3c | 0x3f | 0x45 | 0x46 | 0x3d | 0x47 | 0x4f | 0x56) => Some(4),
        (b"GenuineIntel", 6, 0x4e | 0x5e | 0x55 | 0x8e | 0x9e | 0xa5 | 0xa6) => Some(4),
        // Ice Lake, Tiger Lake, Rocket Lake.
        (b"GenuineIntel", 6, 0x6a | 0x6c | 0x7d | 0x7e | 0x8c | 0x8d | 0xa7) => Some(5),
        // Sapphire Rapids, Emerald Rapids, Granite Rapids.
        (b"GenuineIntel", 6, 0x8f | 0xcf | 0xad | 0xae) => Some(6),
        _ => None,
    }
}

/// What the processor says in PMMIR_EL1.SLOTS, by its driver (`Documentation/ABI/testing/sysfs-bus-event_source-devices-caps`); 0 is
/// unknown.
#[cfg(target_arch = "aarch64")]
pub(super) fn issue_width() -> Option<u64> {
    let sources = std::fs::read_dir("/sys/bus/event_source/devices").ok()?;
    let slots = sources.filter_map(|source| {
        let text = std::fs::read_to_string(source.ok()?.path().join("caps/slots")).ok()?;
        u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
    });
    let slots: std::collections::BTreeSet<u64> = slots.collect();
    slots.first().copied().filter(|slots| *slots > 0)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn issue_width() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_known_by_vendor_family_and_model() {
        for (vendor, family, model, width) in [
            (b"AuthenticAMD", 0x17, 0x31, Some(6)),
            (b"AuthenticAMD", 0x1a, 0x02, Some(8)),
            (b"AuthenticAMD", 0x15, 0x02, None),
            (b"GenuineIntel", 6, 0x55, Some(4)),
            (b"GenuineIntel", 6, 0x6a, Some(5)),
            (b"GenuineIntel", 6, 0x8f, Some(6)),
            // Alder Lake has two kinds of core.
            (b"GenuineIntel", 6, 0x97, None),
            (b"CentaurHauls", 6, 0x55, None),
        ] {
            assert_eq!(known(vendor, family, model), width, "{vendor:?} {family:#x} {model:#x}");
        }
    }
}
