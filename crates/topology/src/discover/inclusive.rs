//! Whether caches hold what those before them hold: the processor states it, and the kernel does not pass it on.
//!
//! Intel describes a cache in each subleaf of CPUID 4 (SDM, volume 2A), AMD in each of CPUID 8000_001Dh (AMD64 Architecture Programmer's
//! Manual, volume 3, appendix E), both alike: the kind in EAX bits 0 to 4, the level in bits 5 to 7, and in EDX bit 1 whether it is inclusive.

use crate::{CacheHolds, Machine};

/// hwloc's name for whether a cache is inclusive: 1 or 0.
pub(super) const INCLUSIVE: &str = "Inclusive";

/// hwloc's number for what a cache holds, as in `hwloc_obj_cache_type_e`.
pub(super) fn number(holds: CacheHolds) -> u8 {
    match holds {
        CacheHolds::Unified => 0,
        CacheHolds::Data => 1,
        CacheHolds::Instruction => 2,
    }
}

/// Gives the caches of this machine what the processor states of each level.
pub(super) fn mark(machine: &mut Machine) {
    let stated = asked();
    for cache in &mut machine.caches {
        cache.inclusive = cache.inclusive.or_else(|| of(&stated, cache.level, cache.holds));
    }
}

/// EAX and EDX of the subleaves. None where kinds of core may differ: the one that this thread runs on would answer for all.
#[cfg(target_arch = "x86_64")]
fn asked() -> Vec<[u32; 2]> {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    let vendor = __cpuid(0);
    let leaf = match &[vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat()[..] {
        // CPUID 7, EDX bit 15: a hybrid part.
        b"GenuineIntel" if vendor.eax >= 7 && __cpuid_count(7, 0).edx >> 15 & 1 == 0 => 4,
        // CPUID 8000_0001h, ECX bit 22: the leaf is there.
        b"AuthenticAMD" | b"HygonGenuine"
            if __cpuid(0x8000_0000).eax >= 0x8000_001d && __cpuid(0x8000_0001).ecx >> 22 & 1 == 1 =>
        {
            0x8000_001d
        }
        _ => return Vec::new(),
    };
    let subleaves = (0..16).map(|subleaf| __cpuid_count(leaf, subleaf)).map(|answer| [answer.eax, answer.edx]);
    subleaves.take_while(|[eax, _]| eax & 0x1f != 0).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn asked() -> Vec<[u32; 2]> {
    Vec::new()
}

fn of(stated: &[[u32; 2]], level: u32, holds: CacheHolds) -> Option<bool> {
    let kind = match holds {
        CacheHolds::Data => 1,
        CacheHolds::Instruction => 2,
        CacheHolds::Unified => 3,
    };
    let same = |[eax, _]: &&[u32; 2]| eax & 0x1f == kind && eax >> 5 & 7 == level;
    stated.iter().find(same).map(|[_, edx]| edx >> 1 & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the CPUID dumps of https://github.com/InstLatx64/InstLatx64.
    #[test]
    fn caches_are_inclusive_as_the_vendors_describe_them() {
        const SKYLAKE: [[u32; 2]; 4] = [[0x1c00_4121, 0], [0x1c00_4122, 0], [0x1c00_4143, 0], [0x1c03_c163, 6]];
        const SKYLAKE_SP: [[u32; 2]; 4] = [[0x7c00_4121, 0], [0x7c00_4122, 0], [0x7c00_4143, 0], [0x7c07_c163, 4]];
        const ZEN: [[u32; 2]; 4] = [[0x4121, 0], [0x4122, 0], [0x4143, 2], [0x1_c163, 1]];
        for (stated, second, third) in [(SKYLAKE, false, true), (SKYLAKE_SP, false, false), (ZEN, true, false)] {
            assert_eq!(of(&stated, 2, CacheHolds::Unified), Some(second));
            assert_eq!(of(&stated, 3, CacheHolds::Unified), Some(third));
            assert_eq!(of(&stated, 1, CacheHolds::Instruction), Some(false));
            assert_eq!(of(&stated, 4, CacheHolds::Unified), None);
        }
    }
}
