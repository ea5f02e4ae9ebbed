//! What a calibration found, as Markdown and as JSON.

use charz_stats::Sample;
use serde_json::{Value, json};

use super::culprits::Found;
use super::report::SelfTest;
use super::table::{self, Figures, Judged, Share};

#[derive(Default)]
pub struct Results {
    /// The cells of each sweep, under the name of its condition.
    pub sweeps: Vec<(&'static str, Vec<Judged>)>,
    /// By how much the machine itself changed around each sweep, by cell.
    pub widths: Vec<f64>,
    /// Whom the sweeps beside each disturbance named.
    pub culprits: Vec<Found>,
    /// Cells of memory bandwidth that are `ok` beside a program that takes bandwidth.
    pub memory: Option<Share>,
    pub selftest: Option<SelfTest>,
    /// What was not measured, and why.
    pub notes: Vec<String>,
}

impl Results {
    fn cells(&self) -> Vec<Judged> {
        self.sweeps.iter().flat_map(|(_, cells)| cells.iter().copied()).collect()
    }

    /// The cells under each condition, in the order of the first sweeps.
    fn conditions(&self) -> Vec<(&'static str, Vec<Judged>)> {
        let mut conditions: Vec<(&'static str, Vec<Judged>)> = Vec::new();
        for (name, cells) in &self.sweeps {
            match conditions.iter_mut().find(|(known, _)| known == name) {
                Some((_, all)) => all.extend(cells),
                None => conditions.push((name, cells.clone())),
            }
        }
        conditions
    }

    /// The median and the largest change of the machine itself.
    fn drift(&self) -> Option<[f64; 2]> {
        let widths = Sample::new(self.widths.clone())?;
        Some([widths.median(), widths.max()])
    }

    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let mut rows: Vec<[String; 2]> = Vec::new();
        let mut row = |figure: &str, value: String| rows.push([figure.to_owned(), value]);
        if !self.sweeps.is_empty() {
            let cells = self.cells();
            let figures = table::figures(&cells);
            row("`ok` within 2% of the truth", figures.ok_right.to_string());
            row("cells `ok`", figures.ok.to_string());
            row("intervals holding the truth", format!("{}; of `ok` cells {}", figures.holding, figures.ok_holding));
            let ratio = table::ratio(figures.wrong_if_suspect, figures.wrong_if_ok);
            let ratio = ratio.map_or("undefined".to_owned(), |ratio| format!("{ratio:.2}"));
            let [suspect, ok] = [figures.wrong_if_suspect, figures.wrong_if_ok];
            row("delivered within 5 points of the time on a CPU", figures.delivered.to_string());
            row("more than 2% off: suspect, `ok`, ratio of the shares", format!("{suspect}, {ok}, {ratio}"));
            if let Some([median, max]) = self.drift() {
                row(
                    "change of the machine itself around a sweep",
                    format!("median {}, max {}", table::percent(median), table::percent(max)),
                );
            }
            text += &format!("Cells by status and error against the truth:\n\n{}\n", table::confusion(&cells));
            let columns = [
                "condition",
                "cells `ok`",
                "`ok` within 2%",
                "worst `ok`",
                "intervals holding the truth",
                "delivered right",
            ];
            let lines = self.conditions().into_iter().map(|(name, cells)| {
                let Figures { ok, ok_right, worst_ok, holding, delivered, .. } = table::figures(&cells);
                let worst = worst_ok.map_or("-".to_owned(), table::percent);
                let shares = [holding, delivered].map(|share| share.to_string());
                [vec![name.to_owned(), ok.to_string(), ok_right.to_string(), worst], shares.into()].concat()
            });
            text += &format!("{}\n", table::markdown(&columns, lines));
        }
        if !self.culprits.is_empty() {
            let lines = self.culprits.iter().map(Found::line);
            text += &format!("{}\n", table::markdown(&Found::COLUMNS, lines));
        }
        if let Some(memory) = self.memory {
            row("memory-bandwidth cells beside a bandwidth hog unmarked", memory.to_string());
        }
        if let Some(SelfTest { rounds, false_verdicts, not_compared }) = self.selftest {
            row(
                &format!("self-test beside a 10/90 ms hog, {rounds} rounds: not compared / false"),
                format!("{not_compared} / {false_verdicts}"),
            );
        }
        text += &table::markdown(&["figure", "value"], rows.into_iter().map(Vec::from));
        for note in &self.notes {
            text += &format!("\n{note}\n");
        }
        text
    }

    pub fn json(&self) -> Value {
        let confusion = |cells: &[Judged]| {
            let figures = table::figures(cells);
            json!({
                "counts": table::confusion_json(cells),
                "ok": figures.ok.json(),
                "ok_within_2_percent": figures.ok_right.json(),
                "worst_ok": figures.worst_ok,
                "intervals_holding_truth": figures.holding.json(),
                "ok_intervals_holding_truth": figures.ok_holding.json(),
                "delivered_within_5_points": figures.delivered.json(),
                "wrong_if_suspect": figures.wrong_if_suspect.json(),
                "wrong_if_ok": figures.wrong_if_ok.json(),
            })
        };
        let by_condition: Value =
            self.conditions().into_iter().map(|(name, cells)| (name.to_owned(), confusion(&cells))).collect();
        json!({
            "all": confusion(&self.cells()),
            "conditions": by_condition,
            "machine_changed": self.drift().map(|[median, max]| json!({"median": median, "max": max})),
            "culprits": self.culprits.iter().map(Found::json).collect::<Vec<_>>(),
            "memory_unmarked": self.memory.map(Share::json),
            "selftest": self.selftest.as_ref().map(|test| json!({
                "rounds": test.rounds, "not_compared": test.not_compared,
                "false_verdicts": test.false_verdicts,
            })),
            "notes": self.notes,
        })
    }
}
