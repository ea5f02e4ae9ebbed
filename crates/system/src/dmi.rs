//! What the firmware says of the machine, by the tables of SMBIOS (DMTF DSP0134).

use std::collections::BTreeMap;
use std::{fs, io};

use crate::file::word;

/// The structures, one behind the other; root may read them.
const TABLES: &str = "/sys/firmware/dmi/tables/DMI";

/// The type of a structure that describes a memory module.
const MEMORY_DEVICE: u8 = 17;

/// The vendor and the product, as `Dell Inc. PowerEdge R7525`; a cloud's guests have the type of the instance there.
pub fn product() -> Option<String> {
    let words: Vec<String> =
        ["sys_vendor", "product_name"].iter().filter_map(|name| word(format!("/sys/class/dmi/id/{name}"))).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The memory modules and the speed that they are configured for, as `8 × 32 GiB at 4800 MT/s`; `unavailable: ` and why where the
/// system does not tell.
pub fn memory_modules() -> String {
    let told = match fs::read(TABLES) {
        Ok(tables) => modules(&tables).ok_or("the firmware describes none"),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err("only root may read the firmware's tables")
        }
        Err(_) => Err("the firmware has no tables"),
    };
    told.unwrap_or_else(|why| format!("unavailable: {why}"))
}

/// Of these tables; `None` where they describe no module.
fn modules(tables: &[u8]) -> Option<String> {
    let mut kinds: BTreeMap<(u64, u16), usize> = BTreeMap::new();
    let mut rest = tables;
    while let [kind, length, ..] = *rest {
        let Some((own, strings)) = rest.split_at_checked(usize::from(length)).filter(|_| length >= 4) else { break };
        if let Some(module) = (kind == MEMORY_DEVICE).then(|| module(own)).flatten() {
            *kinds.entry(module).or_default() += 1;
        }
        // Texts follow, and two zeros end them.
        let Some(end) = strings.windows(2).position(|pair| pair == [0, 0]) else { break };
        rest = &strings[end + 2..];
    }
    let told = kinds.iter().rev().map(|((mebibytes, speed), count)| {
        let size = match mebibytes % 1024 {
            0 => format!("{} GiB", mebibytes / 1024),
            _ => format!("{mebibytes} MiB"),
        };
        if *speed == 0 { format!("{count} × {size}") } else { format!("{count} × {size} at {speed} MT/s") }
    });
    (!kinds.is_empty()).then(|| told.collect::<Vec<_>>().join(", "))
}

/// The size in MiB, and the configured speed in MT/s, 0 where it is not known; `None` of an empty slot.
fn module(own: &[u8]) -> Option<(u64, u16)> {
    let pair = |at: usize| Some(u16::from_le_bytes([*own.get(at)?, *own.get(at + 1)?]));
    let mebibytes = match pair(0x0C)? {
        0 | 0xFFFF => return None,
        0x7FFF => u64::from(pair(0x1C)?) | u64::from(pair(0x1E)? & 0x7FFF) << 16,
        size if size & 0x8000 != 0 => u64::from(size & 0x7FFF) / 1024,
        size => u64::from(size),
    };
    Some((mebibytes, pair(0x20).filter(|speed| *speed != 0xFFFF).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structure(kind: u8, size: u16, extended: u32, speeds: [u16; 2]) -> Vec<u8> {
        let mut own = vec![0; 0x22];
        (own[0], own[1]) = (kind, 0x22);
        own[0x0C..0x0E].copy_from_slice(&size.to_le_bytes());
        own[0x1C..0x20].copy_from_slice(&extended.to_le_bytes());
        own[0x15..0x17].copy_from_slice(&speeds[0].to_le_bytes());
        own[0x20..0x22].copy_from_slice(&speeds[1].to_le_bytes());
        own.extend(b"DIMM A1\0\0");
        own
    }

    #[test]
    fn modules_are_counted_by_size_and_configured_speed() {
        let large = structure(17, 0x7FFF, 65_536, [5600, 4800]);
        let all = [
            large.clone(),
            structure(4, 16_384, 0, [1, 1]),
            large,
            structure(17, 0, 0, [3200, 3200]),
            structure(17, 16_384, 0, [3200, 0]),
        ];
        assert_eq!(modules(&all.concat()).as_deref(), Some("2 × 64 GiB at 4800 MT/s, 1 × 16 GiB"));
        assert_eq!(modules(&structure(17, 512, 0, [0, 0])).as_deref(), Some("1 × 512 MiB"));
    }

    #[test]
    fn tables_that_end_early_or_nowhere_are_read_as_far_as_they_go() {
        let whole = structure(17, 1024, 0, [800, 800]);
        for end in 0..whole.len() {
            modules(&whole[..end]);
        }
        assert_eq!(modules(&[]), None);
        assert_eq!(modules(&[17, 0, 0, 0, 0, 0]), None);
        assert_eq!(modules(&[17, 255, 1]), None);
    }
}
