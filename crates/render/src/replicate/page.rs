//! A source document beside this machine, as a page for a browser.

use super::{delivered, digits, interval, model_words, name, origin, published_words, totals};
use charz_analysis::figure::{self, Axis, Body, DataPoint, Datum, Plot, Quantity, Role, Scale, Series, State, Table};
use charz_analysis::page::{self, Page, Section, Source};
use charz_data::units;
use charz_estimate::grouped;
use charz_replicate::{Number, Reference, ReplicatedFigure, Replication, Row};
use charz_words::replicate as words;

/// Fewer points make no curve.
const CURVE: usize = 4;

/// A picture of every figure that has numbers, with its table; then what is concluded.
pub(super) fn of(replication: &Replication<'_>) -> Page {
    let document = &replication.document;
    let citation = format!("{}: {}, {}; {}", document.title, document.authors, document.published, document.id);
    let mut summary = vec![totals(replication), citation];
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
    let pictures = Section {
        id: "pictures",
        title: "Pictures",
        about: vec![
            "The document's values, this machine's with their 95% intervals, and, dashed, what a model says that knows a few of the \
             document's values, with its 90% interval in grey"
                .to_owned(),
        ],
        figures: figures.clone().flat_map(|figure| pictures(replication, figure)).collect(),
        ..Section::default()
    };
    let claims = figures.clone().flat_map(|figure| figure.claims.iter().map(move |claim| (figure, claim)));
    let claims = claims.map(|(figure, claim)| {
        let verdict = format!("{}{}", words::verdict(claim.verdict), units::doubt(claim.is_suspect()));
        cells(vec![figure.number.to_owned(), words::conclusion(claim), verdict, words::evidence(claim)])
    });
    let claims = Table::new(&["figure", "conclusion", "here", "evidence"], claims);
    let status =
        figures.map(|figure| cells(vec![name(figure), figure.shows.to_owned(), words::reasons(figure).join("; ")]));
    let status = Table::new(&["figure", "shows", "why no further"], status);
    let mut method = origin(replication);
    method.push(replication.protocol.to_owned());
    method.extend(replication.inconsistencies.iter().map(|words| format!("The document contradicts itself: {words}")));
    let mut sections = vec![
        pictures,
        listed("conclusions", "Conclusions", "What the document concludes, and whether it holds here", claims),
        listed("figures", "Figures", "How far each figure is replicated, and why no further", status),
        Section { id: "method", title: "How it was measured", about: method, ..Section::default() },
    ];
    sections.retain(|section| match section.id {
        "pictures" => !section.figures.is_empty(),
        _ => section.table.as_ref().is_none_or(|table| !table.rows.is_empty()),
    });
    let (title, source) = match &replication.report {
        Some(origin) => {
            let host = [origin.host, origin.processor].into_iter().flatten().map(str::trim).collect::<Vec<_>>();
            let title = format!("{} replicated on {}", document.name, host.join(", "));
            (title, Some(page::about(&Source { name: "this machine", report: origin.report })))
        }
        None => (format!("{}: what can be replicated here", document.name), None),
    };
    Page { title, summary, sections, sources: source.into_iter().collect(), ..Page::default() }
}

/// The pictures of a figure, the first with every value: curves where it has any, else bars.
fn pictures(replication: &Replication<'_>, figure: &ReplicatedFigure<'_>) -> Vec<figure::Figure> {
    let curves = curves(replication, figure);
    let mut pictures = if curves.is_empty() { bars(replication, figure) } else { curves };
    if !pictures.iter().all(figure::Figure::is_lone) {
        pictures.retain(|picture| !picture.is_lone());
    }
    const HEADING: [&str; 11] = [
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
        "why not here",
    ];
    if let Some(first) = pictures.first_mut() {
        let rows = figure.rows.iter().flat_map(|row| value_rows(replication, row));
        first.table = Some(Table::new(&HEADING, rows).without_empty_columns());
    }
    pictures
}

/// The most rows of a picture.
const MOST_ROWS: usize = 40;
/// From this ratio on numbers are spread by ratios.
const WIDE: f64 = 20.0;

