//! The check that a synthetic description passes before hwloc sees it.
//!
//! A description is a row of levels from the outside in, each a type and how many of them each part of the level before
//! has: `Package:4 Core:16 Group:2 PU:4`. Attributes follow in brackets, `L3:1(size=32MiB)`, `PU:2(indexes=0,2,1,3)`,
//! and memory may hang on a level, `Package:2 [NUMA(memory=64GiB)]`. hwloc's own parser reads `010` as eight, ignores
//! index lists that do not fit, and hangs on large counts; here all of this is an error, and sizes are limited.

mod attributes;

use std::ops::Range;

use crate::error::quote;
use attributes::attributes;
pub(crate) use attributes::in_bytes;

/// The maximum number of strands of a described machine.
const MAX_STRANDS: u64 = 65_536;

/// The most strands where hwloc has to lay them out one by one, which takes it the square of their number: 0.1 s for so
/// many, minutes for the limit above.
const MAX_IRREGULAR: u64 = 4096;

/// The longest description in bytes: room for an index list of a few thousand strands.
const MAX_TEXT: usize = 64 << 10;

/// The maximum number of levels: hwloc has room for 128.
const MAX_LEVELS: usize = 100;

const TYPES: &str = "Group, Package, Die, NUMA, L5 to L1, L1i, Core and PU";

/// A type of level. The order is that in which types contain each other, where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    /// Around all levels, and none itself: it may have attributes.
    Machine,
    Group,
    Numa,
    Package,
    Die,
    /// The level, and whether it holds instructions.
    Cache(u8, bool),
    Core,
    Pu,
}

struct Level {
    kind: Type,
    /// How many of its parts the whole machine has.
    width: u64,
}

/// What the check learns about a description on its way.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Description {
    /// The number of strands in each ALU group, if there are groups below the cores.
    pub(super) alu_width: Option<u32>,
    /// The counts of the levels, from the outside in, and where in the text each is.
    pub(crate) counts: Vec<(u64, Range<usize>)>,
    /// Whether each part's number is its rank and memory lies on one level only, so all parts are alike.
    pub(super) regular: bool,
}

impl Description {
    pub(crate) fn strands(&self) -> u64 {
        self.counts.iter().map(|(count, _)| count).product()
    }
}

/// Whether the description says how much memory a node has; else hwloc gives each a gigabyte.
pub(crate) fn names_memory(text: &str) -> bool {
    text.to_ascii_lowercase().contains("memory=")
}

pub(crate) fn check(text: &str) -> Result<Description, String> {
    if text.len() > MAX_TEXT {
        return Err(format!("it is longer than {} KiB", MAX_TEXT >> 10));
    }
    if let Some(odd) = text.chars().find(|odd| !(' '..='~').contains(odd)) {
        return Err(format!("it contains the character {odd:?}; levels are separated by blanks"));
    }
    let mut rest = text.trim_start();
    if rest.starts_with('(') {
        rest = attributes(rest, Type::Machine, 1)?;
    }
    let mut levels: Vec<Level> = Vec::new();
    let mut counts = Vec::new();
    let mut memories = 0;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            break;
        }
        let width = levels.last().map_or(1, |level| level.width);
        if let Some(memory) = rest.strip_prefix('[') {
            rest = attached(memory, width)?;
            memories += 1;
            continue;
        }
        let start = text.len() - rest.len();
        let (level, count, after) = level(rest, width)?;
        counts.push((level.width / width, start + count.start..start + count.end));
        check_order(&levels, level.kind)?;
        levels.push(level);
        if levels.len() > MAX_LEVELS {
            return Err(format!("it has more than {MAX_LEVELS} levels"));
        }
        rest = after;
    }
    match levels.last() {
        Some(level) if level.kind == Type::Pu => {
            let level_of_memory = levels.iter().any(|level| level.kind == Type::Numa);
            if level_of_memory && memories > 0 {
                return Err("its memory is on a level and in brackets; write either NUMA:2 or [NUMA]".to_owned());
            }
            memories += usize::from(level_of_memory);
            // No other word of the grammar has this one in it.
            let regular = memories <= 1 && !text.contains("indexes=");
            if !regular && level.width > MAX_IRREGULAR {
                return Err(format!(
                    "with indexes= or memory on several levels it can have {MAX_IRREGULAR} strands, not {}",
                    level.width
                ));
            }
            Ok(Description { alu_width: alu_width(&levels), counts, regular })
        }
        Some(_) => Err("the last level must be the strands; end with PU and a count, such as PU:2".to_owned()),
        None => Err("it has no levels; write such as Package:4 Core:16 PU:8".to_owned()),
    }
}

