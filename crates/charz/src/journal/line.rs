//! How a line is spelled.
//!
//! ```text
//! {"journal":"charz","version":1,"crc":"9ae0daaf","run":"0011223344556677","header":…}
//! {"crc":"3610a686","run":"0011223344556677","seq":1,"record":…}
//! ```
//!
//! A checksum is the CRC-32 of ISO 3309 (that of zip and PNG) over every byte after the comma behind it, up to the end of the
//! line without its newline. It stands first, so that where it begins and ends does not depend on what may be damaged. Lines
//! are JSON for other readers; this one takes them by their exact spelling, which is the only one that is ever written.

use serde::Serialize;

/// The format's version, in every header.
pub const VERSION: u32 = 1;

/// How every journal of every version begins.
pub const MAGIC: &str = "{\"journal\":\"charz\",\"version\":";

/// The length of a run's name.
pub const RUN_BYTES: usize = 16;

/// The most bytes that a record's line has beside its payload, newline included.
pub const MOST_BESIDE: u64 = 81;

const RECORD: &str = "{";
const CHECKSUM: &str = "\"crc\":\"";
const CHECKSUM_DIGITS: usize = 8;

/// The header's line, newline included.
pub fn header(run: &str, header: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    line(&format!("{MAGIC}{VERSION},"), &format!("\"run\":\"{run}\",\"header\":"), header)
}

/// A record's line, newline included.
pub fn record(run: &str, sequence: u64, record: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    line(RECORD, &format!("\"run\":\"{run}\",\"seq\":{sequence},\"record\":"), record)
}

fn line(start: &str, before: &str, payload: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = format!("{start}{CHECKSUM}00000000\",{before}").into_bytes();
    serde_json::to_writer(&mut line, payload)?;
    line.push(b'}');
    let digits = start.len() + CHECKSUM.len();
    let checked = digits + CHECKSUM_DIGITS + "\",".len();
    let checksum = format!("{:08x}", crc32fast::hash(&line[checked..]));
    line[digits..digits + CHECKSUM_DIGITS].copy_from_slice(checksum.as_bytes());
    line.push(b'\n');
    Ok(line)
}

/// What a header's line holds.
#[derive(Debug, PartialEq)]
pub enum Header<'a> {
    /// The run's name, and the caller's part.
    Intact(&'a str, &'a [u8]),
    /// Another version's, as far as one can tell.
    Version(String),
    /// A journal's, but damaged.
    Damaged,
    /// No journal's.
    Foreign,
}

/// Reads a header's line, without its newline.
pub fn parse_header(line: &[u8]) -> Header<'_> {
    let Some(rest) = line.strip_prefix(MAGIC.as_bytes()) else { return Header::Foreign };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).take(RUN_BYTES).count();
    let (version, rest) = rest.split_at(digits);
    if version != VERSION.to_string().as_bytes() {
        return Header::Version(String::from_utf8_lossy(version).into_owned());
    }
    let intact = || {
        let (run, rest) = run(checked(rest.strip_prefix(b",")?)?)?;
        Some(Header::Intact(run, rest.strip_prefix(b"\"header\":")?.strip_suffix(b"}")?))
    };
    intact().unwrap_or(Header::Damaged)
}

/// What a record's line holds.
#[derive(Debug, PartialEq)]
pub struct Record<'a> {
    /// The run's name.
    pub run: &'a str,
    /// The number in the run, from 1.
    pub sequence: u64,
    /// The caller's part, as JSON.
    pub payload: &'a [u8],
}

/// Reads a record's line, without its newline; none if anything about it is wrong.
pub fn parse_record(line: &[u8]) -> Option<Record<'_>> {
    let (run, rest) = run(checked(line.strip_prefix(RECORD.as_bytes())?)?)?;
    let rest = rest.strip_prefix(b"\"seq\":")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (sequence, rest) = rest.split_at(digits);
    let sequence = str::from_utf8(sequence).ok()?.parse().ok()?;
    let payload = rest.strip_prefix(b",\"record\":")?.strip_suffix(b"}")?;
    Some(Record { run, sequence, payload })
}

/// Where the last record begins in a line that holds more than one, since the newline between them was damaged.
pub fn last_start(line: &[u8]) -> Option<usize> {
    let start = [RECORD.as_bytes(), CHECKSUM.as_bytes()].concat();
    let at = line.windows(start.len()).rposition(|bytes| bytes == start)?;
    (at > 0).then_some(at)
}

/// What the checksum at the start covers, if it is right.
fn checked(text: &[u8]) -> Option<&[u8]> {
    let (digits, rest) = text.strip_prefix(CHECKSUM.as_bytes())?.split_at_checked(CHECKSUM_DIGITS)?;
    let rest = rest.strip_prefix(b"\",")?;
    // Compared as it is spelled: a number has more than one spelling.
    (format!("{:08x}", crc32fast::hash(rest)).as_bytes() == digits).then_some(rest)
}

/// The run's name at the start, and what follows.
fn run(text: &[u8]) -> Option<(&str, &[u8])> {
    let (run, rest) = text.strip_prefix(b"\"run\":\"")?.split_at_checked(RUN_BYTES)?;
    let run = str::from_utf8(run).ok().filter(|run| run.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    Some((run, rest.strip_prefix(b"\",")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "0011223344556677";

    #[test]
    fn lines_are_json_of_one_line_each() {
        let text = "two\nlines, \"quoted\", \u{1b}, ü";
        for line in [header(RUN, &text).unwrap(), record(RUN, 7, &text).unwrap()] {
            let (newline, line) = line.split_last().unwrap();
            assert_eq!((*newline, line.contains(&b'\n')), (b'\n', false));
            let value: serde_json::Value = serde_json::from_slice(line).unwrap();
            assert_eq!(value["run"], RUN);
            assert!([&value["header"], &value["record"]].contains(&&text.into()), "{value}");
        }
    }

    #[test]
    fn a_line_has_so_much_beside_its_record() {
        let longest = record(RUN, u64::MAX, &"payload").unwrap();
        assert_eq!(longest.len() as u64, MOST_BESIDE + "\"payload\"".len() as u64);
    }

    #[test]
    fn the_checksum_is_that_of_zip() {
        // The check value that the catalogue of parametrised CRC algorithms gives for CRC-32/ISO-HDLC.
        assert_eq!(checked(b"\"crc\":\"cbf43926\",123456789"), Some(&b"123456789"[..]));
        assert_eq!(checked(b"\"crc\":\"CBF43926\",123456789"), None);
    }

    #[test]
    fn other_versions_are_told_from_damage() {
        let with = |version: &str| format!("{MAGIC}{version},\"anything\":\"else\"}}");
        assert_eq!(parse_header(with("2").as_bytes()), Header::Version("2".into()));
        assert_eq!(parse_header(with("1").as_bytes()), Header::Damaged);
        assert_eq!(parse_header(b"{\"schema\":{}}"), Header::Foreign);
        assert_eq!(parse_header(b""), Header::Foreign);
    }

    #[test]
    fn a_number_beyond_the_range_is_no_number() {
        let line = line(RECORD, &format!("\"run\":\"{RUN}\",\"seq\":18446744073709551616,\"record\":"), &0).unwrap();
        assert_eq!(parse_record(line.trim_ascii_end()), None);
    }
}
