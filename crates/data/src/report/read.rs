//! Reading report files. Their contents are not trusted: sizes are capped, counts and bounds are checked, and what follows from the rest is not
//! read.

use std::collections::HashSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Error as _};

use super::speeds::FULL;
use super::{Cell, Invocation, Lap, Measured, Report, Run, SCHEMA_MAJOR, SCHEMA_NAME, Schema, Unit, v1};

/// The largest file that is read: a sweep of 512 strands takes a fiftieth of it.
pub const MAX_BYTES: u64 = 1 << 30;

/// How many times as large a compressed report may become. Most become 5 to 10 times as large, and a gzip file 1,032 times at most.
const MOST_RATIO: u64 = 100;
/// What a compressed report may always have.
const ANY_RATIO: u64 = 16 << 20;
/// How much is read before the ratio is looked at again.
const CHUNK: u64 = 1 << 20;

/// What a gzip file begins with (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Why a report could not be read: one sentence.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileError {
    sentence: String,
    source: Option<io::Error>,
}

impl FileError {
    /// The kind of the operating system's error behind it.
    pub fn kind(&self) -> Option<io::ErrorKind> {
        self.source.as_ref().map(io::Error::kind)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|e| e as _)
    }
}

/// Reads a report and checks its version and its sense.
///
/// # Errors
/// A sentence that names the file and what is wrong with it.
pub fn read(path: &Path) -> Result<Report, FileError> {
    read_with_text(path).map(|(report, _)| report)
}

/// As [`read`], with the text that the file holds.
///
/// # Errors
/// As [`read`].
pub fn read_with_text(path: &Path) -> Result<(Report, String), FileError> {
    read_open(path).map(|(report, text, _)| (report, text))
}

/// As [`read_with_text`], with the file that was read: another one may have its name by then.
///
/// # Errors
/// As [`read`].
pub fn read_open(path: &Path) -> Result<(Report, String, File), FileError> {
    let name = format!("{path:?}");
    // Before it is opened: a FIFO would wait for a writer.
    let is_file = fs::metadata(path).map_err(|error| unreadable(&name, error))?.is_file();
    if !is_file {
        return Err(wrong(format!("{name} is not a regular file; name a report that charz sweep wrote")));
    }
    let file = File::open(path).map_err(|error| unreadable(&name, error))?;
    let length = file.metadata().map_err(|error| unreadable(&name, error))?.len();
    if length > MAX_BYTES {
        return Err(wrong(format!("{name} has {length} bytes; a report has at most {MAX_BYTES}")));
    }
    // Room for all of it at once: a text that grows is copied, and ends twice as large.
    let text = Vec::with_capacity(length as usize + 1);
    let (report, text) = read_into(text, &name, &file)?;
    Ok((report, text, file))
}

/// As [`read_with_text`], from a stream that errors call `name`.
///
/// # Errors
/// As [`read`].
pub fn read_stream(name: &str, stream: impl Read) -> Result<(Report, String), FileError> {
    read_into(Vec::new(), name, stream)
}

fn wrong(sentence: String) -> FileError {
    FileError { sentence, source: None }
}

fn unreadable(name: &str, error: io::Error) -> FileError {
    FileError { sentence: format!("cannot read the report {name}"), source: Some(error) }
}

/// Counts the bytes that are read through it.
struct Counted<'a, R> {
    stream: R,
    taken: &'a std::cell::Cell<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.taken.set(self.taken.get() + count as u64);
        Ok(count)
    }
}

/// What a stream that errors call `name` holds, decompressed where it is compressed.
///
/// # Errors
/// As [`read`].
pub fn unpacked(name: &str, stream: impl Read) -> Result<Vec<u8>, FileError> {
    unpacked_into(Vec::new(), name, stream)
}

fn unpacked_into(mut text: Vec<u8>, name: &str, stream: impl Read) -> Result<Vec<u8>, FileError> {
    let unreadable = |error| unreadable(name, error);
    let mut file = BufReader::new(stream);
    let packed = file.fill_buf().map_err(unreadable)?.starts_with(&GZIP);
    let taken = std::cell::Cell::new(0);
    let file = Counted { stream: file, taken: &taken };
    let mut bytes: Box<dyn Read + '_> = if packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    loop {
        let before = text.len();
        bytes.by_ref().take(CHUNK).read_to_end(&mut text).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof if packed => {
                wrong(format!("{name}: not a usable charz report: what is compressed in it is damaged or ends early"))
            }
            _ => unreadable(error),
        })?;
        let (length, ratio) = (text.len() as u64, text.len() as u64 / taken.get().max(1));
        if length == before as u64 {
            break;
        }
        // The file may grow while it is read, and a compressed one has any size: the caps hold all the same.
        if length > MAX_BYTES {
            return Err(wrong(format!("{name} holds more than {MAX_BYTES} bytes, and no report does")));
        }
        if packed && length > ANY_RATIO && ratio > MOST_RATIO {
            return Err(wrong(format!(
                "{name} grows to {ratio} times its compressed size, and no report does to more than {MOST_RATIO} times"
            )));
        }
    }
    Ok(text)
}

