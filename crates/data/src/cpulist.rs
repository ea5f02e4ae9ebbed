//! Lists of strand ids as Linux writes them, `0-3,8`, and as other tools do.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The largest id that a list may hold.
///
/// Linux is built for at most 8192 CPUs today; the limit leaves room for described machines and keeps a typing error
/// such as `0-4294967295` from asking for gigabytes.
pub const MAX_ID: u32 = (1 << 20) - 1;

/// Reads a list of CPUs into the ids that it names, in the order and number in which it names them: in each form that systems and tools
/// print.
///
/// | form | names | from |
/// | --- | --- | --- |
/// | `0-3,8`, `0-3 8` | CPUs 0 to 3 and 8 | Linux, numactl, libgomp |
/// | `0-62:2` | each second from 0 to 62 | lscpu, taskset, libgomp |
/// | `0-63:2/16` | the first 2 of each 16 | the kernel's parameters and control groups |
/// | `0x5`, `0x00000001,0x00000002` | the bits of a mask; words of eight digits are one mask, the highest first | taskset, hwloc |
/// | `mask_cpu:0x1,0x4`, `0x1,0x4` | the bits of each mask in turn | Slurm |
/// | `map_cpu:0,0x2` | each number, also hexadecimal ones | Slurm |
///
/// # Errors
///
/// One sentence about the first piece that is none of these, or names an id above [`MAX_ID`].
pub fn parse(text: &str) -> Result<Vec<u32>, String> {
    let text = text.trim();
    if let Some(numbers) = text.strip_prefix("map_cpu:") {
        return numbers.split(',').map(number).collect();
    }
    let masks = text.strip_prefix("mask_cpu:");
    if masks.is_some() || text.starts_with("0x") {
        return bits(masks.unwrap_or(text), masks.is_some());
    }
    let mut ids = Vec::new();
    for piece in text.split([',', ' ', '\t', '\n']).filter(|piece| !piece.is_empty() || !text.contains(' ')) {
        match piece.split_once('-') {
            None => ids.push(id(piece)?),
            Some((first, last)) => {
                let (last, step) = last.split_once(':').map_or((last, None), |(last, step)| (last, Some(step)));
                let (first, last) = (id(first)?, id(last)?);
                if first > last {
                    return Err(format!("the range {first}-{last} goes backwards; write {last}-{first}"));
                }
                let (used, group) = step.map_or(Ok((1, 1)), steps)?;
                ids.extend((first..=last).filter(|id| (id - first) % group < used));
            }
        }
        check_count(&ids)?;
    }
    Ok(ids)
}

fn check_count(ids: &[u32]) -> Result<(), String> {
    match ids.len() > MAX_ID as usize + 1 {
        true => Err(format!("the list names more than {} ids", u64::from(MAX_ID) + 1)),
        false => Ok(()),
    }
}

/// How many ids of each group are named, and how many a group has: of `2` the first of two, of `2/16` the first two of sixteen.
fn steps(text: &str) -> Result<(u32, u32), String> {
    let (used, group) = text.split_once('/').unwrap_or(("1", text));
    let of = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0 && is_digits(text));
    of(used).zip(of(group)).filter(|(used, group)| used <= group).ok_or_else(|| {
        format!(
            "{} is no step of a range; write 0-62:2 for each second CPU, or 0-63:2/16 for the first two of each 16",
            crate::quote(text)
        )
    })
}

/// The bits of masks: of several those of each in turn, but words of eight digits are one mask.
fn bits(text: &str, is_slurm: bool) -> Result<Vec<u32>, String> {
    let words: Vec<&str> = text.split(',').collect();
    let is_word = |word: &&str| word.len() == 10 || (word.is_empty() || *word == "0x0");
    let is_one = !is_slurm && words.iter().all(is_word);
    let mut ids = Vec::new();
    // The highest word comes first, and the lowest ids do.
    let order = (0..words.len()).map(|at| if is_one { words.len() - 1 - at } else { at });
    for at in order {
        let word = words[at];
        let digits = word.strip_prefix("0x").or((is_one && word.is_empty()).then_some("0"));
        let digits = digits.filter(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some(digits) = digits else {
            return Err(format!("{} is no mask of CPUs; write such as 0x5 for CPUs 0 and 2", crate::quote(word)));
        };
        let below = if is_one { 32 * (words.len() - 1 - at) } else { 0 };
        let mut found = Vec::new();
        for (place, digit) in digits.bytes().rev().enumerate() {
            let digit = (digit as char).to_digit(16).unwrap_or(0);
            let set = (0..4).filter(|bit| digit >> bit & 1 == 1);
            found.extend(set.map(|bit| below + 4 * place + bit));
        }
        found.sort_unstable();
        let last = found.last().copied().unwrap_or(0);
        if last > MAX_ID as usize {
            return Err(format!("the mask names CPU {last}, which is above the largest one possible, {MAX_ID}"));
        }
        ids.extend(found.into_iter().map(|id| id as u32));
        check_count(&ids)?;
    }
    if ids.is_empty() { Err(format!("the mask {} names no CPU", crate::quote(text))) } else { Ok(ids) }
}

/// A number of Slurm's: hexadecimal behind `0x`.
fn number(text: &str) -> Result<u32, String> {
    match text.strip_prefix("0x") {
        Some(digits) => {
            let number =
                u32::from_str_radix(digits, 16).ok().filter(|number| *number <= MAX_ID && !digits.starts_with('+'));
            number.ok_or_else(|| format!("{} is not a CPU id; write such as map_cpu:0,0x2", crate::quote(text)))
        }
        None => id(text),
    }
}

/// What a list says of CPUs that are known only where it is used, in numactl's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// These.
    These(Vec<u32>),
    /// `+0-3`: the first four of those that may be used, by their ids.
    Counted(Vec<u32>),
    /// `!0-1`: all that may be used but these.
    AllBut(Vec<u32>),
    /// `all` that may be used.
    All,
}

