//! Tables of other people's measurements.

use std::io::Read;
use std::path::Path;

use charz_topology::{Machine, Mapping};

use super::super::stream;
use super::{curve, in_order, model, never_measured, placed, predicted, sorted, told};
use crate::exit::Error;
use crate::view::predict::{Measured, Row, Told};
use charz_analysis::predicted::is_measured;
use charz_data::{Arrange, units};
use charz_estimate::grouped;
use charz_model::{Placed, Table, Topology, fit, missed};

/// The longest table: hundreds of lines that list a thousand CPUs each.
const MOST_BYTES: u64 = 1 << 20;

/// The most mappings of a table that have a curve.
const MOST_CURVES: usize = 4;

/// The most threads of a line.
const MOST_THREADS: usize = 1 << 20;

/// A line of a table.
struct Line {
    mapping: String,
    threads: usize,
    value: Option<f64>,
    is_fitted: bool,
    placed: Placed,
}

pub(super) fn of_table(file: &Path, machine: &Machine) -> Result<Told, Error> {
    let cannot = |error| Error::bad_input(format!("cannot read the table {file:?}: {error}"));
    let mut text = String::new();
    if stream(file, &format!("the table {file:?}"))?.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(cannot)?
        as u64
        > MOST_BYTES
    {
        return Err(Error::bad_input(format!("the table {file:?} is longer than {}", units::iec(MOST_BYTES))));
    }
    let topology = Topology::of(machine);
    let mut lines = Vec::new();
    // A tab at the end is that of an empty value.
    let own = text.trim_start_matches('\u{feff}').lines().map(|line| line.trim_matches(['\r', ' '])).enumerate();
    let own = own.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    for (at, line) in own {
        let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
        // A heading has no number.
        let is_number = |field: &&str| field.parse::<f64>().is_ok();
        let is_mapping = Mapping::of_data(fields[0]).is_ok();
        if lines.is_empty()
            && fields.len() >= 3
            && !is_mapping
            && !fields.iter().skip(1).any(|field| is_number(field) || *field == "-")
        {
            continue;
        }
        let refuse = |why: String| Error::bad_input(format!("{file:?}, line {}: {why}", at + 1));
        let [mapping, threads, value, rest @ ..] = &fields[..] else {
            return Err(refuse("it takes mapping, threads, value and fit (1 or 0) between tabs".into()));
        };
        let known = Mapping::of_data(mapping).map_err(|error| refuse(error.to_string()))?;
        let count = threads.parse().ok().filter(|count| (1..=MOST_THREADS).contains(count));
        let threads =
            count.ok_or_else(|| refuse(format!("{threads:?} is no number of threads from 1 to {MOST_THREADS}")))?;
        let value =
            match *value {
                "-" | "" => None,
                text => {
                    let number = text.parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0);
                    Some(number.ok_or_else(|| {
                        refuse(format!("{text:?} is no rate above 0, nor - for one that is not known"))
                    })?)
                }
            };
        let is_fitted = match rest.first() {
            None | Some(&"" | &"1") => value.is_some(),
            Some(&"0") => false,
            Some(other) => {
                return Err(refuse(format!("{other:?} is neither 1 (may be fitted) nor 0 (to be predicted)")));
            }
        };
        let placed = placed(&topology, machine, &known, threads).map_err(|error| refuse(error.to_string()))?;
        lines.push(Line { mapping: (*mapping).to_owned(), threads, value, is_fitted, placed });
    }
    if lines.is_empty() {
        return Err(Error::bad_input(format!("the table {file:?} has no line with a measurement")));
    }
    let points = |is_fitted| {
        let own = lines.iter().filter(move |line| line.is_fitted == is_fitted);
        own.filter_map(|line| Some((line.placed.clone(), line.value?))).collect::<Vec<_>>()
    };
    let table = Table { fitted: points(true), held_back: points(false) };
    let outcome = fit(&topology, &table);
    let measured =
        || lines.iter().filter(|line| line.value.is_some()).map(|line| (line.mapping.as_str(), line.threads));
    let is_known =
        |line: &Line| table.knows(&line.placed) || is_measured(&topology, measured(), &line.mapping, line.threads);
    let row = |line: &Line| Row {
        mapping: line.mapping.clone(),
        threads: line.threads,
        predicted: predicted(&topology, &outcome, is_known(line), &line.placed),
        measured: line.value,
        noisy: false,
    };
    let mut base = told(&topology, &outcome, &table);
    for own in grouped(&lines, |line| line.mapping.as_str()).iter().take(MOST_CURVES) {
        let name = own[0].mapping.as_str();
        let order = Mapping::of_data(name).map_err(|error| Error::bad_input(error.to_string()))?.order(machine)?;
        let curve = curve(&topology, &outcome, |threads| {
            let placed = in_order(&topology, &order, threads);
            Some((is_measured(&topology, measured(), name, threads) || table.knows(&placed), placed))
        });
        base.curves.extend((!curve.is_empty()).then(|| (name.to_owned(), curve)));
    }
    let unknown = lines.iter().filter(|line| !line.is_fitted && !is_known(line)).map(|line| line.mapping.as_str());
    base.why += &never_measured(&outcome, unknown.collect());
    if look_like_times(&table.fitted) {
        base.why += "; values fall with every thread that is added: if they are times, write 1/time";
    }
    let own = |line: &Line| {
        let not_fitted = if line.is_fitted { "" } else { ", not fitted" };
        let (name, threads) = (format!("{}{not_fitted}", line.mapping), line.threads);
        Some(Measured { name, threads, value: line.value?, interval: None, noisy: false })
    };
    Ok(Told {
        measured: sorted(lines.iter().filter_map(own)),
        rows: lines.iter().filter(|line| !line.is_fitted).map(row).collect(),
        error: model(&outcome).and_then(|model| {
            let pairs: Vec<(f64, f64)> =
                table.unseen(&topology).map(|(placed, value)| (model.predict(placed).value, *value)).collect();
            (!pairs.is_empty()).then(|| missed(pairs.into_iter()))
        }),
        ..base
    })
}

/// Whether values fall with each number of threads, as times do.
fn look_like_times(points: &[(Placed, f64)]) -> bool {
    let mut sorted: Vec<(usize, f64)> = points.iter().map(|(placed, value)| (placed.threads, *value)).collect();
    sorted.arrange_by(|one, other| one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)));
    let fall = sorted.windows(2).all(|two| two[0].0 == two[1].0 || two[0].1 > two[1].1);
    fall && sorted.first().map(|first| first.0) < sorted.last().map(|last| last.0)
}