fn read_into(text: Vec<u8>, name: &str, stream: impl Read) -> Result<(Report, String), FileError> {
    let text = String::from_utf8(unpacked_into(text, name, stream)?)
        .map_err(|_| wrong(format!("{name}: not a usable charz report: it is not UTF-8 text")))?;
    match parse(&text) {
        Ok(report) => Ok((report, text)),
        Err(reason) => Err(wrong(format!("{name}: not a usable charz report: {reason}"))),
    }
}

/// What a file is, as far as its beginning shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It begins as the reports do that charz writes, or has their schema behind other keys, as another tool sorted them. What
    /// follows may still be none.
    Report,
    /// JSON that is no report.
    OtherJson,
    /// No regular file, or none that can be read as JSON: a damaged report perhaps.
    Unknown,
}

/// The kind of a file, compressed or not. A hundred bytes are read, and the rest only where these may begin a report whose keys another
/// tool sorted.
pub fn kind(path: &Path) -> Kind {
    let kind = || -> io::Result<Kind> {
        let mut file = BufReader::new(File::open(path)?);
        let packed = file.fill_buf()?.starts_with(&GZIP);
        let mut bytes: Box<dyn Read> = if packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
        let mut start = Vec::new();
        bytes.by_ref().take(100).read_to_end(&mut start)?;
        let text = String::from_utf8_lossy(&start);
        if text.contains(&format!("{SCHEMA_NAME:?}")) {
            return Ok(Kind::Report);
        }
        let text = text.trim_start_matches('\u{feff}').trim_start();
        if text.starts_with('[') || first_key(text).is_some_and(|key| !KEYS.contains(&key)) {
            return Ok(Kind::OtherJson);
        }
        let whole = BufReader::new(start.as_slice().chain(bytes.take(MAX_BYTES)));
        Ok(match serde_json::from_reader::<_, Head>(whole) {
            Ok(head) if head.schema.name == SCHEMA_NAME => Kind::Report,
            Err(error) if !error.is_data() => Kind::Unknown,
            Ok(_) | Err(_) => Kind::OtherJson,
        })
    };
    // Before it is opened: a FIFO would wait for a writer.
    if path.is_file() { kind().unwrap_or(Kind::Unknown) } else { Kind::Unknown }
}

/// Whether the kind of a file is [`Kind::Report`].
pub fn is_report(path: &Path) -> bool {
    kind(path) == Kind::Report
}

/// The keys of a report, with any of which it may begin where another tool wrote it again.
#[rustfmt::skip]
pub(super) const KEYS: [&str; 17] = [
    "schema", "id", "tool", "command", "started", "host", "machine", "timer", "plan", "cards", "floor", "cells", "wall_ns", "complete",
    "stopped_by", "derived", "findings",
];

/// The first key of a text that begins an object.
fn first_key(text: &str) -> Option<&str> {
    let key = text.strip_prefix('{')?.trim_start().strip_prefix('"')?;
    key.split_once('"').map(|(key, _)| key)
}

/// Only the fields that decide whether the rest can be read.
#[derive(Deserialize)]
struct Head {
    schema: Schema,
}

/// Reads JSON as a report's text is read: from bytes by themselves the compiler would build all that reads a report a second time.
///
/// # Errors
/// That it is not UTF-8, or not of this type.
pub fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    serde_json::from_str(str::from_utf8(bytes).map_err(serde_json::Error::custom)?)
}

/// Reads a report's text. Nothing in it is judged.
///
/// # Errors
/// What is wrong with it, as the end of a sentence.
pub fn parse(text: &str) -> Result<Report, String> {
    let mut report = any_version(text)?;
    if report.schema.major < SCHEMA_MAJOR {
        report.schema = Schema::of_reports();
    }
    report.complete_cells();
    check(&report)?;
    Ok(report)
}

