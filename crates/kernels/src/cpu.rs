//! What an x86 processor says of itself by CPUID.

use std::arch::x86_64::{__cpuid, CpuidResult};

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

fn extended(leaf: u32) -> Option<CpuidResult> {
    (__cpuid(0x8000_0000).eax >= leaf).then(|| __cpuid(leaf))
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
