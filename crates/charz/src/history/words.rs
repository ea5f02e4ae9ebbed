//! How parts of a history are said. Names and reasons are as foreign as reports; whoever prints makes them harmless.

use super::surroundings::in_words;
use super::{Change, Entry, Segment, Track, Value};
use crate::render::human;
use crate::report::{Status, Unit};

impl Entry {
    /// Its number and its day: `12 (2026-01-31)`.
    pub fn place(&self) -> String {
        let day: String = self.head.started.chars().take("2026-01-31".len()).collect();
        format!("{} ({day})", self.id)
    }
}

impl Value {
    /// The number with half the width of its interval, and a question mark where it is suspect; or why there is none.
    pub fn shown(&self, unit: Unit) -> String {
        let Some(value) = self.value else {
            return match self.status {
                Status::Pending => "pending",
                Status::Skipped => "skipped",
                Status::Aborted => "aborted",
                Status::Ok | Status::Suspect | Status::Invalid => "invalid",
            }
            .to_owned();
        };
        let doubt = if self.status == Status::Suspect { " ?" } else { "" };
        format!("{}{}{doubt}", human::value(value, unit), width(self.interval, value))
    }
}

impl Segment {
    /// Its median with half the width of its interval; a question mark where a value of it is suspect.
    pub fn shown(&self, unit: Unit) -> String {
        let doubt = if self.suspect > 0 { " ?" } else { "" };
        format!("{}{}{doubt}", human::value(self.median, unit), width(self.interval, self.median))
    }
}

/// Half of an interval's width as a fraction of the value; nothing where there is none.
fn width(interval: Option<(f64, f64)>, value: f64) -> String {
    let width = interval.map(|(low, high)| (high - low) / 2.0 / value).filter(|width| width.is_finite());
    width.map(|width| format!(" ±{}", human::percent(width))).unwrap_or_default()
}

impl Change {
    /// The change of performance with its interval; less than nothing is slower, also for times.
    pub fn percent(&self) -> String {
        let signed = |ratio: f64| format!("{:+.1}%", (ratio - 1.0) * 100.0);
        match (self.effect, self.interval) {
            (Some(effect), Some((low, high))) => format!("{} ({} to {})", signed(effect), signed(low), signed(high)),
            (Some(effect), None) => signed(effect),
            (None, _) => "-".into(),
        }
    }

    /// What else became other.
    pub fn became_in_words(&self) -> String {
        if self.became.is_empty() { "nothing that the reports tell".into() } else { in_words(&self.became) }
    }
}

impl Track {
    /// The number of the segment that a value lies in, from 1.
    pub fn segment_of(&self, value: &Value) -> usize {
        1 + self.changes.iter().filter(|change| change.after.first <= value.entry).count()
    }
}
