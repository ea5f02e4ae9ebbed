//! What an x86 processor says of itself by CPUID.

use std::arch::x86_64::{__cpuid, __cpuid_count, CpuidResult};

/// Whether a hypervisor runs below: CPUID 1, ECX bit 31, which is reserved for hypervisors.
pub fn has_hypervisor() -> bool {
    __cpuid(1).ecx >> 31 & 1 == 1
}

/// Whether the time-stamp counter has the same rate at all times: CPUID 8000_0007h, EDX bit 8.
pub fn has_invariant_counter() -> bool {
    extended(0x8000_0007).is_some_and(|leaf| leaf.edx >> 8 & 1 == 1)
}

/// Whether there is `rdtscp`: CPUID 8000_0001h, EDX bit 27.
pub(crate) fn has_rdtscp() -> bool {
    extended(0x8000_0001).is_some_and(|leaf| leaf.edx >> 27 & 1 == 1)
}

/// The kind of core that the calling thread is on: CPUID 1Ah, EAX, of a hybrid part, and 0 of any other.
pub(crate) fn kind_of_core() -> u32 {
    if __cpuid(0).eax >= 0x1a { __cpuid_count(0x1a, 0).eax } else { 0 }
}

fn extended(leaf: u32) -> Option<CpuidResult> {
    (__cpuid(0x8000_0000).eax >= leaf).then(|| __cpuid(leaf))
}

/// Entries for pages of 4 KiB and of 2 MiB in the last level of the TLB for data, or for data and instructions. `None` where the processor
/// or its hypervisor reports none, and where kinds of core differ.
pub fn tlb_entries() -> [Option<u64>; 2] {
    let max = __cpuid(0).eax;
    match &Signature::read().vendor {
        b"AuthenticAMD" | b"HygonGenuine" => {
            let leaf = |number| extended(number).map_or([0; 2], |leaf| [leaf.ebx, leaf.eax]);
            amd_tlb(leaf(0x8000_0005), leaf(0x8000_0006), extended(0x8000_0021).map_or(0, |leaf| leaf.eax))
        }
        // CPUID 7, EDX bit 15: a hybrid part.
        b"GenuineIntel" if max >= 0x18 && __cpuid_count(7, 0).edx >> 15 & 1 == 0 => {
            let subleaves = 0..=__cpuid_count(0x18, 0).eax.min(63);
            intel_tlb(subleaves.map(|subleaf| __cpuid_count(0x18, subleaf)).map(|leaf| [leaf.ebx, leaf.ecx, leaf.edx]))
        }
        _ => [None; 2],
    }
}

/// EBX and EAX of CPUID 8000_0005h and of 8000_0006h, and EAX of 8000_0021h (AMD64 Architecture Programmer's Manual, volume 3, appendix E).
/// The second level counts unless its associativity is 0, which is "disabled".
fn amd_tlb(first: [u32; 2], second: [u32; 2], features: u32) -> [Option<u64>; 2] {
    // L2TlbSizeX32: from Zen 5 on, sizes of the second level are multiples of 32.
    let unit = if features >> 14 & 1 == 1 { 32 } else { 1 };
    [0, 1].map(|page| {
        let (first, second) = (first[page] >> 16 & 0xff, second[page] >> 16);
        let entries = if second >> 12 == 0 { u64::from(first) } else { u64::from(second & 0xfff) * unit };
        Some(entries).filter(|entries| *entries > 0)
    })
}

/// EBX, ECX and EDX of the subleaves of CPUID 18h (Intel SDM, volume 2A): ways times sets. Structures of one level add up: on processors since
/// Ice Lake pages of 4 KiB use two, each shared with another size.
fn intel_tlb(subleaves: impl Iterator<Item = [u32; 3]> + Clone) -> [Option<u64>; 2] {
    [0, 1].map(|page| {
        // For data, for both, and for loads; those for stores hold no translations that loads use.
        let holds = |[sizes, _, kind]: &[u32; 3]| sizes >> page & 1 == 1 && matches!(kind & 0x1f, 1 | 3 | 4);
        let levels = subleaves
            .clone()
            .filter(holds)
            .map(|[ways, sets, kind]| (kind >> 5 & 7, u64::from(ways >> 16) * u64::from(sets)));
        let last = levels.clone().map(|(level, _)| level).max()?;
        Some(levels.filter(|(level, _)| *level == last).map(|(_, entries)| entries).sum())
    })
}