/// The number of strands in each group of the outermost group level below the cores.
fn alu_width(levels: &[Level]) -> Option<u32> {
    let mut below = levels.iter().skip_while(|level| level.kind != Type::Core);
    let group = below.find(|level| level.kind == Type::Group)?;
    u32::try_from(levels.last()?.width / group.width).ok()
}

/// Reads `TYPE:COUNT(ATTRIBUTES)` and returns the level, where its count is, and what follows it.
fn level(text: &str, outer: u64) -> Result<(Level, Range<usize>, &str), String> {
    let end = text.find([' ', ':', '(', '[', ']', ')']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let kind = kind(name)?;
    let Some(rest) = rest.strip_prefix(':') else {
        return Err(format!("the level {} lacks a colon and a count; write {name}:2", quote(name)));
    };
    let end = rest.find([' ', '(', '[']).unwrap_or(rest.len());
    let start = text.len() - rest.len();
    let place = start..start + end;
    let (count, rest) = rest.split_at(end);
    let count = number(count)
        .ok_or_else(|| format!("the count {} of level {name} is not a whole number from 1 on", quote(count)))?;
    if count == 0 {
        return Err(format!("the count 0 of level {name} is not a whole number from 1 on"));
    }
    let width = outer.checked_mul(count).filter(|width| *width <= MAX_STRANDS);
    let width =
        width.ok_or_else(|| format!("it has more than {MAX_STRANDS} parts at level {name}; that is the limit"))?;
    let rest = if rest.starts_with('(') { attributes(rest, kind, width)? } else { rest };
    if rest.starts_with(|next| next != ' ' && next != '[') {
        return Err(format!("the text {} follows the level {name} without a blank", quote(rest)));
    }
    Ok((Level { kind, width }, place, rest))
}

/// Reads `NUMA(ATTRIBUTES)]` and returns what follows.
fn attached(text: &str, width: u64) -> Result<&str, String> {
    let end = text.find(['(', ']', ' ']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if kind(name)? != Type::Numa {
        return Err(format!("only NUMA can be in square brackets, not {}", quote(name)));
    }
    let rest = if rest.starts_with('(') { attributes(rest, Type::Numa, width)? } else { rest };
    rest.strip_prefix(']').ok_or_else(|| "a square bracket is not closed; write [NUMA]".to_owned())
}

/// Reads a type's name: as hwloc, in any case, and shortened to no less than two letters.
fn kind(name: &str) -> Result<Type, String> {
    let unknown = || format!("there is no type {}; there are {TYPES}", quote(name));
    let lower = name.to_ascii_lowercase();
    let short = |full: &str| lower.len() >= 2 && full.starts_with(&lower);
    if let Some(cache) = lower.strip_prefix('l') {
        let mut letters = cache.chars();
        let depth = letters.next().and_then(|digit| digit.to_digit(10)).filter(|depth| (1..=5).contains(depth));
        let depth = depth.and_then(|depth| u8::try_from(depth).ok()).ok_or_else(unknown)?;
        let rest = letters.as_str();
        let (instructions, rest) = match rest.strip_prefix('i') {
            Some(rest) => (true, rest),
            None => (false, rest.strip_prefix(['d', 'u']).unwrap_or(rest)),
        };
        let known = "cache".starts_with(rest) && !(instructions && depth > 3);
        return if known { Ok(Type::Cache(depth, instructions)) } else { Err(unknown()) };
    }
    let words = [
        ("package", Type::Package),
        ("socket", Type::Package),
        ("numanode", Type::Numa),
        ("node", Type::Numa),
        ("die", Type::Die),
        ("core", Type::Core),
        ("pu", Type::Pu),
        ("group", Type::Group),
    ];
    words.iter().find(|(word, _)| short(word)).map(|(_, kind)| *kind).ok_or_else(unknown)
}

/// Whether a level of this type may be inside the levels read so far.
fn check_order(levels: &[Level], inner: Type) -> Result<(), String> {
    let misplaced = |outer: Type| {
        let (inner, outer) = (inner.name(), outer.name());
        if inner == outer {
            format!("the level {inner} is there twice")
        } else {
            format!("the level {inner} cannot be inside {outer}; write levels from the outside in")
        }
    };
    match levels.iter().rev().find(|outer| !outer.kind.may_contain(inner)) {
        Some(outer) => Err(misplaced(outer.kind)),
        None => Ok(()),
    }
}

impl Type {
    /// Whether a part of this type may have parts of the other type inside.
    fn may_contain(self, inner: Self) -> bool {
        match (self, inner) {
            (Self::Pu, _) | (_, Self::Machine) => false,
            (Self::Machine | Self::Group, _) | (_, Self::Group | Self::Pu) => true,
            // The caches of one level for data and for instructions may be in either order.
            (Self::Cache(outer, a), Self::Cache(inner, b)) => outer > inner || (outer == inner && a != b),
            // Of a guest an L3 can be that of several packages.
            (Self::Cache(level, _), Self::Package | Self::Die) => level >= 3,
            (Self::Package | Self::Die | Self::Core, Self::Package) | (Self::Die | Self::Core, Self::Die) => false,
            (Self::Core, Self::Core | Self::Numa) | (Self::Numa, Self::Numa) => false,
            _ => true,
        }
    }

    fn name(self) -> String {
        match self {
            Self::Numa => "NUMA".to_owned(),
            Self::Pu => "PU".to_owned(),
            Self::Cache(level, instructions) => format!("L{level}{}", if instructions { "i" } else { "" }),
            other => format!("{other:?}"),
        }
    }
}

/// A decimal number without sign and without leading zeros, which hwloc would take for an octal one.
fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::{check, in_bytes};

    #[track_caller]
    fn accepts(text: &str, alu_width: Option<u32>) {
        let found = check(text).unwrap_or_else(|reason| panic!("{text}: {reason}"));
        assert_eq!(found.alu_width, alu_width, "{text}");
    }

    #[track_caller]
    fn refuses(text: &str, part: &str) {
        let found = check(text).expect_err(text);
        assert!(found.contains(part), "{text:?}: {found:?} does not say {part:?}");
        assert!(found.len() < 400 && !found.contains('\u{1b}'), "{found:?}");
    }

    #[test]
    fn accepts_what_people_write() {
        accepts("Package:4 Core:16 Group:2 PU:4", Some(4));
        accepts("pack:2 core:4 pu:2", None);
        accepts("  so:2 no:2 L3Cache:1(size=32MiB) l2:4 l1d:1 l1i:1 CORE:1 pu:2  ", None);
        accepts("(memory=1GB) node:2(memory=64GB indexes=1,0) pu:2(indexes=0,2,1,3)", None);
        accepts("pack:2 [NUMA(memory=1TB)] [numa] die:2 core:2 pu:2", None);
        accepts("pu:8(indexes=4*2:1*4)", None);
        accepts("group:2 pack:2 group:2 core:1 group:1 pu:3", Some(3));
        accepts("Package:64 Core:128 PU:8", None);
        accepts("L3Cache:1(size=16777216) [NUMANode] Package:2 L2Cache:1(size=262144) Core:1 PU:1", None);
    }

    #[test]
    fn sizes_are_given_in_bytes() {
        let text = "(memory=1GB ) node:2(memory=2KiB indexes=1,0) l3:1(size=3 ) pu:4(indexes=2*2:1*2)";
        let bytes = "(memory=1000000000 ) node:2(memory=2048 indexes=1,0) l3:1(size=3 ) pu:4(indexes=2*2:1*2)";
        assert_eq!(in_bytes(text), bytes);
    }

    #[test]
    fn counts_are_found_again() {
        for text in ["Package:4 Core:16 Group:2 PU:4", "  (memory=1GB) pack:12 [numa(memory=3GB)] l2:1(size=5kB) pu:7"]
        {
            let found = check(text).unwrap();
            assert!(found.counts.len() >= 3);
            for (count, place) in found.counts {
                assert_eq!(text[place].parse(), Ok(count), "{text}");
            }
        }
        for (text, regular) in [
            ("pack:2 [numa] pu:2", true),
            ("node:2 pu:2", true),
            ("pack:2 [numa] die:2 [numa] pu:2", false),
            ("pu:2(indexes=1,0)", false),
        ] {
            assert_eq!(check(text).unwrap().regular, regular, "{text}");
        }
        refuses("pack:2 [numa] [numa] pu:4096", "4096 strands, not 8192");
    }

    #[test]
    fn refuses_bad_counts() {
        for text in [
            "pu:0",
            "pu:-1",
            "pu:+1",
            "pu:1e9",
            "pu:010",
            "pu:0x10",
            "pu:",
            "pu:1.5",
            "pu:٤",
            "pu:99999999999999999999",
        ] {
            assert!(check(text).is_err(), "{text}");
        }
        refuses("pu:0", "is not a whole number");
        refuses("pack:65536 pu:2", "more than 65536");
        refuses("pack:4294967296 core:4294967296 pu:2", "more than 65536");
        refuses("node:99999 pu:2", "more than 65536");
    }

    #[test]
    fn refuses_bad_structure() {
        refuses("", "no levels");
        refuses("   ", "no levels");
        refuses("core:2 pack:2 pu:2", "cannot be inside Core");
        refuses("l2:2 l3:2 pu:2", "L3 cannot be inside L2");
        refuses("l2:2 pack:2 pu:2", "Package cannot be inside L2");
        refuses("foo:2", "no type \"foo\"");
        refuses("2 3 4", "no type");
        refuses("p:2", "no type");
        refuses("l4i:1 pu:1", "no type");
        refuses("pack:2 core", "lacks a colon");
        refuses("pack:2 core:2", "last level");
        refuses("pu:2 pu:2", "PU is there twice");
        refuses("pack:2 [numa] node:2 pu:2", "either NUMA:2 or [NUMA]");
        refuses("core:2 pu:2 core:2", "inside PU");
        refuses("core:2 core:2 pu:2", "is there twice");
        refuses("machine:1 pu:1", "no type");
        refuses("pack:2,core:2,pu:2", "whole number");
        refuses(&format!("{}pu:1", "group:1 ".repeat(200)), "levels");
        refuses(&"pu:1 ".repeat(1 << 18), "longer than 64 KiB");
        refuses("pu:1\0", "'\\0'");
        refuses("pack:2\tpu:1", "'\\t'");
        refuses("\u{1b}[2J:2", "character");
    }

    #[test]
    fn refuses_bad_attributes() {
        refuses("pu:2(indexes=0,0)", "stands twice");
        refuses("pu:2(indexes=0,4294967296)", "no index");
        refuses("pu:2(indexes=0,1,2)", "3 indexes for 2");
        refuses("pu:2(indexes=)", "no index");
        refuses("pu:4(indexes=2*2:2*2)", "each once");
        refuses("pu:4(indexes=0*2)", "no index");
        // Quickly, however many loops there are.
        refuses(&format!("pu:4096(indexes=1*2048{})", ":1*1".repeat(16_000)), "each once");
        refuses("pu:4(indexes=core:pu)", "no index");
        refuses("pu:2(indexes=0,1", "bracket is not closed");
        refuses("[numa pu:2", "bracket is not closed");
        refuses("[core] pu:2", "only NUMA");
        refuses("pu:2]", "whole number");
        refuses("pu:2(size=1MB)", "no attribute \"size\"");
        refuses("l2:1(size=1XB) pu:2", "not a size");
        refuses("l2:1(size=99999999TB) pu:2", "not a size");
        refuses("l2:1(memory=1MB) pu:2", "no attribute");
        refuses("pu:2()x", "without a blank");
    }
}
