//! A source document beside this machine, as a page for a browser.

use super::{delivered, digits, interval, model_words, name, origin, published_words, totals};
use charz_analysis::figure::{self, Axis, Body, DataPoint, Datum, Plot, Quantity, Role, Scale, Series, State, Table};
use charz_analysis::page::{Page, Section};
use charz_data::units;
use charz_replicate::{Number, Reference, ReplicatedFigure, Replication, Row};
use charz_words::replicate as words;

/// Fewer points make no curve.
const CURVE: usize = 4;

pub(super) fn of(replication: &Replication<'_>) -> Page {
    let document = &replication.document;
    let mut summary = vec![totals(replication)];
    let models = replication.figures.iter().flat_map(|figure| figure.models.iter().map(move |model| (figure, model)));
    summary.extend(models.map(|(figure, model)| format!("{}, {}", figure.number, model_words(replication, model))));
    let listed = |id, title, about: &str, table: Table| Section {
        id,
        title,
        about: vec![about.to_owned()],
        table: Some(table),
        figures: Vec::new(),
    };
    let cells = |cells: Vec<String>| cells.into_iter().map(Datum::word).collect::<Vec<_>>();
    let figures = replication.figures.iter();
    let curves = Section {
        id: "curves",
        title: "Curves",
        about: vec![
            "The document's values, this machine's with their 95% intervals, and, faintly, what a model says that knows a few of the \
             document's values, with the ends of its 90% interval"
                .to_owned(),
        ],
        figures: figures.clone().flat_map(|figure| curves(replication, figure)).collect(),
        ..Section::default()
    };
    let claims = figures.clone().flat_map(|figure| figure.claims.iter().map(move |claim| (figure, claim)));
    let claims = claims.map(|(figure, claim)| {
        let verdict = format!("{}{}", words::verdict(claim.verdict), units::doubt(claim.is_suspect()));
        cells(vec![figure.number.to_owned(), words::conclusion(claim), verdict, words::evidence(claim)])
    });
    let claims = Table::new(&["figure", "conclusion", "here", "evidence"], claims);
    let status = figures
        .clone()
        .map(|figure| cells(vec![name(figure), figure.shows.to_owned(), words::reasons(figure).join("; ")]));
    let values =
        figures.flat_map(|figure| figure.rows.iter().flat_map(move |row| value_rows(replication, figure, row)));
    const HEADING: [&str; 11] = [
        "figure",
        "what",
        "machine",
        "published",
        "model",
        "threads",
        "here",
        "95% interval",
        "delivered",
        "ratio",
        "unit",
    ];
    let mut method = origin(replication);
    method.push(replication.protocol.to_owned());
    method.extend(replication.inconsistencies.iter().map(|words| format!("The document contradicts itself: {words}")));
    let mut sections = vec![
        curves,
        listed("conclusions", "Conclusions", "What the document concludes, and whether it holds here", claims),
        listed(
            "figures",
            "Figures",
            "How far each figure is replicated, and why no further",
            Table::new(&["figure", "shows", "why"], status),
        ),
        listed("values", "Values", "Every value of the document beside this machine's", Table::new(&HEADING, values)),
        Section { id: "method", title: "How it was measured", about: method, ..Section::default() },
    ];
    sections.retain(|section| {
        !section.figures.is_empty()
            || section.table.as_ref().is_none_or(|table| !table.rows.is_empty()) && section.id != "curves"
    });
    let citation = format!("{}, {}; {}", document.authors, document.published, document.id);
    summary.push(citation);
    Page { title: document.title.clone(), summary, sections, ..Page::default() }
}

/// A row for each machine of the document that has a value, or one without.
fn value_rows(replication: &Replication<'_>, figure: &ReplicatedFigure<'_>, row: &Row<'_>) -> Vec<Vec<Datum>> {
    let what = [row.group, row.label].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>();
    let here = row.here.as_ref();
    let doubt = units::doubt(here.is_some_and(|here| here.suspect));
    let number = |value: Option<f64>, text: Option<String>| match value.zip(text) {
        Some((value, text)) => Datum::number(text, value),
        None => Datum::none(),
    };
    let line = |machine: &str, published: Datum, model: Datum, ratio: Option<f64>| {
        let gap = words::gap(row);
        let own = here.map(|here| digits(here.value) + doubt);
        vec![
            Datum::word(figure.number),
            Datum::word(what.join(", ")),
            Datum::word(machine),
            published,
            model,
            Datum::word(row.workers.map(units::count).unwrap_or_default()),
            gap.filter(|_| here.is_none()).map_or_else(|| number(here.map(|here| here.value), own), Datum::word),
            Datum::word(here.map(interval).unwrap_or_default()),
            Datum::word(delivered(row).unwrap_or_default()),
            number(ratio, ratio.map(|ratio| digits(ratio) + doubt)),
            Datum::word(row.unit),
        ]
    };
    if row.published.is_empty() {
        return vec![line("", Datum::none(), Datum::none(), None)];
    }
    let each = row.published.iter().enumerate().map(|(at, range)| {
        let machine = replication.machines.iter().find(|machine| machine.key == range.machine);
        let model = range.predicted.as_ref().map_or_else(Datum::none, |own| match own.is_fitted {
            true => Datum::word("fitted"),
            false => Datum::number(digits(own.value), own.value),
        });
        line(
            machine.map_or("", |machine| &machine.name),
            Datum::number(published_words(range), range.low),
            model,
            row.ratio.filter(|_| at == 0),
        )
    });
    each.collect()
}