/// Vendor, family and model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The 12 letters of the vendor, e.g. `AuthenticAMD`.
    pub vendor: [u8; 12],
    /// The family, its extension added.
    pub family: u32,
    /// The model, its extension in the upper four bits.
    pub model: u32,
}

impl Signature {
    /// Reads it on the CPU that the calling thread runs on.
    pub fn read() -> Signature {
        let (leaf, version) = (__cpuid(0), __cpuid(1).eax);
        let mut vendor = [0; 12];
        for (part, register) in vendor.chunks_exact_mut(4).zip([leaf.ebx, leaf.edx, leaf.ecx]) {
            part.copy_from_slice(&register.to_le_bytes());
        }
        let (family, extended) = (version >> 8 & 0xf, version >> 20 & 0xff);
        let family = if family == 0xf { family + extended } else { family };
        Signature { vendor, family, model: version >> 4 & 0xf | (version >> 16 & 0xf) << 4 }
    }

    /// Whether it is of AMD's Zen line, Hygon's licensed Zen among them.
    pub(crate) fn is_zen(&self) -> bool {
        matches!((&self.vendor, self.family), (b"AuthenticAMD", 0x17..) | (b"HygonGenuine", 0x18))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the CPUID dumps of https://github.com/InstLatx64/InstLatx64.
    #[test]
    fn tlbs_of_amd_have_the_entries_that_its_guides_name() {
        for (name, first, second, features, entries) in [
            // Without a second level for 2 MiB.
            ("Sledgehammer", [0xff20_ff20, 0xff08_ff08], [0x4200_4200, 0], 0, [Some(512), Some(8)]),
            ("Zen", [0xff40_ff40; 2], [0x5600_6400, 0x3600_6400], 0, [Some(1536); 2]),
            ("Rome", [0xff40_ff40; 2], [0x6800_6400, 0x4800_6400], 0, [Some(2048); 2]),
            ("Milan", [0xff40_ff40; 2], [0x6800_4200, 0x4800_2200], 0x204d, [Some(2048); 2]),
            ("Genoa", [0xff48_ff40; 2], [0x6c00_4200, 0x5c00_2200], 0x0006_2fcf, [Some(3072); 2]),
            ("Turin", [0xff60_ff40; 2], [0x6080_4040, 0x4080_2040], 0xd93f_ffcf, [Some(4096); 2]),
            ("a hypervisor that hides them", [0; 2], [0; 2], 0, [None; 2]),
        ] {
            assert_eq!(amd_tlb(first, second, features), entries, "{name}");
        }
    }

    #[test]
    fn tlbs_of_intel_add_up_what_lies_at_the_last_level() {
        let stlb = [[0x8_0007, 0x80, 0x4043], [0x8_0009, 0x80, 0x4043]];
        let stores_and_huge = [[0x10_000f, 1, 0x4125], [0x8_0008, 1, 0x4124]];
        let ice_lake = [[0; 3], [0x8_0007, 1, 0x4122], [0x4_0001, 0x10, 0x4024], [0x4_0006, 8, 0x4024]];
        let sapphire_rapids =
            [[0; 3], [0x8_0001, 0x20, 0x4022], [0x8_0006, 4, 0x4022], [0x4_0001, 0x10, 0x4024], [0x4_0006, 8, 0x4024]];
        let of = |parts: &[&[[u32; 3]]]| intel_tlb(parts.concat().into_iter());
        assert_eq!(of(&[&ice_lake, &stores_and_huge, &stlb]), [Some(2048), Some(1024)]);
        assert_eq!(of(&[&sapphire_rapids, &stores_and_huge, &stlb]), [Some(2048), Some(1024)]);
        assert_eq!(of(&[&sapphire_rapids, &stores_and_huge]), [Some(64), Some(32)], "without a second level");
        assert_eq!(of(&[&[[0; 3]]]), [None; 2], "a hypervisor that hides them");
    }
}
