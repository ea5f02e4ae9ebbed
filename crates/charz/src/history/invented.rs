//! Histories that nobody measured, for tests.

use super::entry::{Counts, Entry, head, seconds};
use super::series::{Parameters, Series, Value};
use crate::report::{Report, Status, Unit, invented};

/// A report a day, of which the system's kernel is another one from `update` on.
pub(crate) fn entries(count: usize, update: usize) -> Vec<Entry> {
    let report = invented::report(Vec::new());
    let entry = |at: usize| {
        let started = format!("2026-{:02}-{:02}T00:00:00Z", 1 + at / 28, 1 + at % 28);
        let mut head = Report { started, id: format!("{at:032x}"), ..head(&report) };
        head.host.kernel = Some(if at < update { "Linux 1" } else { "Linux 2" }.into());
        let counts = Counts { ok: 1, ..Counts::default() };
        Entry {
            id: 1 + at as i64,
            at: seconds(&head.started).unwrap(),
            label: None,
            digest: String::new(),
            counts,
            head,
        }
    };
    (0..count).map(entry).collect()
}

/// A series with these values; `None` is an invalid cell.
pub(crate) fn series(kernel: &str, unit: Unit, values: &[Option<f64>]) -> Series {
    let value = |(entry, value): (usize, &Option<f64>)| Value {
        entry,
        status: if value.is_some() { Status::Ok } else { Status::Invalid },
        reason: value.is_none().then(|| "as the test wants it".into()),
        value: *value,
        interval: value.map(|value| (0.99 * value, 1.01 * value)),
    };
    Series {
        kernel: kernel.into(),
        mapping: "round-robin".into(),
        workers: 2,
        parameters: Parameters::default(),
        unit,
        values: values.iter().enumerate().map(value).collect(),
    }
}

/// Values around a level that differ by a percent or less.
pub(crate) fn around(level: f64, count: usize) -> Vec<Option<f64>> {
    (0..count).map(|at| Some(level * (1.0 + 0.001 * (at * 7 % 10) as f64))).collect()
}