/// A picture for each machine of the document that has a curve in this figure, this machine's curves in each; or of those alone.
fn curves(replication: &Replication<'_>, figure: &ReplicatedFigure<'_>) -> Vec<figure::Figure> {
    let machines = replication.machines.iter();
    let theirs: Vec<figure::Figure> =
        machines.filter_map(|machine| curve(replication, figure, Some(machine))).collect();
    if theirs.is_empty() { curve(replication, figure, None).into_iter().collect() } else { theirs }
}

fn curve(
    replication: &Replication<'_>,
    figure: &ReplicatedFigure<'_>,
    machine: Option<&Reference>,
) -> Option<figure::Figure> {
    let key = machine.map_or("", |machine| &machine.key);
    // Measured lines first: the first ones have colours of their own.
    let (mut series, mut modelled) = (Vec::new(), Vec::new());
    let mut longest = 0;
    let is_shown = |row: &&Row<'_>| if machine.is_some() { published(row, key).is_some() } else { row.here.is_some() };
    let unit = figure.rows.iter().find(is_shown)?.unit;
    let groups = figure.rows.chunk_by(|one, other| one.group == other.group && one.unit == other.unit);
    for rows in groups.filter(|rows| rows[0].unit == unit) {
        let placed: Vec<(f64, &Row<'_>)> =
            rows.iter().filter_map(|row| Some((row.label.parse::<u32>().ok()?.into(), row))).collect();
        let line = |name: String, role, points: Vec<DataPoint>| Series { name, role, source: 0, points };
        let said = |row: &Row<'_>, value: &str| format!("{} ×{}: {value} {unit}", row.group, row.label);
        let theirs: Vec<DataPoint> = placed
            .iter()
            .filter_map(|(x, row)| {
                let range = published(row, key)?;
                Some(point(*x, range.low, None, State::Ok, said(row, &published_words(range))))
            })
            .collect();
        let here = |(_, row): &(f64, &Row<'_>)| {
            let (own, x) = (row.here.as_ref()?, row.workers? as f64);
            let state = if own.suspect { State::Suspect } else { State::Ok };
            Some(point(x, own.value, own.interval, state, said(row, &shown(own))))
        };
        let ours: Vec<DataPoint> = placed.iter().filter_map(here).collect();
        // Two points of this machine are a curve.
        longest = longest.max(if machine.is_some() { theirs.len() } else { ours.len() + CURVE - 2 });
        let along = |end: fn(&charz_replicate::Predicted) -> f64| {
            let one = |(x, row): &(f64, &Row<'_>)| {
                let predicted = published(row, key)?.predicted.as_ref()?;
                Some(point(*x, end(predicted), None, State::Ok, String::new()))
            };
            placed.iter().filter_map(one).collect::<Vec<_>>()
        };
        let group = rows[0].group;
        let measured = [
            line(format!("{group}, {key}"), Role::Measured, theirs),
            line(format!("{group}, here"), Role::Measured, ours),
        ];
        series.extend(measured.into_iter().filter(|line| !line.points.is_empty()));
        let model = [
            line(format!("{group}, model"), Role::Ideal, along(|one| one.value)),
            line(String::new(), Role::Ideal, along(|one| one.interval[0])),
            line(String::new(), Role::Ideal, along(|one| one.interval[1])),
        ];
        modelled.extend(model.into_iter().filter(|line| !line.points.is_empty()));
    }
    series.extend(modelled);
    let models = figure.models.iter().filter(|model| model.machine == key);
    let x = Axis::new("threads", Quantity::Count, Scale::Log2);
    let y = Axis::new(unit.to_owned(), Quantity::Plain, Scale::Linear);
    (longest >= CURVE).then(|| figure::Figure {
        id: figure::id(&format!("{} {key}", figure.number)),
        title: match machine {
            Some(machine) => format!("{} beside the {}: {}", figure.number, machine.name, figure.title),
            None => format!("{}: {}", figure.number, figure.title),
        },
        about: words::basis(figure)
            .map(str::to_owned)
            .into_iter()
            .chain(models.map(|model| model_words(replication, model)))
            .collect(),
        body: Body::Lines(Plot::new(x, y, series)),
        table: None,
    })
}

fn published<'a>(row: &'a Row<'a>, machine: &str) -> Option<&'a charz_replicate::PublishedRange<'a>> {
    row.published.iter().find(|range| range.machine == machine)
}

fn shown(number: &Number<'_>) -> String {
    format!("{} ({})", digits(number.value), interval(number))
}

fn point(x: f64, y: f64, spread: Option<[f64; 2]>, state: State, note: String) -> DataPoint {
    DataPoint { spread, ..DataPoint::new(x, Some(y), state, note) }
}
