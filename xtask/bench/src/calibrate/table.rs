//! The confusion table: what charz says of its numbers against how wrong they are.

use std::fmt;

use serde_json::{Value, json};

use super::report::{Cell, Status};
use super::truth::Truths;

/// A cell that was compared with the truth.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    pub status: Status,
    /// Whether the truth is known: the machine itself changed little.
    known: bool,
    /// How far its value is off the truth, as a share.
    error: Option<f64>,
    /// Whether its interval holds the truth.
    holds: Option<bool>,
    /// How far what it says was delivered is from the share of the time for which its workers had a CPU.
    delivered_off: Option<f64>,
}

/// The cells that have a truth.
pub fn judge<'a>(cells: &'a [Cell], truths: &'a Truths) -> impl Iterator<Item = Judged> + 'a {
    cells.iter().filter_map(|cell| {
        let truth = truths.iter().find(|((kernel, workers), _)| *kernel == cell.kernel && *workers == cell.workers)?.1;
        let known = truth.width() <= CHANGED;
        let error = cell.value.filter(|_| known).map(|value| truth.error(value));
        let holds = cell.interval.filter(|_| known).map(|interval| truth.meets(interval));
        let delivered_off = cell.delivered.zip(cell.on_cpu).map(|(delivered, on_cpu)| (delivered - on_cpu).abs());
        Some(Judged { status: cell.status, known, error, holds, delivered_off })
    })
}

/// The error up to which a number is right.
const RIGHT: f64 = 0.02;

/// How far off what was delivered may be, as a share of the capacity.
const DELIVERED: f64 = 0.05;

/// A machine that itself changed by more than this share around a sweep has no truth: any number would be right.
const CHANGED: f64 = 0.05;

/// The columns: errors up to these shares, more, and cells that have no error.
const STEPS: [f64; 4] = [0.01, RIGHT, 0.05, 0.10];
const COLUMNS: [&str; 7] = ["≤1%", "1–2%", "2–5%", "5–10%", ">10%", "no value", "no truth"];
const NO_VALUE: usize = 5;
const NO_TRUTH: usize = 6;
const ROWS: [(Status, &str); 4] =
    [(Status::Ok, "ok"), (Status::Suspect, "suspect"), (Status::Invalid, "invalid"), (Status::Missing, "not measured")];

impl Judged {
    fn column(&self) -> usize {
        match self.error {
            Some(error) => STEPS.iter().take_while(|step| error > **step).count(),
            None if self.known => NO_VALUE,
            None => NO_TRUTH,
        }
    }
}

/// So many of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    pub of: usize,
    pub count: usize,
}

impl Share {
    fn new(flags: impl Iterator<Item = bool>) -> Self {
        flags
            .fold(Share { of: 0, count: 0 }, |all, flag| Share { of: all.of + 1, count: all.count + usize::from(flag) })
    }

    pub fn value(self) -> Option<f64> {
        (self.of > 0).then(|| self.count as f64 / self.of as f64)
    }

    pub fn json(self) -> Value {
        json!({"count": self.count, "of": self.of})
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.count, self.of)?;
        self.value().map_or(Ok(()), |value| write!(f, " ({:.0}%)", value * 100.0))
    }
}

/// The shares that a set of cells is summed up by.
pub struct Figures {
    pub ok: Share,
    /// Of cells that are `ok` and have a truth, those that are right.
    pub ok_right: Share,
    pub holding: Share,
    pub ok_holding: Share,
    /// Of cells that have a value, those that are wrong.
    pub wrong_if_suspect: Share,
    pub wrong_if_ok: Share,
    /// The largest error of a cell that is `ok`.
    pub worst_ok: Option<f64>,
    /// Of cells that say what was delivered, those that are right.
    pub delivered: Share,
}

pub fn figures(cells: &[Judged]) -> Figures {
    let with = |status: Status| cells.iter().filter(move |cell| cell.status == status);
    let errors = |status| with(status).filter_map(|cell| cell.error);
    Figures {
        ok: Share::new(cells.iter().map(|cell| cell.status == Status::Ok)),
        ok_right: Share::new(
            with(Status::Ok).filter(|cell| cell.known).map(|cell| cell.error.is_some_and(|error| error <= RIGHT)),
        ),
        holding: Share::new(cells.iter().filter_map(|cell| cell.holds)),
        ok_holding: Share::new(with(Status::Ok).filter_map(|cell| cell.holds)),
        wrong_if_suspect: Share::new(errors(Status::Suspect).map(|error| error > RIGHT)),
        wrong_if_ok: Share::new(errors(Status::Ok).map(|error| error > RIGHT)),
        worst_ok: errors(Status::Ok).max_by(f64::total_cmp),
        delivered: Share::new(cells.iter().filter_map(|cell| cell.delivered_off).map(|off| off <= DELIVERED)),
    }
}

/// How many times as probable one thing is as another. `None` if one of them was never looked for, or both never happened.
pub fn ratio(a: Share, b: Share) -> Option<f64> {
    let (a, b) = (a.value()?, b.value()?);
    // Zero by zero is not a number; more than zero by zero is infinite.
    Some(a / b).filter(|ratio| !ratio.is_nan())
}

