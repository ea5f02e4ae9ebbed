//! A document's figures beside a report, or beside what a machine could measure.

use super::cell::{Kernels, Target};
use super::document::{Document, Figure, Reference, Series};
use super::replication::{
    CheckedClaim, Note, Number, Of, Origin, PublishedRange, Reason, ReplicatedFigure, Replication, Row, Status, Verdict,
};
use super::statistic::is_share;
use super::table::Table;
use super::why::{GapKind, Why};
use charz_data::CellSpec;
use charz_data::report::Report;

/// Of loads in random order, as a fraction: those that take less are foreseen. What small pages and lines in pairs save is less than that.
const FORESEEN: f64 = 0.5;

/// These figures of a document beside a report; `against` is one of another machine, for figures that compare two.
pub fn evaluate<'a>(
    document: &'a Document,
    figures: &[&'a Figure],
    report: &'a Report,
    against: Option<&'a Report>,
    kernels: Kernels,
) -> Replication<'a> {
    let (table, target) = (Table::new(report, against), Target::new(&report.machine, kernels));
    let origin = Origin {
        id: &report.id,
        started: &report.started,
        host: report.host.name.as_deref(),
        processor: report.host.processor.as_deref(),
        strands: target.strands,
        complete: report.complete,
        report,
    };
    let replication = replicate(document, figures, &target, Some(&table));
    Replication { report: Some(origin), clock: table.clock, ..replication }
}

/// What a sweep on a machine can replicate of these figures, before anything is measured.
pub fn feasibility<'a>(document: &'a Document, figures: &[&'a Figure], target: &Target) -> Replication<'a> {
    replicate(document, figures, target, None)
}

fn replicate<'a>(
    document: &'a Document,
    figures: &[&'a Figure],
    target: &Target,
    table: Option<&Table<'a>>,
) -> Replication<'a> {
    let mut replicated: Vec<ReplicatedFigure<'a>> =
        figures.iter().map(|figure| replicated(document, figure, target, table)).collect();
    // A plot of a table has the table's status.
    for (at, table) in figures.iter().enumerate().filter_map(|(at, figure)| Some((at, figure.same_as.as_deref()?))) {
        let other = replicated.iter().find(|other| other.number == table).map(|other| other.status);
        replicated[at].status = other.unwrap_or(Status::Partly);
        replicated[at].reasons = whole([Why::Plots { table, is_here: other.is_some() }]);
    }
    Replication {
        schema: Replication::schema(),
        document: &document.citation,
        protocol: &document.protocol.about,
        machines: &document.machines,
        inconsistencies: &document.inconsistencies,
        report: None,
        clock: None,
        figures: replicated,
    }
}

fn replicated<'a>(
    document: &'a Document,
    figure: &'a Figure,
    target: &Target,
    table: Option<&Table<'a>>,
) -> ReplicatedFigure<'a> {
    let basis = figure.basis(target);
    let asked = table.map(|table| table.by(basis));
    let context = Context {
        table: asked.as_ref(),
        machines: &document.machines,
        impossible: figure.impossible.as_deref(),
        target,
    };
    let rows: Vec<Row<'a>> = figure.series.iter().flat_map(|series| context.rows(series)).collect();
    let checked = table.map(|table| figure.claims.iter().map(|claim| claim.check(table, target)).collect());
    let claims: Vec<CheckedClaim<'a>> = checked.unwrap_or_default();
    // What keeps each claim undecided or, before a sweep, from being tested.
    let untested: Vec<Why<'a>> = match table {
        Some(_) => claims.iter().filter_map(|claim| claim.why.clone()).collect(),
        None => figure.claims.iter().filter_map(|claim| claim.counts(target).err()).collect(),
    };
    let (status, reasons) = status(figure, &rows, &claims, untested);
    ReplicatedFigure {
        number: &figure.number,
        title: &figure.title,
        shows: &figure.shows,
        survives: &figure.survives,
        status,
        reasons,
        basis,
        notes: &figure.notes,
        rows,
        models: Vec::new(),
        claims,
    }
}

/// How far a figure is replicated, and why no further.
fn status<'a>(
    figure: &'a Figure,
    rows: &[Row<'a>],
    claims: &[CheckedClaim<'a>],
    untested: Vec<Why<'a>>,
) -> (Status, Vec<Reason<'a>>) {
    if let Some(drawing) = &figure.drawing {
        return (Status::Drawing, whole([Why::Stated(drawing)]));
    }
    if let Some(reason) = &figure.impossible {
        return (Status::Impossible, whole([Why::Stated(reason)]));
    }
    let answered = || rows.iter().filter(|row| row.kernel.is_some());
    let gaps: Vec<Why<'a>> = answered().filter_map(|row| row.gap.clone()).collect();
    let is_open = gaps.iter().chain(&untested).any(|why| why.kind() == GapKind::Open);
    let is_undecided = claims.iter().any(|claim| claim.verdict == Verdict::Undecided);
    let any = gaps.len() < answered().count() || untested.len() < figure.claims.len() || figure.elsewhere.is_some();
    let mut reasons = whole(figure.missing.iter().chain(&figure.elsewhere).map(|words| Why::Stated(words)));
    reasons.extend(distinct(gaps, Of::Rows));
    for reason in distinct(untested, Of::Conclusions) {
        if !reasons.iter().any(|known| known.why == reason.why) {
            reasons.push(reason);
        }
    }
    let status = match (any, reasons.is_empty()) {
        (false, _) if is_undecided => Status::Undecided,
        (false, _) if is_open => Status::NotMeasured,
        (false, _) => Status::Impossible,
        (true, true) => Status::Done,
        (true, false) => Status::Partly,
    };
    (status, reasons)
}

/// Reasons of a figure as a whole.
fn whole<'a>(all: impl IntoIterator<Item = Why<'a>>) -> Vec<Reason<'a>> {
    all.into_iter().map(|why| Reason { why, count: 1, of: Of::Figure }).collect()
}

