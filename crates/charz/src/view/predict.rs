//! Predictions: one format a line in [`FORMATS`].

use std::io::{self, Write};

use serde_json::{Value, json as object};

use super::look;
use charz_data::escape::{counted, plain};
use charz_data::report::Unit;
use charz_data::units;
use charz_model::{Missed, Parameter, Prediction};
use charz_render::{grid, json, wrapped};

pub type Format = charz_render::formats::Format<fn(&[Told], &mut dyn Write) -> io::Result<()>>;

pub static FORMATS: &[Format] =
    &[Format { name: "table", about: "", write: table }, Format { name: "json", about: "", write: write_json }];

/// What a model says of the points of a table, or of a kernel of a report.
pub struct Told {
    pub kernel: Option<String>,
    /// `None` in the unit of the table.
    pub unit: Option<Unit>,
    pub model: Option<&'static str>,
    pub why: String,
    pub parameters: Vec<Parameter>,
    pub rows: Vec<Row>,
    pub error: Option<Missed>,
}

pub struct Row {
    pub mapping: String,
    pub threads: usize,
    pub predicted: Option<Prediction>,
    pub measured: Option<f64>,
    /// Whether that is a noisy number.
    pub noisy: bool,
}

/// A placement that was not measured.
pub struct Predicted {
    pub kernel: String,
    pub unit: Unit,
    pub mapping: String,
    pub threads: usize,
    pub prediction: Prediction,
}

impl Predicted {
    /// A sentence without its full stop, which says that it is no measurement.
    pub fn sentence(&self) -> String {
        let Predicted { kernel, unit, mapping, threads, prediction } = self;
        let [value, low, high] = [prediction.value, prediction.interval[0], prediction.interval[1]];
        format!(
            "Predicted, not measured: {kernel} with {} under {mapping} should give {} ({} to {}), more than any that was measured; \
             charz sweep --kernel {kernel} --mapping {mapping} --threads {threads} measures it",
            counted(*threads, "thread"),
            units::value(value, *unit),
            units::value(low, *unit),
            units::value(high, *unit)
        )
    }
}

fn number(value: f64, unit: Option<Unit>) -> String {
    unit.map_or_else(|| format!("{}", rounded(value)), |unit| units::value(value, unit))
}

/// To four digits.
fn rounded(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let scale = 10_f64.powf(3.0 - value.abs().log10().floor());
    (value * scale).round() / scale
}

fn table(all: &[Told], out: &mut dyn Write) -> io::Result<()> {
    let width = look::tables();
    for (at, told) in all.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        let kernel = told.kernel.as_ref().map(|kernel| format!("{}: ", plain(kernel))).unwrap_or_default();
        // What was measured is no prediction, and needs no model.
        let shown = |row: &Row| Some(format!("{}{}", number(row.measured?, told.unit), units::doubt(row.noisy)));
        let measured = told.rows.iter().filter(|_| told.model.is_none()).filter_map(shown);
        let measured: String = measured.map(|value| format!("{value}, measured; ")).collect();
        let error = told.error.map(|error| {
            format!(
                "; points that were not fitted are missed by {} in the mean, {} at worst",
                units::percent(error.mean),
                units::percent(error.worst)
            )
        });
        wrapped::hanging(
            &format!("{kernel}{measured}{}{}", plain(&told.why), error.unwrap_or_default()),
            2,
            width,
            out,
        )?;
        if told.model.is_none() {
            continue;
        }
        let caps: Vec<String> = told
            .parameters
            .iter()
            .filter_map(|parameter| {
                let likely = if parameter.weight < 0.95 {
                    format!(" ({:.0}% likely)", parameter.weight * 100.0)
                } else {
                    String::new()
                };
                match parameter.name.as_str() {
                    "p" | "alpha" | "beta" => None,
                    "thread" => Some(format!("a thread {}", number(parameter.value, told.unit))),
                    part => {
                        let article = if part.starts_with(['A', 'L']) { "an" } else { "a" };
                        Some(format!("{article} {part} {}{likely}", number(parameter.value, told.unit)))
                    }
                }
            })
            .collect();
        wrapped::hanging(&format!("at most: {}", caps.join(", ")), 2, width, out)?;
        let rows: Vec<[String; 6]> = told
            .rows
            .iter()
            .filter_map(|row| {
                let prediction = row.predicted?;
                let [low, high] = prediction.interval.map(|end| number(end, told.unit));
                let far =
                    if prediction.distance > 1.05 { format!("{:.1}x", prediction.distance) } else { "within".into() };
                let measured = shown(row).unwrap_or("-".into());
                Some([
                    plain(&row.mapping),
                    row.threads.to_string(),
                    number(prediction.value, told.unit),
                    format!("{low} to {high}"),
                    measured,
                    far,
                ])
            })
            .collect();
        if !rows.is_empty() {
            let heading = ["mapping", "threads", "predicted", "90% interval", "measured", "beyond fitted"];
            grid::columns(&heading, &[0], &rows, width, out)?;
        }
    }
    Ok(())
}

fn write_json(all: &[Told], out: &mut dyn Write) -> io::Result<()> {
    let one = |told: &Told| {
        let row = |row: &Row| {
            object!({
                "mapping": row.mapping,
                "threads": row.threads,
                "value": row.predicted.map(|prediction| prediction.value),
                "interval": row.predicted.map(|prediction| prediction.interval),
                "distance": row.predicted.map(|prediction| prediction.distance),
                "measured": row.measured,
            })
        };
        object!({
            "kernel": told.kernel,
            "unit": told.unit.map(|unit| unit.symbol().to_owned()),
            "model": told.model,
            "why": told.why,
            "parameters": told.parameters,
            "predictions": told.rows.iter().map(row).collect::<Vec<Value>>(),
            "error": told.error,
        })
    };
    match all {
        // A table is one.
        [told] if told.kernel.is_none() => json::write_pretty_line(&one(told), out),
        all => json::write_pretty_line(&object!({ "kernels": all.iter().map(one).collect::<Vec<Value>>() }), out),
    }
}
