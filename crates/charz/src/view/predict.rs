//! Predictions: one format a line in [`FORMATS`].

use std::io::{self, Write};

use serde_json::{Value, json as object};

use charz_data::escape::{counted, plain};
use charz_data::report::Unit;
use charz_data::units;
use charz_model::{Missed, Parameter, Prediction};
use charz_render::look::TerminalStyle;
use charz_render::{grid, json, wrapped};

pub type Format = charz_render::formats::Format<fn(&[Told], &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

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
    /// What a part of each name does at most, those left out that add no limit.
    pub most: Vec<(String, f64)>,
    /// The most threads of a point that was fitted.
    pub threads: usize,
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

fn number(value: f64, unit: Option<Unit>) -> String {
    unit.map_or_else(|| rounded(value), |unit| units::value(value, unit))
}

/// To four digits, with an exponent where there would be many zeros.
fn rounded(value: f64) -> String {
    let text = format!("{value:.3e}");
    match text.parse::<f64>() {
        Ok(own) if own == 0.0 || (1e-4..1e9).contains(&own.abs()) => own.to_string(),
        Ok(own) if own.is_finite() => format!("{own:e}"),
        // The largest numbers are rounded beyond themselves.
        _ => text,
    }
}

fn table(all: &[Told], look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let width = look.sentences();
    for (at, told) in all.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        let kernel = told.kernel.as_ref().map(|kernel| format!("{}: ", plain(kernel))).unwrap_or_default();
        let error = told.error.map(|error| {
            format!(
                "; points that were not fitted are missed by {} in the mean, {} at worst",
                units::percent(error.mean),
                units::percent(error.worst)
            )
        });
        let words = format!("{kernel}{}{}", plain(&told.why), error.unwrap_or_default());
        wrapped::hanging(&words, 2, width, out)?;
        let most = most(told);
        if !most.is_empty() {
            wrapped::hanging(&most, 2, width, out)?;
        }
        // Without a model a line that was not measured says nothing.
        let known = told.rows.iter().filter(|row| told.model.is_some() || row.measured.is_some());
        let rows: Vec<[String; 6]> = known.map(|row| line(told, row)).collect();
        if !rows.is_empty() {
            let heading = ["mapping", "threads", "predicted", "90% interval", "measured", "beyond fitted"];
            grid::columns(&heading, &[0, 5], &[5], &rows, look, out)?;
        }
    }
    Ok(())
}

fn line(told: &Told, row: &Row) -> [String; 6] {
    let none = || "-".to_owned();
    let measured = row.measured.map(|value| format!("{}{}", number(value, told.unit), units::doubt(row.noisy)));
    let [value, interval, far] = match row.predicted {
        Some(Prediction { value, interval, distance }) => {
            let [low, high] = interval.map(|end| number(end, told.unit));
            let far = if distance > 1.05 { format!("{distance:.1}x") } else { "within".into() };
            [number(value, told.unit), format!("{low} to {high}"), far]
        }
        None if told.model.is_some() => [none(), none(), "several threads on a CPU".into()],
        None => [none(), none(), none()],
    };
    [plain(&row.mapping), row.threads.to_string(), value, interval, measured.unwrap_or_else(none), far]
}

/// What the parts of the machine do at most, and what a program's law says.
fn most(told: &Told) -> String {
    let of = |name: &str| told.parameters.iter().find(|parameter| parameter.name == name).map(|found| found.value);
    let part = |(part, most): &(String, f64)| {
        let article = if part.starts_with(['A', 'L']) { "an" } else { "a" };
        format!("{article} {part} {}", number(*most, told.unit))
    };
    let parts: Vec<String> = told.most.iter().map(part).collect();
    let caps = if parts.is_empty() { String::new() } else { format!("at most: {}", parts.join(", ")) };
    let Some(alpha) = of("alpha") else { return caps };
    // The derivative of Gunther's law is zero there; the law is that of the fitted numbers only.
    let peak = of("beta").map(|beta| ((1.0 - alpha).max(0.0) / beta).sqrt().max(1.0).round());
    let peak = peak.map(|peak| peak as usize).filter(|peak| *peak <= told.threads);
    let peak = peak.map(|peak| format!("; the most with {}", counted(peak, "thread"))).unwrap_or_default();
    // Threads that slow each other down are no serial share.
    let serial = if alpha < 1.0 { format!("; {} of its work is serial", units::percent(alpha)) } else { String::new() };
    format!("{caps}{serial}{peak}")
}

fn write_json(all: &[Told], _: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_unit_have_four_digits_whatever_their_size() {
        for (value, expected) in [
            (0.0, "0"),
            (12.3456, "12.35"),
            (123_456.0, "123500"),
            (0.000_123_449, "0.0001234"),
            (1.234_56e-307, "1.235e-307"),
            (5e-324, "5e-324"),
            (1.2e9, "1.2e9"),
            (f64::MAX, "1.798e308"),
        ] {
            assert_eq!(number(value, None), expected);
        }
    }
}
