//! A document beside a report, figure by figure.

use super::count::Count;
use super::data::{Document, Figure, Reference, Series};
use super::outcome::{Checked, Cited, Machine, Origin, Replicated, Replication, Row, Said, Standing, Totals, Verdict};
use super::place::Place;
use super::seen::{Gap, Seen};
use super::unit::is_share;
use crate::report::Report;

/// Draws these figures of a document beside a report.
pub fn draw(document: &Document, figures: &[&Figure], report: &Report) -> Replication {
    let (seen, place) = (Seen::new(report), Place::of(&report.machine));
    let drawn = figures.iter().map(|figure| replicated(document, figure, &place, Some(&seen))).collect();
    let origin = Origin {
        id: report.id.clone(),
        started: report.started.clone(),
        host: report.host.name.clone(),
        processor: report.host.processor.clone(),
        strands: place.strands,
        complete: report.complete,
    };
    Replication { report: Some(origin), clock: seen.clock, ..whole(document, drawn) }
}

/// The same before anything is measured: what a sweep on a machine could come to.
pub fn prospect(document: &Document, figures: &[&Figure], place: &Place) -> Replication {
    whole(document, figures.iter().map(|figure| replicated(document, figure, place, None)).collect())
}

fn whole(document: &Document, mut figures: Vec<Replicated>) -> Replication {
    follow(document, &mut figures);
    let mut totals = Totals::default();
    for figure in &figures {
        *match figure.standing {
            Standing::Done => &mut totals.done,
            Standing::Partly => &mut totals.partly,
            Standing::NotMeasured => &mut totals.not_measured,
            Standing::NotPossible => &mut totals.not_possible,
            Standing::Drawing => &mut totals.drawings,
        } += 1;
    }
    Replication {
        schema: Replication::schema(),
        document: Cited {
            name: document.name.clone(),
            title: document.title.clone(),
            authors: document.authors.clone(),
            published: document.published.clone(),
            id: document.id.clone(),
            protocol: document.protocol.about.clone(),
        },
        machines: document
            .machines
            .iter()
            .map(|machine| Machine {
                key: machine.key.clone(),
                name: machine.name.clone(),
                clock_hz: machine.clock_ghz.map(|ghz| ghz * 1e9),
                strands: machine.strands,
                about: machine.about.clone(),
            })
            .collect(),
        inconsistencies: document.inconsistencies.clone(),
        report: None,
        clock: None,
        figures,
        totals,
    }
}

/// A picture of a table stands as the table does, where that is told too.
fn follow(document: &Document, figures: &mut [Replicated]) {
    for at in 0..figures.len() {
        let own = document.figures.iter().find(|figure| figure.number == figures[at].number);
        let Some(table) = own.and_then(|figure| figure.same_as.as_ref()) else { continue };
        if let Some(other) = figures.iter().find(|other| other.number == *table) {
            figures[at].standing = other.standing;
            figures[at].reasons = vec![format!("as {table}, of which it is the picture")];
        } else {
            figures[at].standing = Standing::Partly;
            figures[at].reasons = vec![format!("it is the picture of {table}, which was not asked for")];
        }
    }
}

fn replicated(document: &Document, figure: &Figure, place: &Place, seen: Option<&Seen<'_>>) -> Replicated {
    let rows: Vec<Row> = figure.series.iter().flat_map(|series| rows(document, figure, series, place, seen)).collect();
    let claims: Option<Vec<Checked>> =
        seen.map(|seen| figure.claims.iter().map(|claim| claim.check(seen, place)).collect());
    let (standing, reasons) = standing(figure, &rows, claims.as_deref(), place);
    Replicated {
        number: figure.number.clone(),
        title: figure.title.clone(),
        shows: figure.shows.clone(),
        survives: figure.survives.clone(),
        standing,
        reasons,
        notes: figure.notes.iter().cloned().chain(cut(figure, place)).collect(),
        claims: claims.unwrap_or_default(),
        rows,
    }
}

/// How far it is replicated, and why no further. Before anything is measured every cell that can be asked for counts.
fn standing(figure: &Figure, rows: &[Row], claims: Option<&[Checked]>, place: &Place) -> (Standing, Vec<String>) {
    if let Some(drawing) = &figure.drawing {
        return (Standing::Drawing, vec![drawing.clone()]);
    }
    if let Some(cannot) = &figure.cannot {
        return (Standing::NotPossible, vec![cannot.clone()]);
    }
    let answered = rows.iter().filter(|row| row.kernel.is_some() && !row.beyond);
    let (told, gaps): (Vec<&Row>, Vec<&Row>) =
        answered.partition(|row| row.here.is_some() || (claims.is_none() && row.gap.is_none()));
    let tested = match claims {
        Some(claims) => claims.iter().any(|claim| claim.verdict != Verdict::Unseen),
        None => figure.claims.iter().any(|claim| claim.prospect(place).is_ok()),
    };
    let mut reasons: Vec<String> = figure.lacks.clone();
    if let Some(command) = &figure.elsewhere {
        reasons.push(command.clone());
    }
    reasons.extend(told_once(&gaps));
    let only_beyond = told.is_empty() && gaps.is_empty() && rows.iter().any(|row| row.beyond);
    if only_beyond {
        reasons.push("all of it is beyond this machine".to_owned());
    }
    if told.is_empty() && gaps.is_empty() && !tested {
        reasons.extend(claims.into_iter().flatten().map(|claim| claim.because.clone()).take(1));
    }
    // Before anything is measured nothing is open.
    let open = gaps.iter().any(|row| row.open) || claims.into_iter().flatten().any(|claim| claim.open);
    let something = !told.is_empty() || (gaps.is_empty() && tested) || figure.elsewhere.is_some();
    match (something, reasons.is_empty()) {
        (false, _) if open => (Standing::NotMeasured, reasons),
        (false, _) => (Standing::NotPossible, reasons),
        (true, true) => (Standing::Done, reasons),
        (true, false) => (Standing::Partly, reasons),
    }
}