/// A report of any major version that this program reads, with the schema that its file names.
pub(super) fn any_version(text: &str) -> Result<Report, String> {
    // Some editors and shells begin a file with a byte-order mark.
    let text = text.trim_start_matches('\u{feff}');
    // Nearly every report is of this version: it is read once, and its head by itself only when that fails.
    let error = match serde_json::from_str::<Report>(text) {
        Ok(report) if report.schema.name == SCHEMA_NAME && report.schema.major == SCHEMA_MAJOR => return Ok(report),
        other => other.err(),
    };
    let mut heads = serde_json::Deserializer::from_str(text).into_iter::<Head>();
    let head = heads.next().ok_or("it is empty")?.map_err(|error| match text.trim_start().starts_with('{') {
        true => error.to_string(),
        false => "a report is a JSON object, and this is none".to_owned(),
    })?;
    check_schema(&head.schema)?;
    if let Some(Ok(_)) = heads.next() {
        return Err("it holds more than one report; save each in a file of its own".into());
    }
    match error {
        Some(error) if head.schema.major == SCHEMA_MAJOR => Err(error.to_string()),
        _ => v1::read(text).map_err(|error| error.to_string()),
    }
}

fn check_schema(schema: &Schema) -> Result<(), String> {
    let Schema { name, major, minor } = schema;
    if name != SCHEMA_NAME {
        return Err(format!("its schema is {name:?}, not {SCHEMA_NAME:?}"));
    }
    match (1..=SCHEMA_MAJOR).contains(major) {
        true => Ok(()),
        false => Err(format!(
            "it has format version {major}.{minor}, and this program reads up to {SCHEMA_MAJOR}.x; use the charz that wrote it"
        )),
    }
}

/// What the types cannot say.
///
/// # Errors
/// The first contradiction, as the end of a sentence.
pub fn check(report: &Report) -> Result<(), String> {
    // A journal holds a report too, and is read without looking at its head first.
    check_schema(&report.schema)?;
    let mut seen = HashSet::new();
    let mut keys = report.cells.iter().map(|cell| (&cell.kernel, &cell.mapping, cell.workers, cell.point));
    if let Some((kernel, mapping, workers, _)) = keys.find(|key| !seen.insert(*key)) {
        return Err(format!("it holds {kernel:?} under {mapping:?} with {workers} twice"));
    }
    if report.plan.precision.is_some_and(|wanted| wanted.is_nan() || wanted <= 0.0) {
        return Err("it wants a precision that is not above zero".into());
    }
    let mut cards = HashSet::new();
    if let Some(card) = report.cards.iter().find(|card| !cards.insert(&*card.name)) {
        return Err(format!("it holds two cards of {:?}", card.name));
    }
    if let Some(cell) = report.floor.iter().chain(&report.cells).find(|cell| !cards.contains(cell.kernel.as_str())) {
        return Err(format!("it holds no card of {:?}", cell.kernel));
    }
    for (index, cell) in report.floor.iter().chain(&report.cells).enumerate() {
        // Only what another program measured has values without laps.
        let has_laps = |run: &Run| !run.laps.is_empty() || report.measured_by.is_some();
        let mut runs = cell.invocations.iter().chain(&cell.counted).flat_map(|own| &own.runs);
        let checked = if runs.all(has_laps) { check_cell(cell) } else { Err("has a run without laps") };
        checked.map_err(|what| {
            format!("cell {index}, floor included ({:?}, {} workers), {what}", cell.kernel, cell.workers)
        })?;
    }
    Ok(())
}

fn check_cell(cell: &Cell) -> Result<(), &'static str> {
    if cell.workers == 0 {
        return Err("has no workers");
    }
    if cell.seats.len() as u64 != cell.workers {
        return Err("does not have one seat a worker");
    }
    if cell
        .stated_interval
        .is_some_and(|ends| !(is_measurable(ends.low, cell.unit) && ends.low <= ends.high && ends.high <= 1e24))
    {
        return Err("has an interval that cannot have been measured");
    }
    if cell.invocations.iter().any(Invocation::is_counted) || !cell.counted.iter().all(Invocation::is_counted) {
        return Err("mixes invocations with hardware counters and without");
    }
    let mut starts = HashSet::new();
    for invocation in cell.invocations.iter().chain(&cell.counted) {
        check_invocation(cell, invocation)?;
        // Collections keep no times.
        if invocation.started_ns > 0 && !starts.insert((invocation.started_ns, invocation.seed)) {
            return Err("has a run twice");
        }
    }
    Ok(())
}

