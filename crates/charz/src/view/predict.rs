//! Predictions: one format a line in [`FORMATS`].

use std::io::{self, Write};

use serde_json::{Value, json as object};

use charz_analysis::figure::{self, Axis, Body, DataPoint, Datum, Plot, Quantity, Role, Scale, Series, State};
use charz_analysis::page::{About, Page, Section};
use charz_data::escape::{counted, plain};
use charz_data::report::Unit;
use charz_data::units;
use charz_estimate::grouped;
use charz_model::{Missed, Parameter, Prediction};
use charz_render::look::TerminalStyle;
use charz_render::{grid, html, json, wrapped};

pub type Format = charz_render::formats::Format<fn(&Shown, &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

pub static FORMATS: &[Format] = &[
    Format { name: "table", about: "what is predicted beside what was measured", write: table },
    Format { name: "json", about: "the same with the parameters of the model", write: write_json },
    Format {
        name: "html",
        about: "one file for a browser: measured points, the model's curve with its interval, the limit",
        write: |shown, look, out| html::write(&page(shown), look, out),
    },
];

/// The predictions, and what they are of.
pub struct Shown {
    /// What is predicted, and of which machine or table.
    pub title: String,
    /// The report, where they are of one.
    pub source: Option<About>,
    pub told: Vec<Told>,
}

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
    pub measured: Vec<Measured>,
    /// What the model says of a mapping, by the number of threads.
    pub curves: Vec<(String, Vec<(usize, Prediction)>)>,
    /// CPUs, and what all of them do at most.
    pub limit: Option<(usize, f64)>,
}

/// A number that is known.
pub struct Measured {
    /// Its mapping; of a point that was not fitted with a word on that.
    pub name: String,
    pub threads: usize,
    pub value: f64,
    pub interval: Option<[f64; 2]>,
    pub noisy: bool,
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

/// The columns of [`line`].
const HEADING: [&str; 6] = ["mapping", "threads", "predicted", "90% interval", "measured", "beyond fitted"];

/// The kernel, its model, or that there is none, and how good it is.
fn words(told: &Told) -> String {
    let kernel = told.kernel.as_ref().map(|kernel| format!("{}: ", plain(kernel))).unwrap_or_default();
    let error = told.error.map(|error| {
        format!(
            "; points that were not fitted are missed by {} in the mean, {} at worst",
            units::percent(error.mean),
            units::percent(error.worst)
        )
    });
    format!("{kernel}{}{}", plain(&told.why), error.unwrap_or_default())
}

fn table(shown: &Shown, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let width = look.sentences();
    for (at, told) in shown.told.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        wrapped::hanging(&words(told), 2, width, out)?;
        let most = most(told);
        if !most.is_empty() {
            wrapped::hanging(&most, 2, width, out)?;
        }
        // Without a model a line that was not measured says nothing.
        let known = told.rows.iter().filter(|row| told.model.is_some() || row.measured.is_some());
        let rows: Vec<[String; 6]> = known.map(|row| line(told, row)).collect();
        if !rows.is_empty() {
            grid::columns(&HEADING, &[0, 5], &[5], &rows, look, out)?;
        }
    }
    Ok(())
}

fn page(Shown { title, source, told }: &Shown) -> Page {
    let row = |told: &Told, row: &Row| {
        let kernel = Datum::word(told.kernel.as_deref().unwrap_or("-"));
        [kernel].into_iter().chain(line(told, row).into_iter().map(Datum::word)).collect::<Vec<_>>()
    };
    let rows = told.iter().flat_map(|told| told.rows.iter().map(move |own| row(told, own)));
    let table = figure::Table::new(&[&["kernel"][..], &HEADING[..]].concat(), rows).without_empty_columns();
    let predicted = |told: &Told| {
        let row = told.rows.first()?;
        let Prediction { value, interval, .. } = row.predicted?;
        let [value, low, high] = [value, interval[0], interval[1]].map(|own| number(own, told.unit));
        let kernel = told.kernel.as_ref().map(|kernel| format!("{kernel} ")).unwrap_or_default();
        let threads = counted(row.threads, "thread");
        Some(format!("{kernel}{} with {threads}: {value} predicted ({low} to {high})", row.mapping))
    };
    let mut summary: Vec<String> = told.iter().filter_map(predicted).collect();
    if summary.is_empty() {
        summary.push("Nothing is predicted here; the reasons follow".to_owned());
    }
    let how =
        "Points are measured; the dashed line is what the model says of a mapping, grey its 90% interval".to_owned();
    let about = told.iter().flat_map(|told| [words(told), most(told)]).filter(|words| !words.is_empty());
    let section = Section {
        id: "predictions",
        title: "Predictions",
        about: [how].into_iter().chain(about).collect(),
        table: (!table.rows.is_empty()).then_some(table),
        figures: told.iter().enumerate().filter_map(|(at, told)| picture(at, told)).collect(),
    };
    let sources = source.iter().cloned().collect();
    Page { title: title.clone(), summary, sources, sections: vec![section], ..Page::default() }
}

/// What was measured, the model's curves, and the limit; `None` where nothing was.
fn picture(at: usize, told: &Told) -> Option<figure::Figure> {
    let series = |name: String, role, points: Vec<DataPoint>| Series { name, role, source: 0, points };
    let measured = grouped(&told.measured, |own| own.name.as_str()).into_iter().map(|own| {
        let point = |own: &&Measured| {
            let state = if own.noisy { State::Suspect } else { State::Ok };
            let value = number(own.value, told.unit) + units::doubt(own.noisy);
            let note = format!("{} x{}: {value}", own.name, own.threads);
            DataPoint { spread: own.interval, ..DataPoint::new(own.threads as f64, Some(own.value), state, note) }
        };
        series(own[0].name.clone(), Role::Measured, own.iter().map(point).collect())
    });
    let expected = |(threads, one): (usize, Prediction), note: String| DataPoint {
        spread: Some(one.interval),
        ..DataPoint::new(threads as f64, Some(one.value), State::Ok, note)
    };
    let asked = told.rows.iter().filter_map(|row| {
        let one = row.predicted?;
        let note = format!("{} x{}: {} predicted", row.mapping, row.threads, number(one.value, told.unit));
        Some(expected((row.threads, one), note))
    });
    let asked = series("predicted".to_owned(), Role::Measured, asked.collect());
    let curves = told.curves.iter().map(|(mapping, along)| {
        let points = along.iter().map(|one| expected(*one, String::new())).collect();
        series(format!("{mapping}, predicted"), Role::Ideal, points)
    });
    let limit = told.limit.map(|(cpus, most)| {
        let ends = [1, cpus].map(|threads| DataPoint::new(threads as f64, Some(most), State::Ok, String::new()));
        series(format!("{} at most", counted(cpus, "CPU")), Role::Bound, ends.into())
    });
    let all = measured.chain([asked]).filter(|series| !series.points.is_empty()).chain(curves).chain(limit).collect();
    let quantity = told.unit.map_or(Quantity::Plain, Quantity::Value);
    let y = Axis::new("throughput", quantity, Scale::Linear);
    let plot = Plot::new(Axis::new("threads", Quantity::Count, Scale::Log2), y, all);
    let kernel = told.kernel.as_deref().unwrap_or("the table");
    let drawn = figure::Figure {
        id: figure::id(&format!("{kernel} {at}")),
        title: format!("{kernel}: measured and predicted"),
        about: Vec::new(),
        body: Body::Lines(plot),
        table: None,
    };
    drawn.has_results().then_some(drawn)
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

fn write_json(shown: &Shown, _: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
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
    match &shown.told[..] {
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