/// Each reason with the number of rows that have it.
fn told_once(gaps: &[&Row]) -> Vec<String> {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for gap in gaps.iter().filter_map(|row| row.gap.as_deref()) {
        match reasons.iter_mut().find(|(reason, _)| *reason == gap) {
            Some((_, rows)) => *rows += 1,
            None => reasons.push((gap, 1)),
        }
    }
    let words = |(reason, rows): (&str, usize)| match rows {
        1 => reason.to_owned(),
        rows => format!("{rows} rows: {reason}"),
    };
    let (shown, rest) = reasons.split_at(reasons.len().min(MOST_REASONS));
    let rest = (!rest.is_empty()).then(|| format!("{} more reasons beside the rows", rest.len()));
    shown.iter().map(|reason| words(*reason)).chain(rest).collect()
}

/// The most reasons in one place.
const MOST_REASONS: usize = 3;

/// That numbers of workers were cut, where they were.
fn cut(figure: &Figure, place: &Place) -> Option<String> {
    let fixed = figure.series.iter().filter(|series| series.cell.is_some() && series.here.is_empty());
    let beyond =
        fixed.flat_map(|series| &series.workers).filter(|count| !count.is_relative() && count.on(place).is_err());
    let most = beyond.filter_map(|count| count.to_string().parse::<u64>().ok()).max()?;
    Some(format!(
        "numbers of workers end at twice the {} strands of this machine; the document went to {most}",
        place.strands
    ))
}

fn rows(document: &Document, figure: &Figure, series: &Series, place: &Place, seen: Option<&Seen<'_>>) -> Vec<Row> {
    let values = series.values.values().map(Vec::len).max().unwrap_or(0);
    let length = series.workers.len().max(series.labels.len()).max(values).max(1);
    (0..length).map(|at| row(document, figure, series, at, place, seen)).collect()
}

fn row(
    document: &Document,
    figure: &Figure,
    series: &Series,
    at: usize,
    place: &Place,
    seen: Option<&Seen<'_>>,
) -> Row {
    let count = series.workers.get(at).or_else(|| series.workers.first().filter(|_| series.workers.len() == 1));
    let here = series.here.get(at).or(count.filter(|_| series.here.is_empty()));
    let cell = series.cell.as_ref().filter(|_| figure.cannot.is_none());
    let fitting = |count: &Count| {
        let workers = count.one_on(place)?;
        cell.map_or(Ok(()), |spec| spec.takes(workers)).map(|()| workers)
    };
    let workers = here.map(fitting).transpose();
    // In the document's order of its machines, so that ratios are against the first that has a value.
    let said = |machine: &Reference| {
        let [low, high] = series.values.get(&machine.key)?.get(at)?.range()?;
        Some(Said { machine: machine.key.clone(), low, high })
    };
    let said: Vec<Said> = document.machines.iter().filter_map(said).collect();
    let number = match (cell, &workers) {
        (None, _) => Err(Gap::from(figure.cannot.as_deref().unwrap_or("nothing here answers it"))),
        (Some(_), Err(why)) => Err(why.as_str().into()),
        (Some(_), Ok(None)) => Err("it has no number of workers".into()),
        (Some(spec), Ok(Some(workers))) => match seen {
            Some(seen) => seen.number(spec, &series.take, *workers, &series.unit).map(Some),
            None => Ok(None),
        },
    };
    let (number, gap) = match number {
        Ok(number) => (number, None),
        Err(gap) => (None, Some(gap)),
    };
    let against = said.first().filter(|_| series.ratio && !is_share(&series.unit));
    Row {
        group: series.group.clone(),
        label: match (series.labels.get(at), count) {
            (Some(label), _) => label.clone(),
            (None, Some(count)) => count.to_string(),
            (None, None) => String::new(),
        },
        kernel: cell.map(|spec| spec.kernels().map(String::as_str).collect::<Vec<_>>().join("+")),
        mapping: cell.map(|spec| spec.mapping.clone()),
        beyond: cell.is_some() && workers.is_err(),
        workers: workers.ok().flatten(),
        unit: series.unit.clone(),
        ratio: number.as_ref().zip(against).and_then(|(number, said)| ratio(number.value, said)),
        document: said,
        here: number,
        open: gap.as_ref().is_some_and(|gap| gap.open),
        gap: gap.map(|gap| gap.why),
    }
}

fn ratio(value: f64, said: &Said) -> Option<f64> {
    let ratio = if value > said.high {
        value / said.high
    } else if value < said.low {
        value / said.low
    } else {
        1.0
    };
    Some(ratio).filter(|ratio| ratio.is_finite())
}

impl Replication {
    /// How many conclusions have this verdict.
    pub fn verdicts(&self, wanted: Verdict) -> usize {
        self.figures.iter().flat_map(|figure| &figure.claims).filter(|claim| claim.verdict == wanted).count()
    }
}