pub fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

fn counts(cells: &[Judged]) -> [[usize; COLUMNS.len()]; ROWS.len()] {
    let mut counts = [[0; COLUMNS.len()]; ROWS.len()];
    for cell in cells {
        let row = ROWS.iter().position(|(status, _)| *status == cell.status).expect("each status has its row");
        counts[row][cell.column()] += 1;
    }
    counts
}

/// The confusion table in Markdown.
pub fn confusion(cells: &[Judged]) -> String {
    let columns = [&["status"][..], &COLUMNS, &["all"]].concat();
    let rows = ROWS.iter().zip(counts(cells)).map(|((_, word), counts)| {
        let all: usize = counts.iter().sum();
        [&[(*word).to_owned()][..], &counts.map(|count| count.to_string()), &[all.to_string()]].concat()
    });
    markdown(&columns, rows)
}

pub fn confusion_json(cells: &[Judged]) -> Value {
    ROWS.iter().zip(counts(cells)).map(|((_, word), counts)| ((*word).to_owned(), json!(counts))).collect()
}

/// A table in Markdown.
pub fn markdown(columns: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |words: &[String]| format!("| {} |\n", words.join(" | "));
    let head = [columns.iter().map(|word| (*word).to_owned()).collect(), vec!["---".to_owned(); columns.len()]];
    head.into_iter().chain(rows).map(|words| line(&words)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::truth;
    use super::*;

    fn cell(status: Status, value: Option<f64>) -> Cell {
        let interval = value.map(|value| [value * 0.99, value * 1.01]);
        let (delivered, on_cpu) = (value.map(|_| 0.50), Some(0.54));
        Cell { kernel: "arith-int".into(), workers: 1, status, value, interval, clocks_hz: None, delivered, on_cpu }
    }

    fn judged(cells: &[(Status, Option<f64>)]) -> Vec<Judged> {
        let cells: Vec<Cell> = cells.iter().map(|(status, value)| cell(*status, *value)).collect();
        let given = truth::given("arith-int=100").unwrap();
        let none = truth::Reference::new();
        judge(&cells, &truth::truths(&cells, &given, &none, &none)).collect()
    }

    #[test]
    fn cells_fall_into_the_table() {
        let ok = [100.0, 99.5, 101.5, 97.0, 94.0, 150.0].map(|value| (Status::Ok, Some(value)));
        let rest =
            [(Status::Suspect, Some(95.5)), (Status::Invalid, None), (Status::Missing, None), (Status::Ok, None)];
        let cells = judged(&[&ok[..], &rest].concat());
        let table = [[2, 1, 1, 1, 1, 1, 0], [0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1, 0]];
        assert_eq!(counts(&cells), table);
        let Figures { ok, ok_right, holding, ok_holding, wrong_if_suspect, wrong_if_ok, worst_ok, delivered } =
            figures(&cells);
        let shares = [ok, ok_right, holding, ok_holding, wrong_if_suspect, wrong_if_ok, delivered];
        let shares = shares.map(|share| (share.count, share.of));
        assert_eq!(shares, [(7, 10), (3, 7), (2, 7), (2, 6), (1, 1), (3, 6), (7, 7)]);
        assert!((worst_ok.unwrap() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_machine_that_changed_has_no_truth() {
        let reference = |value| truth::Reference::from([(("arith-int", 1), vec![(value, 0.0); 10])]);
        let judged = |cell: Cell| -> Vec<Judged> {
            let cells = [cell];
            judge(&cells, &truth::truths(&cells, &truth::Given::new(), &reference(100.0), &reference(106.0))).collect()
        };
        let cells = judged(cell(Status::Ok, Some(103.0)));
        assert_eq!(counts(&cells)[0], [0, 0, 0, 0, 0, 0, 1]);
        let Figures { ok, ok_right, holding, wrong_if_ok, .. } = figures(&cells);
        assert_eq!([ok, ok_right, holding, wrong_if_ok].map(|share| share.of), [1, 0, 0, 0]);
        // Nor has a cell that no reference was made for; it is left out.
        assert!(judged(Cell { workers: 3, ..cell(Status::Ok, Some(103.0)) }).is_empty());
    }

    #[test]
    fn ratios_of_probabilities() {
        let share = |count, of| Share { of, count };
        assert_eq!(ratio(share(1, 2), share(1, 4)), Some(2.0));
        assert_eq!(ratio(share(0, 2), share(1, 4)), Some(0.0));
        assert_eq!(ratio(share(1, 2), share(0, 4)), Some(f64::INFINITY));
        assert_eq!(ratio(share(0, 2), share(0, 4)), None);
        assert_eq!(ratio(share(0, 0), share(1, 4)), None);
        assert_eq!(ratio(share(1, 2), share(0, 0)), None);
        assert_eq!(share(0, 0).to_string(), "0 of 0");
    }
}