impl Wanted {
    /// Reads a list, with what [`parse`] reads behind numactl's sign.
    ///
    /// # Errors
    ///
    /// One sentence, as [`parse`].
    pub fn of(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix('+'), text.strip_prefix('!')) {
            ("all", ..) => Ok(Self::All),
            ("same", ..) => Err("same is numactl's word for the nodes of the CPUs; name CPUs, such as 0-3".to_owned()),
            (_, Some(list), _) => parse(list).map(Self::Counted),
            (_, _, Some(list)) => parse(list).map(Self::AllBut),
            _ => parse(text).map(Self::These),
        }
    }

    /// The ids, given the ascending ids of those that may be used.
    ///
    /// # Errors
    ///
    /// A clause where there are not as many, or none is left.
    pub fn among(&self, usable: &[u32]) -> Result<Vec<u32>, String> {
        match self {
            Self::These(ids) => Ok(ids.clone()),
            Self::All => Ok(usable.to_vec()),
            Self::Counted(places) => {
                let id = |place: &u32| {
                    let missing = || format!("there is no +{place}: {} may be used, {}", cpus(usable), counted(usable));
                    usable.get(*place as usize).copied().ok_or_else(missing)
                };
                places.iter().map(id).collect()
            }
            Self::AllBut(ids) => {
                let ids: BTreeSet<&u32> = ids.iter().collect();
                let left: Vec<u32> = usable.iter().copied().filter(|id| !ids.contains(id)).collect();
                if left.is_empty() { Err(format!("it leaves none of {}", cpus(usable))) } else { Ok(left) }
            }
        }
    }
}

/// Which places there are: `+0-3`.
fn counted(usable: &[u32]) -> String {
    let places: Vec<u32> = (0..).take(usable.len()).collect();
    format!("+{}", print(&places))
}

impl std::fmt::Display for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::These(ids) => f.write_str(&print(ids)),
            Self::Counted(ids) => write!(f, "+{}", print(ids)),
            Self::AllBut(ids) => write!(f, "!{}", print(ids)),
            Self::All => f.write_str("all"),
        }
    }
}

/// For a reader: `CPU 3`, `CPUs 0-3,8`, `CPUs 0-62:2`, `no CPUs`.
pub fn cpus(ids: &[u32]) -> String {
    match ids {
        [] => "no CPUs".to_owned(),
        [id] => format!("CPU {id}"),
        _ => format!("CPUs {}", shown(ids)),
    }
}

/// The shortest list for a reader: as [`print`], and ids in equal steps become a range with a step, as lscpu prints it. [`parse`] gives the
/// same ids back; other tools may not know steps.
pub fn shown(ids: &[u32]) -> String {
    let mut pieces: Vec<String> = Vec::new();
    let mut rest = ids;
    while let [first, others @ ..] = rest {
        let step = others.first().and_then(|next| next.checked_sub(*first)).filter(|step| *step > 0);
        let run = step
            .map_or(1, |step| 1 + rest.windows(2).take_while(|two| two[0].checked_add(step) == Some(two[1])).count());
        let (taken, after) = rest.split_at(run);
        let last = taken[taken.len() - 1];
        let stepped = format!("{first}-{last}:{}", step.unwrap_or(1));
        let (piece, after) = match step {
            Some(1) => (format!("{first}-{last}"), after),
            // Where a step is no shorter, a range may begin at the next id.
            Some(_) if stepped.len() < print(taken).len() => (stepped, after),
            _ => (first.to_string(), others),
        };
        pieces.push(piece);
        rest = after;
    }
    pieces.join(",")
}