/// Each reason with the number of rows, or of other things, that have it.
fn distinct(all: Vec<Why<'_>>, of: Of) -> Vec<Reason<'_>> {
    let mut reasons: Vec<Reason<'_>> = Vec::new();
    for why in all {
        match reasons.iter_mut().find(|other| other.why == why) {
            Some(other) => other.count += 1,
            None => reasons.push(Reason { why, count: 1, of }),
        }
    }
    reasons
}

struct Context<'a, 'b> {
    machines: &'a [Reference],
    impossible: Option<&'a str>,
    target: &'b Target,
    table: Option<&'b Table<'a>>,
}

impl<'a> Context<'a, '_> {
    fn rows(&self, series: &'a Series) -> impl Iterator<Item = Row<'a>> {
        let values = series.values.values().map(Vec::len).max().unwrap_or(0);
        let rows = series.labels.len().max(values).max(1);
        (0..rows).map(|at| self.row(series, at))
    }

    fn row(&self, series: &'a Series, at: usize) -> Row<'a> {
        let spec = series.cell().filter(|_| self.impossible.is_none());
        let workers = self.workers(series, spec, at);
        let number = workers.clone().and_then(|workers| {
            let Some(table) = self.table else {
                return if series.statistic.is_of_two() { Err(Why::OneReport) } else { Ok(None) };
            };
            let (Some(spec), statistic) = (spec, &series.statistic) else { return Err(Why::Unanswered) };
            let number = match &series.over {
                None => table.number(spec, statistic, workers, &series.unit),
                Some(over) => {
                    let own = over.workers(workers, self.target)?;
                    table.over([(spec, statistic, workers), (&over.cell, &over.statistic, own)])
                }
            };
            let unforeseen = || {
                let kernel = series.unforeseen.clone().filter(|kernel| *kernel != spec.kernel)?;
                let spec = CellSpec { kernel, stride: None, ..spec.clone() };
                table.number(&spec, statistic, workers, &series.unit).ok()
            };
            number.map(|number| match unforeseen() {
                Some(other) => Some(number.beside_unforeseen(&other)),
                None => Some(number),
            })
        });
        let (here, gap) = number.map_or_else(|why| (None, Some(why)), |here| (here, None));
        // In the order of the document's machines, since ratios are to the first that has a value.
        let published = |machine: &'a Reference| {
            let [low, high] = series.values.get(&machine.key)?.get(at)?.range()?;
            Some(PublishedRange { machine: &machine.key, low, high, predicted: None })
        };
        let published: Vec<PublishedRange<'a>> = self.machines.iter().filter_map(published).collect();
        let against = published.first().filter(|_| series.ratio && !is_share(&series.unit));
        Row {
            group: &series.group,
            label: series.labels.get(at).map_or("", String::as_str),
            kernel: spec.map(|spec| &*spec.kernel),
            mapping: spec.map(|spec| &*spec.mapping),
            workers: workers.ok(),
            unit: &series.unit,
            ratio: here.as_ref().zip(against).and_then(|(here, published)| published.ratio(here.value)),
            published,
            here,
            gap,
        }
    }

    /// The workers of a row on this machine.
    fn workers(&self, series: &'a Series, spec: Option<&'a CellSpec>, at: usize) -> Result<u64, Why<'a>> {
        let spec = spec.ok_or_else(|| self.impossible.map_or(Why::Unanswered, Why::Stated))?;
        let counts = series.counts();
        let count = counts.get(at).or(counts.first().filter(|_| counts.len() == 1));
        let workers = count.ok_or(Why::NoThreads)?.number(self.target)?;
        if let Some(over) = &series.over {
            self.target.measures(&over.cell, &over.statistic, over.workers(workers, self.target)?)?;
        }
        self.target.measures(spec, &series.statistic, workers)?;
        Ok(workers)
    }
}

impl Number<'_> {
    /// The same, noted where a prefetcher foresees what another one has in random order.
    fn beside_unforeseen(self, other: &Number<'_>) -> Self {
        let ends = self.interval.zip(other.interval);
        let is_foreseen = ends.is_some_and(|(own, other)| own[1] < FORESEEN * other[0]);
        Number { note: is_foreseen.then_some(Note::Foreseen(other.value)).or(self.note), ..self }
    }
}

impl PublishedRange<'_> {
    fn ratio(&self, value: f64) -> Option<f64> {
        let nearest = value.clamp(self.low, self.high);
        Some(value / nearest).filter(|ratio| ratio.is_finite())
    }
}
