//! A document's figures beside a report, or beside what a machine could measure.

use super::cell::{Kernels, Target};
use super::document::{Document, Figure, Reference, Series};
use super::replication::{
    CheckedClaim, Gap, GapKind, Origin, PublishedRange, ReplicatedFigure, Replication, Row, Status, Verdict,
};
use super::results::Results;
use super::statistic::{ONE_REPORT, is_share};
use charz_data::escape::counted;
use charz_data::report::Report;

/// Reasons that a figure lists; the others are beside its rows.
const MAX_REASONS: usize = 3;

/// These figures of a document beside a report; `against` is one of another machine, for figures that compare two.
pub fn evaluate(
    document: &Document,
    figures: &[&Figure],
    report: &Report,
    against: Option<&Report>,
    kernels: Kernels,
) -> Replication {
    let (results, target) = (Results::new(report, against), Target::new(&report.machine, kernels));
    let origin = Origin {
        id: report.id.clone(),
        started: report.started.clone(),
        host: report.host.name.clone(),
        processor: report.host.processor.clone(),
        strands: target.strands,
        complete: report.complete,
        resume: report.resume(),
    };
    let replication = replicate(document, figures, &target, Some(&results));
    Replication { report: Some(origin), clock: results.clock, ..replication }
}

/// What a sweep on a machine can replicate of these figures, before anything is measured.
pub fn feasibility(document: &Document, figures: &[&Figure], target: &Target) -> Replication {
    replicate(document, figures, target, None)
}

fn replicate(document: &Document, figures: &[&Figure], target: &Target, results: Option<&Results<'_>>) -> Replication {
    let mut replicated: Vec<ReplicatedFigure> =
        figures.iter().map(|figure| replicated(document, figure, target, results)).collect();
    // A plot of a table has the table's status.
    for (at, table) in figures.iter().enumerate().filter_map(|(at, figure)| Some((at, figure.same_as.as_ref()?))) {
        let other = replicated.iter().find(|other| other.number == *table).map(|other| other.status);
        let reason = if other.is_some() { "" } else { ", which is not among these figures" };
        replicated[at].status = other.unwrap_or(Status::Partly);
        replicated[at].reasons = vec![format!("it plots {table}{reason}")];
    }
    Replication {
        schema: Replication::schema(),
        document: document.citation.clone(),
        protocol: document.protocol.about.clone(),
        machines: document.machines.clone(),
        inconsistencies: document.inconsistencies.clone(),
        report: None,
        clock: None,
        figures: replicated,
    }
}

fn replicated(
    document: &Document,
    figure: &Figure,
    target: &Target,
    results: Option<&Results<'_>>,
) -> ReplicatedFigure {
    let context = Context { machines: &document.machines, impossible: figure.impossible.as_deref(), target, results };
    let rows: Vec<Row> = figure.series.iter().flat_map(|series| context.rows(series)).collect();
    let claims: Vec<CheckedClaim> = results
        .map(|results| figure.claims.iter().map(|claim| claim.check(results, target)).collect())
        .unwrap_or_default();
    // What keeps each claim undecided or, before a sweep, from being tested.
    let untested: Vec<String> = match results {
        Some(_) => {
            let undecided = claims.iter().filter(|claim| claim.verdict == Verdict::Undecided);
            undecided.map(|claim| claim.evidence.clone()).collect()
        }
        None => figure.claims.iter().filter_map(|claim| claim.counts(target).err()).collect(),
    };
    let (status, reasons) = status(figure, &rows, &claims, &untested);
    ReplicatedFigure {
        number: figure.number.clone(),
        title: figure.title.clone(),
        shows: figure.shows.clone(),
        survives: figure.survives.clone(),
        status,
        reasons,
        notes: figure.notes.clone(),
        rows,
        models: Vec::new(),
        claims,
    }
}

/// How far a figure is replicated, and why no further.
fn status(figure: &Figure, rows: &[Row], claims: &[CheckedClaim], untested: &[String]) -> (Status, Vec<String>) {
    if let Some(drawing) = &figure.drawing {
        return (Status::Drawing, vec![drawing.clone()]);
    }
    if let Some(reason) = &figure.impossible {
        return (Status::NotPossible, vec![reason.clone()]);
    }
    let answered = || rows.iter().filter(|row| row.kernel.is_some());
    let gaps: Vec<&Gap> = answered().filter_map(|row| row.gap.as_ref()).collect();
    let mut reasons: Vec<String> = figure.missing.iter().chain(&figure.elsewhere).cloned().collect();
    reasons.extend(distinct(gaps.iter().map(|gap| gap.reason.as_str()), "rows"));
    for reason in distinct(untested.iter().map(String::as_str), "conclusions") {
        // Rows have it behind their number.
        if !reasons.iter().any(|known| known.ends_with(&reason)) {
            reasons.push(reason);
        }
    }
    let open = gaps.iter().any(|gap| gap.kind == GapKind::Open) || claims.iter().any(|claim| claim.open);
    let any = gaps.len() < answered().count() || untested.len() < figure.claims.len() || figure.elsewhere.is_some();
    let status = match (any, reasons.is_empty()) {
        (false, _) if open => Status::NotMeasured,
        (false, _) => Status::NotPossible,
        (true, true) => Status::Done,
        (true, false) => Status::Partly,
    };
    (status, reasons)
}