/// Writes ids as a list; neighbours that follow each other become a range.
///
/// The order is kept, so parsing the text gives the same ids back.
pub fn print(ids: &[u32]) -> String {
    let mut text = String::new();
    for run in ids.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
        if !text.is_empty() {
            text.push(',');
        }
        let (first, last) = (run[0], run[run.len() - 1]);
        // Writing to a string cannot fail.
        let _ = if first == last { write!(text, "{first}") } else { write!(text, "{first}-{last}") };
    }
    text
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn id(text: &str) -> Result<u32, String> {
    if !is_digits(text) {
        return Err(format!("{} is not a CPU id; write ids and ranges such as 0-3,8", crate::quote(text)));
    }
    text.parse()
        .ok()
        .filter(|id| *id <= MAX_ID)
        .ok_or_else(|| format!("the CPU id {} is above the largest one possible, {MAX_ID}", crate::quote(text)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Wanted, cpus, parse, print, shown};

    #[track_caller]
    fn check(text: &str, expected: Result<&[u32], &str>) {
        match (parse(text), expected) {
            (Ok(found), Ok(ids)) => assert_eq!(found, ids),
            (Err(found), Err(part)) => assert!(found.contains(part), "{found:?} does not say {part:?}"),
            (found, expected) => panic!("{text:?} gave {found:?} where {expected:?} was expected"),
        }
    }

    #[test]
    fn reads_ids_and_ranges_and_refuses_the_rest() {
        check("0-3,8", Ok(&[0, 1, 2, 3, 8]));
        check("7", Ok(&[7]));
        check("5,4,4", Ok(&[5, 4, 4]));
        check("5-1", Err("backwards"));
        for text in [
            "",
            ",",
            "1,",
            "1,,2",
            "-1",
            "1-",
            "+1",
            "x1",
            "1e3",
            "٤",
            "1-2-3",
            "1.5",
            "1:2",
            "map_cpu:",
            "map_cpu:1-2",
        ] {
            check(text, Err("is not a CPU id"));
        }
        for text in ["1048576", "0-1000000000", "99999999999999999999"] {
            check(text, Err("above the largest"));
        }
        check(&["0-1048575"; 3].join(","), Err("more than 1048576"));
    }

    #[test]
    fn forms_of_other_tools_are_read() {
        check(" 0-2 8\n", Ok(&[0, 1, 2, 8]));
        check("0, 2", Ok(&[0, 2]));
        check("1-9:4,2", Ok(&[1, 5, 9, 2]));
        check("0-5:1", Ok(&[0, 1, 2, 3, 4, 5]));
        check("4-15:2/8", Ok(&[4, 5, 12, 13]));
        check("0x5", Ok(&[0, 2]));
        check("0xF0000000000000000", Ok(&[64, 65, 66, 67]));
        check("0x00000001,,0x0", Ok(&[64]));
        check("0x00000001,0x00000002", Ok(&[1, 32]));
        check("0x4,0x3", Ok(&[2, 0, 1]));
        check("mask_cpu:0x00000001,0x00000002", Ok(&[0, 1]));
        check("map_cpu:3,0xa", Ok(&[3, 10]));
        for text in ["0-9:0", "0-9:", "0-9:3/2", "0-9:-1", "0-9:0/2", "0-9:2/"] {
            check(text, Err("is no step"));
        }
        for text in ["0x", "0xg", "mask_cpu:3", "0x1,", "0x1,2", "0xf...f"] {
            check(text, Err("is no mask"));
        }
        check("0x0", Err("names no CPU"));
        check(&format!("0x1{}", "0".repeat(300_000)), Err("above the largest"));
    }

    #[test]
    fn what_is_wanted_depends_on_what_may_be_used() {
        let usable = [2, 3, 8, 9];
        let of = |text: &str| Wanted::of(text).and_then(|wanted| wanted.among(&usable));
        assert_eq!(of("+1-3"), Ok(vec![3, 8, 9]));
        assert_eq!(of("!3,8"), Ok(vec![2, 9]));
        assert_eq!(of("all"), Ok(usable.to_vec()));
        assert_eq!(of("7,0"), Ok(vec![7, 0]));
        for (text, part) in [
            ("+4", "no +4"),
            ("!0-9", "none"),
            ("same", "name CPUs"),
            ("!", "is not a CPU id"),
            ("+all", "is not a CPU id"),
        ] {
            assert!(of(text).is_err_and(|found| found.contains(part)), "{text}");
        }
        for text in ["all", "+0-3", "!1,4", "0-3"] {
            assert_eq!(Wanted::of(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn lists_for_readers_have_steps_where_these_are_shorter() {
        let even: Vec<u32> = (0..32).map(|id| 2 * id).collect();
        assert_eq!(shown(&even), "0-62:2");
        assert_eq!(shown(&[0, 2, 4]), "0,2,4");
        assert_eq!(shown(&[0, 2, 3, 4, 5]), "0,2-5");
        assert_eq!(cpus(&[1]) + &cpus(&[]) + &cpus(&[0, 1]), "CPU 1no CPUsCPUs 0-1");
    }

    #[test]
    fn prints_the_shortest_list_that_keeps_the_order() {
        assert_eq!(print(&[]), "");
        assert_eq!(print(&[0, 1, 2, 3, 8]), "0-3,8");
        assert_eq!(print(&[0, 4, 1, 5]), "0,4,1,5");
        assert_eq!(print(&[u32::MAX, 0]), "4294967295,0");
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(ids in prop::collection::vec(0u32..200, 1..50)) {
            prop_assert!(shown(&ids).len() <= print(&ids).len());
            prop_assert_eq!(&parse(&shown(&ids)), &Ok(ids.clone()));
            prop_assert_eq!(parse(&print(&ids)), Ok(ids));
        }
    }
}
