//! Why numbers are noisy or missing.

use std::collections::BTreeMap;

use crate::answer::is_caused_by_others;
use crate::culprits::disturbers;
use charz_data::report::{PREDICTED, Report, Severity};
use charz_words::point;

/// A kind of reason, with its first case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    pub severity: Severity,
    /// The check's code, which `charz explain` describes; `None` where a cell ended without a mark.
    pub code: Option<String>,
    /// The first cell with it.
    pub cell: String,
    pub reason: String,
    pub count: usize,
}

/// Each kind of reason once, the weightiest first.
pub fn doubts(report: &Report) -> Vec<Doubt> {
    let mut kinds: BTreeMap<(Severity, &str), Doubt> = BTreeMap::new();
    for cell in &report.cells {
        let mut add = |severity, kind, code: Option<&String>, reason: &String| {
            let first =
                || Doubt { severity, code: code.cloned(), cell: point::name(cell), reason: reason.clone(), count: 0 };
            kinds.entry((severity, kind)).or_insert_with(first).count += 1;
        };
        if let Some(reason) = cell.reason.as_ref().filter(|_| cell.marks.is_empty()) {
            // Each has a number of its own, and is no fault.
            match cell.is_predicted() {
                true => add(Severity::Note, PREDICTED, None, reason),
                false => add(Severity::Invalid, reason, None, reason),
            }
        }
        for mark in &cell.marks {
            let culprit =
                is_caused_by_others(&mark.code).then(|| disturbers(cell.invocations.iter()).into_iter().next());
            let told = culprit.flatten().map(|culprit| format!("{}: {}", mark.reason, culprit.clause()));
            add(mark.severity, &mark.code, Some(&mark.code), told.as_ref().unwrap_or(&mark.reason));
        }
    }
    kinds.into_values().rev().collect()
}

impl Doubt {
    /// The first cell with what was found there, and how many more there are.
    pub fn words(&self) -> String {
        let more = match self.count {
            0 | 1 => String::new(),
            all => format!(" (and {} more)", all - 1),
        };
        format!("{}: {}{more}", self.cell, self.reason)
    }

    /// What its weight is called: `note`, `suspect`, `invalid`; `missing` where cells have no number for it.
    pub fn weight(&self) -> &'static str {
        if self.code.is_none() { "missing" } else { self.severity.name() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::{Status, Unit, fixtures};

    #[test]
    fn predictions_are_one_kind_behind_the_others() {
        let skipped = |workers, reason: &str| {
            fixtures::cell("mem-read", workers, Unit::BytesPerSecond, 1.0).unmeasured(Status::Skipped, reason)
        };
        let predicted = (2..20).map(|workers| skipped(workers, &format!("{PREDICTED}{workers} GB/s")));
        let found = doubts(&fixtures::report(predicted.chain([skipped(20, "no room")]).collect()));
        let kinds: Vec<(&str, usize)> = found.iter().map(|doubt| (doubt.weight(), doubt.count)).collect();
        assert_eq!(kinds, [("missing", 1), ("missing", 18)]);
    }
}
