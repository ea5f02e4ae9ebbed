//! Writing reports.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use serde::Serialize;

use super::{Derived, Finding, Report};

/// Whether a file of this name holds its report compressed: where it ends in `.gz`. Readers look at what is in it.
pub fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gz")
}

/// A report's file: what was measured, and what follows from it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct File<'a> {
    #[serde(flatten)]
    report: &'a Report,
    /// What follows from the rest, for other programs: charz reads none of it.
    derived: Derived<'a>,
}

impl<'a> File<'a> {
    /// Of a report that was judged.
    pub fn of(report: &'a Report, findings: &'a [Finding]) -> Self {
        File { report, derived: Derived::of(report, findings) }
    }
}

/// Writes a report that was judged as one line of JSON, with findings, compressed by gzip if it is `packed`.
///
/// # Errors
/// The errors of `out`.
pub fn write(report: &Report, findings: &[Finding], packed: bool, out: &mut dyn Write) -> io::Result<()> {
    let line = |out: &mut dyn Write| {
        serde_json::to_writer(&mut *out, &File::of(report, findings))?;
        out.write_all(b"\n")
    };
    if !packed {
        return line(out);
    }
    let mut packer = GzEncoder::new(out, Compression::default());
    line(&mut packer)?;
    packer.finish().map(drop)
}

/// A text compressed by gzip, as [`unpacked`](super::unpacked) reads it.
pub fn packed(text: &str) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(text.as_bytes()).and_then(|()| packer.finish()).expect("memory takes it")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::read::KEYS;
    use super::super::{Kind, is_report, kind, parse, read, read_stream};
    use super::*;

    #[test]
    fn a_file_of_other_json_is_known_by_its_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.json");
        for (text, expected) in [
            // What follows is not read.
            ("{\"name\": \0", Kind::OtherJson),
            (" [\0", Kind::OtherJson),
            ("{}", Kind::OtherJson),
            ("5", Kind::OtherJson),
            ("{\"schema\": 5}", Kind::OtherJson),
            ("{\"id\": 5, \"cells\": []}", Kind::OtherJson),
            ("", Kind::Unknown),
            ("{\"id\": 5, \"cel", Kind::Unknown),
            ("{\"na", Kind::Unknown),
            ("\0\0", Kind::Unknown),
        ] {
            fs::write(&file, text).unwrap();
            assert_eq!(kind(&file), expected, "{text:?}");
        }
        assert_eq!(kind(folder.path()), Kind::Unknown);
        let report = parse(crate::report::fixtures::ARITHMETIC).unwrap();
        let report = serde_json::to_value(File::of(&report, &[])).unwrap();
        assert!(report.as_object().unwrap().keys().all(|key| KEYS.contains(&key.as_str())), "all keys are known");
    }

    #[test]
    fn a_packed_report_is_smaller_and_reads_the_same() {
        let report = parse(crate::report::fixtures::ARITHMETIC).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let write_as = |packed| {
            let (file, mut bytes) = (folder.path().join("any-name"), Vec::new());
            write(&report, &[], packed, &mut bytes).unwrap();
            fs::write(&file, &bytes).unwrap();
            (file, bytes)
        };
        let (plain, all) = write_as(false);
        assert_eq!(read(&plain).unwrap(), report);
        let (packed, bytes) = write_as(true);
        assert!(bytes.len() * 3 < all.len(), "{} of {} bytes", bytes.len(), all.len());
        assert_eq!(read(&packed).unwrap(), report);
        assert_eq!(read_stream("a stream", bytes.as_slice()).unwrap().0, report);
        assert!(is_report(&packed) && is_report(&plain) && !is_report(folder.path()));
        // With its keys sorted, as `jq -S` leaves it.
        let mut sorted = serde_json::to_value(File::of(&report, &[])).unwrap();
        fs::write(&plain, sorted.to_string()).unwrap();
        assert!(is_report(&plain));
        sorted["schema"]["name"] = "another".into();
        fs::write(&plain, sorted.to_string()).unwrap();
        assert!(!is_report(&plain));
        for damaged in [&bytes[..bytes.len() / 2], &bytes[..bytes.len() - 4], b"\x1f\x8bno more"] {
            fs::write(&packed, damaged).unwrap();
            let error = read(&packed).unwrap_err().to_string();
            assert!(error.contains("compressed"), "{error}");
        }
    }
}