/// What the types cannot say of an invocation of this cell before it was judged.
///
/// # Errors
/// The first contradiction, as the end of a sentence about the cell.
pub fn check_invocation(cell: &Cell, invocation: &Invocation) -> Result<(), &'static str> {
    let apart = invocation.evidence.as_ref().and_then(|evidence| evidence.apart_ns);
    if apart.is_some_and(|ns| !is_measurable(ns, Unit::BytesPerSecond)) {
        return Err("has an invocation whose CPUs cannot have been so far apart");
    }
    let seen = invocation.evidence.iter().flat_map(|evidence| evidence.seen.values());
    if !seen.into_iter().all(|quantity| (0.0..=1e24).contains(quantity)) {
        return Err("has a circumstance that cannot have been counted");
    }
    let wake_ups = invocation.evidence.as_ref().and_then(|evidence| evidence.wake_ups.as_ref());
    if let Some(what) = wake_ups.and_then(|times| times.contradiction(times.count())) {
        return Err(what);
    }
    let speeds = &invocation.speeds;
    let are_speeds = speeds.len() as u64 == cell.workers && speeds.iter().all(|speed| (1..=FULL).contains(speed));
    if !speeds.is_empty() && !are_speeds {
        return Err("has speeds that are not those of its workers");
    }
    for run in &invocation.runs {
        check_run(run, cell.workers)?;
        // Too short for the clock, or for one operation, is a result, and one that gives no number.
        let value = run.value(cell.unit);
        if value.is_finite() && value != 0.0 && !is_measurable(value, cell.unit) {
            return Err("has a run that cannot have been measured");
        }
    }
    Ok(())
}

fn check_run(run: &Run, workers: u64) -> Result<(), &'static str> {
    // What another program measured has a value and no laps.
    let has_laps = !run.laps.is_empty() || run.reported.is_none();
    if has_laps && run.laps.iter().map(Lap::workers).fold(0, u64::saturating_add) != workers {
        return Err("has a run whose laps are not those of its workers");
    }
    if run.laps.iter().any(|lap| lap.rank >= workers) {
        return Err("has a lap of a worker that it does not have");
    }
    if let Some(what) = run.laps.iter().find_map(Lap::contradiction) {
        return Err(what);
    }
    run.samples.as_ref().and_then(|samples| samples.contradiction()).map_or(Ok(()), Err)
}

/// What the types cannot say of what was concluded of a cell and is not concluded again.
pub(super) fn check_concluded(cell: &Cell) -> Result<(), &'static str> {
    let estimates = || [cell.capacity, cell.delivered].into_iter().flatten();
    let numbers = cell.invocations.iter().filter_map(|run| run.value).chain(estimates().map(|found| found.value));
    let ends = cell.summary.iter().flat_map(|summary| [summary.best, summary.worst]);
    if !numbers.chain(ends).all(|value| is_measurable(value, cell.unit)) {
        return Err("has a number that cannot have been measured");
    }
    let is_within =
        |found: Measured| found.interval.is_none_or(|ends| ends.low <= found.value && found.value <= ends.high);
    if estimates().all(is_within) { Ok(()) } else { Err("has an interval without its number") }
}

/// Whether it is a number that can be measured. What is shown is computed from such numbers: of zeros and of numbers without
/// bounds nothing can be.
fn is_measurable(value: f64, unit: Unit) -> bool {
    // An empty run can be over before a coarse clock ticks.
    (1e-24..=1e24).contains(&value) || (value == 0.0 && !unit.more_is_better())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: f64, unit: Unit, measurable: bool) {
        assert_eq!(is_measurable(value, unit), measurable, "{value} {unit:?}");
    }

    #[test]
    fn bytes_that_are_no_text_are_no_json() {
        assert_eq!(from_json::<String>("\"µs\"".as_bytes()).unwrap(), "µs");
        let why = from_json::<String>(b"\"\xff\"").unwrap_err().to_string();
        assert!(why.contains("utf-8"), "{why}");
    }

    #[test]
    fn a_bomb_is_refused_by_its_ratio() {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        io::copy(&mut io::repeat(b' ').take(64 << 20), &mut packer).unwrap();
        let told = read_stream("x", packer.finish().unwrap().as_slice()).unwrap_err().to_string();
        assert!(told.starts_with("x grows to ") && told.contains("no report does to more than 100 times"), "{told}");
    }

    #[test]
    fn measurable_numbers_are_positive_and_bounded() {
        check(1.0, Unit::OpsPerSecond, true);
        check(0.0, Unit::Nanoseconds, true);
        check(0.0, Unit::BytesPerSecond, false);
        check(-1.0, Unit::Nanoseconds, false);
        check(f64::MAX, Unit::OpsPerSecond, false);
        check(f64::NAN, Unit::Nanoseconds, false);
    }
}
