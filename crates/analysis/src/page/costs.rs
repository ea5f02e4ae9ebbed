//! What calls, wake-ups, locks and clocks cost, each kind as bars from the cheapest to the dearest.

use super::Section;
use crate::answer::{Answer, Costs, Reading};
use crate::figure::{Axis, Body, DataPoint, Datum, Figure, Plot, Quantity, Role, Row, Scale, Series, State, Table, id};
use charz_data::units;
use charz_estimate::grouped;

/// The section of bars of a page.
pub const COSTS: &str = "costs";

/// Fewer are read faster in a line.
const FEWEST: usize = 4;
/// From this ratio on numbers are spread by ratios.
const WIDE: f64 = 20.0;

/// A figure for each kind with enough kernels; `None` without any.
pub(super) fn section(answer: &Answer) -> Option<Section> {
    let figures: Vec<Figure> = answer.costs.iter().flat_map(of_kind).collect();
    let about = vec!["Lower is better; lines are 95% intervals".to_owned()];
    (!figures.is_empty()).then(|| Section { id: COSTS, title: "Costs", about, figures, ..Section::default() })
}

fn of_kind(costs: &Costs) -> Vec<Figure> {
    let units = grouped(&costs.kernels, |(_, reading)| reading.unit);
    units.iter().filter(|own| own.len() >= FEWEST).map(|own| figure(costs, own)).collect()
}

fn figure(costs: &Costs, own: &[&(String, Reading)]) -> Figure {
    let unit = own[0].1.unit;
    let state = |reading: &Reading| if reading.is_noisy { State::Suspect } else { State::Ok };
    let place = costs.place.as_ref().map(|place| format!(", {place}")).unwrap_or_default();
    let title = format!("{}{place}", costs.title());
    let points = (0_u32..).zip(own).map(|(at, (name, reading))| {
        let spread = reading.ends.map(|ends| ends.map(|end| end * reading.value));
        let note = format!("{name}: {}", reading.text());
        DataPoint { spread, ..DataPoint::new(f64::from(at), Some(reading.value), state(reading), note) }
    });
    let series = Series { name: String::new(), role: Role::Measured, source: 0, points: points.collect() };
    let names = own.iter().map(|(name, _)| costs.short(name).to_owned()).collect();
    let x = Axis::new("kernel", Quantity::Names(names), Scale::Linear);
    let mut plot = Plot::new(x, Axis::new("time", Quantity::Value(unit), Scale::Linear), vec![series]);
    if plot.y_range().is_some_and(|[low, high]| low > 0.0 && high > WIDE * low) {
        plot.y.scale = Scale::Log10;
    }
    let rows = own.iter().map(|(name, reading)| {
        let number = units::value(reading.value, unit) + units::doubt(reading.is_noisy);
        Row::new(vec![Datum::word(name), Datum::number(number, reading.value)], state(reading))
    });
    let table = Some(Table::new(&["kernel", "time"], rows));
    Figure { id: id(&format!("costs {title}")), title, about: Vec::new(), body: Body::Dots(plot), table }
}
