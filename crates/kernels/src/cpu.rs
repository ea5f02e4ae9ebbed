//! Which x86 processor this is.

use std::arch::x86_64::__cpuid;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    /// The 12 letters of the vendor, e.g. `AuthenticAMD`.
    pub vendor: [u8; 12],
    /// The family, its extension added.
    pub family: u32,
    /// The model, its extension in the upper four bits.
    pub model: u32,
}

impl Signature {
    /// That of the CPU that the calling thread runs on.
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
    pub fn is_zen(&self) -> bool {
        matches!((&self.vendor, self.family), (b"AuthenticAMD", 0x17..) | (b"HygonGenuine", 0x18))
    }
}
