//! Noise floors: how far apart two measurements of the same thing were. Self-tests keep them in a file of the user, and comparisons
//! take their margin from it.
//!
//! The file is not trusted: its size is capped, and entries that make no sense are left out. A file of another format is never
//! replaced.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::settings::user_file;
use charz_analysis::compare::{NoiseFloors, Quantity};
use charz_analysis::point;
use charz_data::report::{Cell, Report};
use charz_measure::atomic_file;

#[cfg(test)]
mod tests;

const NAME: &str = "charz-noise";
/// Changes when an entry changes its meaning.
const MAJOR: u32 = 1;
/// The largest file that is read: about 1000 entries.
const MOST_BYTES: u64 = 1 << 20;
/// More entries than these push out the oldest.
const MOST_FLOORS: usize = 1000;
/// The largest floor that is believed, as a fraction.
const MOST_FLOOR: f64 = 1.0;

/// What a floor holds for. Another build of the kernels, or another processor behind the same name, starts anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    pub host: Option<String>,
    pub processor: Option<String>,
    pub kernels: String,
    pub kernel: String,
    pub workers: u64,
    /// The parameters that the kernel obeys, with their values.
    pub parameters: String,
    pub quantity: Quantity,
}

impl Subject {
    pub fn of(report: &Report, cell: &Cell, quantity: Quantity) -> Self {
        Subject {
            host: report.host.name.clone(),
            processor: report.host.processor.clone(),
            kernels: report.tool.kernels.clone(),
            kernel: cell.kernel.clone(),
            workers: cell.workers,
            parameters: point::parameters(cell, report),
            quantity,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    pub subject: Subject,
    /// The 95th percentile of the differences, as a fraction.
    pub floor: f64,
    pub comparisons: u64,
    pub learned: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Floors(Vec<Floor>);

#[derive(Serialize, Deserialize)]
struct Head {
    name: String,
    major: u32,
}

/// The file. Entries are read one by one, so an invalid one is skipped and the others are kept.
#[derive(Serialize, Deserialize)]
struct Contents<F> {
    schema: Head,
    floors: Vec<F>,
}

pub fn noise_file(named: Option<&Path>) -> Option<PathBuf> {
    let default = || user_file("XDG_STATE_HOME", ".local/state", "charz/noise.json", |name| std::env::var_os(name));
    named.map(Path::to_owned).or_else(default)
}

/// The known floors, and a note if the user's own file cannot be read. A file that was named must be readable; the error is a
/// sentence.
pub fn known(named: Option<&Path>) -> Result<(Floors, Option<String>), String> {
    let Some(file) = noise_file(named) else { return Ok(Default::default()) };
    match Floors::read(&file) {
        Ok(_) if named.is_some() && !file.exists() => Err(format!("there is no file {file:?}")),
        Ok(floors) => Ok((floors, None)),
        Err(why) if named.is_some() => Err(format!("{file:?} {why}")),
        Err(why) => Ok((Floors::default(), Some(format!("{file:?} {why}: no noise floor is known")))),
    }
}

impl Floors {
    /// Reads a file; one that does not exist holds nothing. The error is the end of a sentence that begins with the file's name.
    pub fn read(path: &Path) -> Result<Self, String> {
        let file = match atomic_file::open_regular(path, OpenOptions::new().read(true), OFlags::empty()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Floors::default()),
            opened => opened,
        };
        let mut text = Vec::new();
        let read = file.and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut text));
        if read.map_err(|error| format!("cannot be read: {error}"))? as u64 > MOST_BYTES {
            return Err(format!("has more than {MOST_BYTES} bytes"));
        }
        let read: Contents<serde_json::Value> = serde_json::from_slice(&text).map_err(|_| NOT_OURS.to_owned())?;
        if read.schema.name != NAME || read.schema.major != MAJOR {
            return Err(NOT_OURS.into());
        }
        let floors = read.floors.into_iter().filter_map(|entry| serde_json::from_value(entry).ok());
        Ok(Floors(floors.filter(Floor::makes_sense).take(MOST_FLOORS).collect()))
    }

    pub fn of(&self, subject: &Subject) -> Option<f64> {
        self.0.iter().find(|floor| floor.subject == *subject).map(|floor| floor.floor)
    }

    /// The floors of the reports' cells, of those that both have the larger one.
    pub fn of_cells(&self, reports: [&Report; 2], quantity: Quantity) -> NoiseFloors {
        let mut floors = NoiseFloors::new();
        for (report, cell) in reports.iter().flat_map(|report| report.cells.iter().map(move |cell| (*report, cell))) {
            let Some(floor) = self.of(&Subject::of(report, cell, quantity)) else { continue };
            let known = floors.entry((cell.kernel.clone(), cell.point, cell.workers)).or_insert(floor);
            *known = known.max(floor);
        }
        floors
    }

    /// Takes a floor in place of an older one of the same subject.
    pub fn learn(&mut self, floor: Floor) {
        self.0.retain(|known| known.subject != floor.subject);
        self.0.push(floor);
        let surplus = self.0.len().saturating_sub(MOST_FLOORS);
        self.0.drain(..surplus);
    }

    /// Whether the file can be written, as far as that shows beforehand; creates its folder.
    pub fn check(path: &Path) -> io::Result<()> {
        atomic_file::temporary(&Self::place(path)?, 0o600).map(drop)
    }

    fn place(path: &Path) -> io::Result<PathBuf> {
        atomic_file::create_private_folder(path)?;
        // The file behind a link is replaced, not the link.
        Ok(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()))
    }

    /// Replaces the file in one step by one that only its owner can read; creates its folder.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let path = Self::place(path)?;
        let written = Contents { schema: Head { name: NAME.into(), major: MAJOR }, floors: self.0.iter().collect() };
        atomic_file::replace_private(&path, |out| {
            serde_json::to_writer_pretty(&mut *out, &written)?;
            writeln!(out)
        })
    }
}

const NOT_OURS: &str = "is not a file of noise floors";

impl Floor {
    fn makes_sense(&self) -> bool {
        self.floor.is_finite() && (0.0..=MOST_FLOOR).contains(&self.floor) && self.comparisons > 0
    }
}
