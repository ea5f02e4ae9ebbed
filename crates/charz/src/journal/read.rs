//! Reading a journal, whatever has happened to it.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
use std::ops::RangeInclusive;
use std::path::Path;

use serde::de::DeserializeOwned;

use super::line::{self, Header, MAGIC, VERSION};
use super::{JournalError, MAX_FILE_BYTES, MAX_LINE_BYTES};
use crate::disk;

/// So many dropped lines are named, the others counted: a hostile file has a thousand million of them.
const MOST_NAMED: usize = 10_000;

/// What a journal holds.
#[derive(Debug)]
pub struct Recovered<H, R> {
    /// The run's name: 16 hexadecimal digits, drawn when the journal was created.
    pub run: String,
    /// The caller's part of the first line.
    pub header: H,
    /// The intact records in the order in which they were appended, each once.
    pub records: Vec<R>,
    /// The lines that hold no such record, by line; the first 10,000 of them.
    pub dropped: Vec<Dropped>,
    /// How many more lines were dropped than are named.
    pub unnamed: u64,
    /// The numbers of records, counted from 1, that stand before the last intact one and are on no intact line.
    pub missing: Vec<RangeInclusive<u64>>,
    /// The number of the next record, if there is one.
    pub(super) next: Option<u64>,
}

/// A line of a journal that holds no record to be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Its number in the file, from 1; the header is line 1.
    pub line: u64,
    /// What is wrong with it.
    pub why: Cause,
}

/// What is wrong with a line of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It is the last one and stops short.
    Torn,
    /// It is not what its checksum says, or no record at all.
    Damaged,
    /// It is longer than any line that is written.
    TooLong,
    /// It belongs to another run.
    Foreign,
    /// Its number has been read already, on the line named here.
    Repeated(u64),
    /// It is intact, but not of the kind of record that is read; in the words of the JSON reader.
    Unknown(String),
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.why {
            Cause::Torn => f.write_str("it stops short"),
            Cause::Damaged => f.write_str("it is damaged: its checksum is another one"),
            Cause::TooLong => write!(f, "it has more than {MAX_LINE_BYTES} bytes"),
            Cause::Foreign => f.write_str("it belongs to another run"),
            Cause::Repeated(line) => write!(f, "it repeats line {line}"),
            Cause::Unknown(error) => write!(f, "it is intact, but not a record that is known here: {error:?}"),
        }
    }
}

/// Whether a file begins like a journal of any version. What cannot be read is none.
pub fn is_journal(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    let read = disk::open_regular(path, OpenOptions::new().read(true)).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == MAGIC.as_bytes()
}

/// Reads a journal, through symbolic links, and leaves it as it is. Damaged lines cost what they hold and nothing else.
///
/// # Errors
/// A sentence that names the file, where it cannot be read, is not a regular file of at most [`MAX_FILE_BYTES`], or does not
/// begin with an intact header of this version.
pub fn recover<H: DeserializeOwned, R: DeserializeOwned>(path: &Path) -> Result<Recovered<H, R>, JournalError> {
    let file = disk::open_regular(path, OpenOptions::new().read(true)).map_err(|error| unreadable(path, error))?;
    read(&file, path)
}

pub(super) fn unreadable(path: &Path, error: io::Error) -> JournalError {
    JournalError::io(format!("cannot read the journal {path:?}"), error)
}

/// Reads a journal from an open file.
pub(super) fn read<H: DeserializeOwned, R: DeserializeOwned>(
    file: &File,
    path: &Path,
) -> Result<Recovered<H, R>, JournalError> {
    let length = file.metadata().map_err(|error| unreadable(path, error))?.len();
    if length > MAX_FILE_BYTES {
        let sentence =
            format!("{path:?} has {length} bytes, and a journal has at most {MAX_FILE_BYTES}; name another file");
        return Err(JournalError::new(sentence));
    }
    parse(BufReader::new(file.take(MAX_FILE_BYTES)), path)
}

/// Reads a journal's lines; `path` is for messages.
pub(crate) fn parse<H: DeserializeOwned, R: DeserializeOwned>(
    reader: impl BufRead,
    path: &Path,
) -> Result<Recovered<H, R>, JournalError> {
    let mut lines = Lines { reader, most: MAX_LINE_BYTES };
    let mut line = Vec::new();
    lines.next(&mut line).map_err(|error| unreadable(path, error))?;
    let (run, header) = header(&line).map_err(|reason| JournalError::new(format!("{path:?} {reason}")))?;
    let mut found = Found { run, entries: Vec::new(), dropped: Vec::new(), unnamed: 0 };
    for number in 2.. {
        match lines.next(&mut line).map_err(|error| unreadable(path, error))? {
            Ending::Nothing => break,
            Ending::TooLong => found.drop(number, Cause::TooLong),
            Ending::Newline => found.line(number, &line, Cause::Damaged),
            Ending::File => found.line(number, &line, Cause::Torn),
        }
    }
    Ok(found.into_recovered(header))
}