/// A row for each value, a bar for each machine of the document and for this one; a picture for each unit.
fn bars(replication: &Replication<'_>, figure: &ReplicatedFigure<'_>) -> Vec<figure::Figure> {
    let has_number = |row: &&Row<'_>| row.here.is_some() || !row.published.is_empty();
    let units = grouped(figure.rows.iter().filter(has_number), |row| row.unit);
    let parts = units.iter().flat_map(|rows| rows.chunks(MOST_ROWS)).collect::<Vec<_>>();
    let count = parts.len();
    let picture = |(at, rows): (usize, &&[&Row<'_>])| {
        let placed = || (0_u32..).map(f64::from).zip(rows.iter().copied());
        let note = |row: &Row<'_>, value: &str| format!("{}: {value} {}", what(row), row.unit);
        let theirs = replication.machines.iter().map(|machine| {
            let point = |(x, row): (f64, &Row<'_>)| {
                let range = published(row, &machine.key)?;
                let spread = (range.low < range.high).then_some([range.low, range.high]);
                let note = note(row, &published_words(range));
                Some(point(x, f64::midpoint(range.low, range.high), spread, State::Ok, note))
            };
            (machine.name.clone(), placed().filter_map(point).collect())
        });
        let here = |(x, row): (f64, &Row<'_>)| {
            let own = row.here.as_ref()?;
            let state = if own.suspect { State::Suspect } else { State::Ok };
            Some(point(x, own.value, own.interval, state, note(row, &shown(own))))
        };
        let ours = ("here".to_owned(), placed().filter_map(here).collect());
        let series = theirs.chain([ours]).filter(|(_, points): &(String, Vec<DataPoint>)| !points.is_empty());
        let series = series.map(|(name, points)| Series { name, role: Role::Measured, source: 0, points }).collect();
        let names = rows.iter().map(|row| what(row)).collect();
        let x = Axis::new("value", Quantity::Names(names), Scale::Linear);
        let mut plot = Plot::new(x, Axis::new(rows[0].unit, Quantity::Plain, Scale::Linear), series);
        if plot.y_range().is_some_and(|[low, high]| low > 0.0 && high > WIDE * low) {
            plot.y.scale = Scale::Log10;
        }
        let of = if count > 1 { format!(" ({} of {count})", at + 1) } else { String::new() };
        figure::Figure {
            id: figure::id(&format!("{} {}", figure.number, at + 1)),
            title: format!("{}: {}{of}", figure.number, figure.title),
            about: words::basis(figure).map(str::to_owned).into_iter().collect(),
            body: Body::Dots(plot),
            table: None,
        }
    };
    parts.iter().enumerate().map(picture).collect()
}

/// What a row is of.
fn what(row: &Row<'_>) -> String {
    [row.group, row.label].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(", ")
}

/// A row for each machine of the document that has a value, or one without.
fn value_rows(replication: &Replication<'_>, row: &Row<'_>) -> Vec<Vec<Datum>> {
    let here = row.here.as_ref();
    let doubt = units::doubt(here.is_some_and(|here| here.suspect));
    let known = |text: Option<String>| text.filter(|text| !text.is_empty()).map_or_else(Datum::none, Datum::word);
    let line = |machine: &str, published: Datum, model: Datum, ratio: Option<f64>| {
        vec![
            Datum::word(what(row)),
            known(Some(machine.to_owned())),
            published,
            model,
            known(row.workers.map(units::count)),
            Datum::known(here.map(|here| here.value), |value| digits(value) + doubt),
            known(here.map(interval)),
            known(delivered(row)),
            Datum::known(ratio, |ratio| digits(ratio) + doubt),
            Datum::word(row.unit),
            known(words::gap(row).filter(|_| here.is_none())),
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
        let along = |(x, row): &(f64, &Row<'_>)| {
            let predicted = published(row, key)?.predicted.as_ref()?;
            Some(point(*x, predicted.value, Some(predicted.interval), State::Ok, String::new()))
        };
        let group = rows[0].group;
        let measured = [
            line(format!("{group}, {key}"), Role::Measured, theirs),
            line(format!("{group}, here"), Role::Measured, ours),
        ];
        series.extend(measured.into_iter().filter(|line| !line.points.is_empty()));
        let model = line(format!("{group}, model"), Role::Ideal, placed.iter().filter_map(along).collect());
        modelled.extend(Some(model).filter(|line| !line.points.is_empty()));
    }
    series.extend(modelled);
    let models = figure.models.iter().filter(|model| model.machine == key);
    let x = Axis::new("threads", Quantity::Count, Scale::Log2);
    let y = Axis::new(unit.to_owned(), Quantity::Plain, Scale::Linear);
    (longest >= CURVE).then(|| figure::Figure {
        id: figure::id(&format!("{} {key}", figure.number)),
        title: match machine {
            Some(machine) => format!("{} · {} · beside the {}", figure.number, figure.title, machine.name),
            None => format!("{} · {}", figure.number, figure.title),
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