/// Each reason with the number of rows, or of other things, that have it.
fn distinct<'a>(all: impl Iterator<Item = &'a str>, things: &str) -> Vec<String> {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for reason in all {
        match reasons.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    let (shown, rest) = reasons.split_at(reasons.len().min(MAX_REASONS));
    let words = |(reason, count): &(&str, usize)| match count {
        1 => (*reason).to_owned(),
        count => format!("{count} {things}: {reason}"),
    };
    let rest = (!rest.is_empty()).then(|| format!("{} beside the {things}", counted(rest.len(), "more reason")));
    shown.iter().map(words).chain(rest).collect()
}

struct Context<'a> {
    machines: &'a [Reference],
    impossible: Option<&'a str>,
    target: &'a Target,
    results: Option<&'a Results<'a>>,
}

impl Context<'_> {
    fn rows(&self, series: &Series) -> Vec<Row> {
        let values = series.values.values().map(Vec::len).max().unwrap_or(0);
        let rows = series.workers.len().max(series.labels.len()).max(values).max(1);
        (0..rows).map(|at| self.row(series, at)).collect()
    }

    fn row(&self, series: &Series, at: usize) -> Row {
        let spec = series.cell().filter(|_| self.impossible.is_none());
        let only = series.workers.first().filter(|_| series.workers.len() == 1);
        let count = series.workers.get(at).or(only);
        let here = series.here.get(at).or(count.filter(|_| series.here.is_empty()));
        let workers = spec.zip(here).map(|(spec, count)| {
            let workers = count.number(self.target)?;
            if let Some(over) = &series.over {
                self.target.measures(&over.cell, &over.statistic, over.workers(workers, self.target)?)?;
            }
            self.target.measures(spec, &series.statistic, workers).map(|()| workers)
        });
        let number = match (spec, &workers) {
            (None, _) => Err(self.impossible.unwrap_or("nothing here answers it").into()),
            (Some(_), None) => Err("it has no number of threads".into()),
            (Some(_), Some(Err(reason))) => Err(Gap { reason: reason.clone(), kind: GapKind::Machine }),
            (Some(spec), Some(Ok(workers))) => match (self.results, &series.over) {
                (None, _) if series.statistic.is_of_two() => {
                    Err(Gap { reason: ONE_REPORT.into(), kind: GapKind::Open })
                }
                (None, _) => Ok(None),
                (Some(results), None) => results.number(spec, &series.statistic, *workers, &series.unit).map(Some),
                (Some(results), Some(over)) => over.workers(*workers, self.target).map_err(Gap::from).and_then(|own| {
                    let sides = [(spec, &series.statistic, *workers), (&over.cell, &over.statistic, own)];
                    results.over(sides).map(Some)
                }),
            },
        };
        let (here, gap) = number.map_or_else(|gap| (None, Some(gap)), |here| (here, None));
        // In the order of the document's machines, since ratios are to the first that has a value.
        let published = |machine: &Reference| {
            let [low, high] = series.values.get(&machine.key)?.get(at)?.range()?;
            Some(PublishedRange { machine: machine.key.clone(), low, high, predicted: None })
        };
        let published: Vec<PublishedRange> = self.machines.iter().filter_map(published).collect();
        let against = published.first().filter(|_| series.ratio && !is_share(&series.unit));
        let fixed = count.and_then(|count| count.fixed()).map(|count| count.to_string());
        Row {
            group: series.group.clone(),
            label: series.labels.get(at).cloned().or(fixed).unwrap_or_default(),
            kernel: spec.map(|spec| spec.kernel.clone()),
            mapping: spec.map(|spec| spec.mapping.clone()),
            workers: workers.and_then(Result::ok),
            unit: series.unit.clone(),
            ratio: here.as_ref().zip(against).and_then(|(here, published)| published.ratio(here.value)),
            published,
            here,
            gap,
        }
    }
}

impl PublishedRange {
    fn ratio(&self, value: f64) -> Option<f64> {
        let nearest = value.clamp(self.low, self.high);
        Some(value / nearest).filter(|ratio| ratio.is_finite())
    }
}