fn header<H: DeserializeOwned>(line: &[u8]) -> Result<(String, H), String> {
    match line::parse_header(line) {
        Header::Intact(run, payload) => match serde_json::from_slice(payload) {
            Ok(header) => Ok((run.to_owned(), header)),
            Err(error) => Err(format!(
                "is a journal whose first line this program does not understand ({:?}); use the charz that wrote it",
                words(&error)
            )),
        },
        Header::Version(version) => Err(format!(
            "is a journal of format version {version:?}, and this program reads {VERSION}; use the charz that wrote it"
        )),
        Header::Damaged => {
            Err("is a journal whose first line is damaged, so that nobody can tell what it measured; begin a new one"
                .into())
        }
        Header::Foreign if line.is_empty() => Err("is not a journal: it begins with nothing; name another file".into()),
        Header::Foreign => Err("is not a journal that charz wrote; name another file".into()),
    }
}

/// The start of what the JSON reader says: it quotes the file, which may hold a lot.
fn words(error: &serde_json::Error) -> String {
    error.to_string().chars().take(200).collect()
}

/// How a line ends.
#[derive(Debug, PartialEq)]
enum Ending {
    /// With a newline, which is left out.
    Newline,
    /// With the file.
    File,
    /// Later than any line may; it was passed over.
    TooLong,
    /// There was no line.
    Nothing,
}

struct Lines<B> {
    reader: B,
    /// The longest line that is kept, without its newline.
    most: usize,
}

impl<B: BufRead> Lines<B> {
    /// Reads a line into `line`, which grows with what is there and not with what might be.
    fn next(&mut self, line: &mut Vec<u8>) -> io::Result<Ending> {
        line.clear();
        self.reader.by_ref().take(self.most as u64 + 1).read_until(b'\n', line)?;
        if line.pop_if(|byte| *byte == b'\n').is_some() {
            return Ok(Ending::Newline);
        }
        if line.len() > self.most {
            line.clear();
            self.reader.skip_until(b'\n')?;
            return Ok(Ending::TooLong);
        }
        Ok(if line.is_empty() { Ending::Nothing } else { Ending::File })
    }
}

/// A record and where it was found.
struct Entry<R> {
    sequence: u64,
    line: u64,
    record: R,
}

/// What was found so far.
struct Found<R> {
    run: String,
    entries: Vec<Entry<R>>,
    dropped: Vec<Dropped>,
    unnamed: u64,
}

impl<R: DeserializeOwned> Found<R> {
    /// Takes what a line holds; `otherwise` is what is wrong with it where it is no intact record.
    fn line(&mut self, number: u64, line: &[u8], otherwise: Cause) {
        // It ends a line that stopped short, and where there was none it holds nothing.
        if line.is_empty() {
            return;
        }
        if let Some(found) = line::parse_record(line) {
            return self.record(number, &found);
        }
        let Some(at) = line::last_start(line) else { return self.drop(number, otherwise) };
        // The newline between two lines is damaged; what stands on either side of it may be intact.
        let mut broken = None;
        for (part, otherwise) in [(&line[..at - 1], Cause::Damaged), (&line[at..], otherwise)] {
            match line::parse_record(part) {
                Some(found) => self.record(number, &found),
                None => broken = Some(otherwise),
            }
        }
        if let Some(why) = broken {
            self.drop(number, why);
        }
    }

    fn record(&mut self, line: u64, found: &line::Record<'_>) {
        if found.run != self.run {
            return self.drop(line, Cause::Foreign);
        }
        match serde_json::from_slice(found.payload) {
            Ok(record) => self.entries.push(Entry { sequence: found.sequence, line, record }),
            Err(error) => self.drop(line, Cause::Unknown(words(&error))),
        }
    }

    fn drop(&mut self, line: u64, why: Cause) {
        if self.dropped.len() < MOST_NAMED {
            self.dropped.push(Dropped { line, why });
        } else {
            self.unnamed += 1;
        }
    }

    fn into_recovered<H>(mut self, header: H) -> Recovered<H, R> {
        // Stable: of repeated records the first one in the file comes first.
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_by_key(|entry| entry.sequence);
        entries.dedup_by(|later, first| {
            let repeated = later.sequence == first.sequence;
            if repeated {
                self.drop(later.line, Cause::Repeated(first.line));
            }
            repeated
        });
        self.dropped.sort_by_key(|dropped| dropped.line);
        let mut missing = Vec::new();
        let mut next = Some(1);
        for entry in &entries {
            if let Some(first) = next.filter(|first| *first < entry.sequence) {
                missing.push(first..=entry.sequence - 1);
            }
            next = entry.sequence.checked_add(1);
        }
        let records = entries.into_iter().map(|entry| entry.record).collect();
        let Found { run, dropped, unnamed, .. } = self;
        Recovered { run, header, records, dropped, unnamed, missing, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_passed_over_and_short_ones_kept() {
        let mut lines = Lines { reader: &b"four\nfive5\n\nlonger\nend"[..], most: 4 };
        let mut line = Vec::new();
        let mut read = || (lines.next(&mut line).unwrap(), String::from_utf8(line.clone()).unwrap());
        assert_eq!(read(), (Ending::Newline, "four".into()));
        assert_eq!(read(), (Ending::TooLong, String::new()));
        assert_eq!(read(), (Ending::Newline, String::new()));
        assert_eq!(read(), (Ending::TooLong, String::new()));
        assert_eq!(read(), (Ending::File, "end".into()));
        assert_eq!(read(), (Ending::Nothing, String::new()));
    }
}
