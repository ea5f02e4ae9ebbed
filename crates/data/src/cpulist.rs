//! Lists of strand ids as Linux writes them: `0-3,8`.

use std::fmt::Write as _;

/// The largest id that a list may hold.
///
/// Linux is built for at most 8192 CPUs today; the limit leaves room for described machines and keeps a typing error
/// such as `0-4294967295` from asking for gigabytes.
pub const MAX_ID: u32 = (1 << 20) - 1;

/// Reads `0-3,8` into the ids it names, in the order and number in which it names them.
///
/// # Errors
///
/// One sentence about the first piece that is not an id or a range going upwards, or is above [`MAX_ID`].
pub fn parse(text: &str) -> Result<Vec<u32>, String> {
    let mut ids = Vec::new();
    for piece in text.split(',') {
        match piece.split_once('-') {
            None => ids.push(id(piece)?),
            Some((first, last)) => {
                let (first, last) = (id(first)?, id(last)?);
                if first > last {
                    return Err(format!("the range {first}-{last} goes backwards; write {last}-{first}"));
                }
                ids.extend(first..=last);
            }
        }
        if ids.len() > MAX_ID as usize + 1 {
            return Err(format!("the list names more than {} ids", u64::from(MAX_ID) + 1));
        }
    }
    Ok(ids)
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

fn id(text: &str) -> Result<u32, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits {
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

    use super::{parse, print};

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
        for text in ["", ",", "1,", "1,,2", "-1", "1-", "+1", " 1", "0x1", "1e3", "٤", "1-2-3", "1.5"] {
            check(text, Err("is not a CPU id"));
        }
        for text in ["1048576", "0-1000000000", "99999999999999999999"] {
            check(text, Err("above the largest"));
        }
        check(&["0-1048575"; 3].join(","), Err("more than 1048576"));
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
            prop_assert_eq!(parse(&print(&ids)), Ok(ids));
        }
    }
}
