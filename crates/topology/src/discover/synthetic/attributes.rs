//! The attributes of a level: sizes, and numbers of its parts.

use super::{Type, number};
use crate::cpulist::MAX_ID;
use crate::error::quote;

/// Reads `(NAME=VALUE NAME=VALUE)` and returns what follows.
pub(super) fn attributes(text: &str, kind: Type, width: u64) -> Result<&str, String> {
    let (list, rest) = text[1..].split_once(')').ok_or("a bracket is not closed; write such as (size=32MiB)")?;
    // hwloc takes one blank behind an attribute, and no other.
    let list = list.strip_suffix(' ').unwrap_or(list);
    let attributes = (!list.is_empty()).then(|| list.split(' '));
    for attribute in attributes.into_iter().flatten() {
        if attribute.is_empty() {
            return Err(format!("there are too many blanks in {}; write such as (size=32MiB)", quote(list)));
        }
        let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
        match (name, kind) {
            ("size", Type::Cache(..)) => size(value)?,
            ("memory", _) if !matches!(kind, Type::Cache(..)) => size(value)?,
            ("indexes", _) if kind != Type::Machine => indexes(value, width)?,
            _ => {
                let (name, level) = (quote(name), kind.name());
                return Err(format!(
                    "the level {level} has no attribute {name}; there are size= for caches, memory= and indexes="
                ));
            }
        }
    }
    Ok(rest)
}

fn size(text: &str) -> Result<(), String> {
    bytes(text).map(drop).ok_or_else(|| format!("{} is not a size; write such as 32MiB", quote(text)))
}

/// A description that was checked with its sizes in bytes: before 2.8 hwloc has `MB` and no `MiB`, and takes it for that.
pub(crate) fn in_bytes(text: &str) -> String {
    let (mut written, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('=') {
        let (value, next) = after.split_at(after.find([' ', ')']).unwrap_or(after.len()));
        let is_size = before.ends_with("size") || before.ends_with("memory");
        let size = bytes(value).filter(|_| is_size).map_or_else(|| value.to_owned(), |bytes| bytes.to_string());
        written += &format!("{before}={size}");
        rest = next;
    }
    written + rest
}

/// The bytes of a size such as `32MiB`; as hwloc has it, `MB` counts in thousands.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.find(|next: char| !next.is_ascii_digit()).unwrap_or(text.len());
    let (size, unit) = text.split_at(digits);
    let unit: u64 = match unit.to_ascii_lowercase().as_str() {
        "" => 1,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1 << 40,
        _ => return None,
    };
    number(size)?.checked_mul(unit)
}

/// Checks operating-system ids for a level of this width: all of them apart by commas, or nested loops `STEP*COUNT:…`.
fn indexes(text: &str, width: u64) -> Result<(), String> {
    let wrong =
        |piece: &str| format!("{} is no index; write ids such as 0,2,1,3 or loops such as 2*2:1*2", quote(piece));
    if !text.contains('*') {
        let mut seen = std::collections::HashSet::new();
        for piece in text.split(',') {
            let id = number(piece).filter(|id| *id <= u64::from(MAX_ID)).ok_or_else(|| wrong(piece))?;
            if !seen.insert(id) {
                return Err(format!("the index {id} stands twice"));
            }
        }
        let count = seen.len() as u64;
        return if count == width { Ok(()) } else { Err(format!("there are {count} indexes for {width} parts")) };
    }
    let misnumbered = || format!("the loops {} do not number {width} parts each once", quote(text));
    let mut loops = Vec::new();
    for piece in text.split(':') {
        let (step, count) =
            piece.split_once('*').and_then(|(a, b)| number(a).zip(number(b))).ok_or_else(|| wrong(piece))?;
        if step == 0 || count == 0 || step > width || count > width {
            return Err(wrong(piece));
        }
        // A loop of one pass numbers nothing, and thousands of them would only take time.
        if count > 1 {
            loops.push((step, count));
        }
    }
    // Each loop takes its share of the parts, so there are no more of them than halvings of the width.
    let parts = loops.iter().try_fold(1u64, |parts, (_, count)| parts.checked_mul(*count));
    if parts != Some(width) {
        return Err(misnumbered());
    }
    // Each part's index is its position along the loops, the first loop running fastest.
    let index = |part: u64| {
        loops
            .iter()
            .fold((0, 1u64), |(index, weight), (step, count)| (index + part / step % count * weight, weight * *count))
    };
    let mut seen = vec![false; width as usize];
    for part in 0..width {
        let (index, _) = index(part);
        let slot = usize::try_from(index).ok().and_then(|index| seen.get_mut(index));
        if slot.is_none_or(|seen| std::mem::replace(seen, true)) {
            return Err(misnumbered());
        }
    }
    Ok(())
}
