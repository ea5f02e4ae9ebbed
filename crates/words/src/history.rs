//! Histories in English.

use super::compare::{allowed, said, signed};
use charz_claims::history::{
    ALPHA, Apart, Baseline, Change, Entry, EnvChange, NoBase, Segment, Series, Timeline, Track, Why,
};
use charz_data::escape::counted;
use charz_data::params::PARAMS;
use charz_data::report::Unit;
use charz_data::{Arrange, units};
use charz_stats::{LEAST_FOR_CHANGE, MOST_FOR_CHANGE};

/// The number and the day of a report: `12 (2026-01-31)`.
pub fn name(entry: &Entry) -> String {
    let day: String = entry.report.started.chars().take("2026-01-31".len()).collect();
    format!("{} ({day})", entry.id)
}

/// Facts that changed, as one clause; empty if there are none.
pub fn changed(changes: &[EnvChange<'_>]) -> String {
    let change = |(what, [before, after]): &EnvChange<'_>| format!("{what} {} -> {}", said(before), said(after));
    changes.iter().map(change).collect::<Vec<_>>().join("; ")
}

/// The parameters of a series, and where its CPUs were: ` 256 MiB thp`, or nothing.
pub fn parameters(series: &Series<'_>) -> String {
    let key = &series.key;
    let mut words: Vec<String> = key.named.iter().map(|&place| PARAMS[place].label(&key.params)).collect();
    words.extend(key.best_of.map(|count| format!("best of {count}")));
    words.extend(key.last_size.map(|size| format!("to size {size}")));
    words.extend(key.program.as_ref().map(|(program, hidden)| {
        let whose = hidden.map(|report| format!(" of {report}")).unwrap_or_default();
        format!("{:?}", format!("{}{whose}", program.command))
    }));
    words.extend(series.apart.map(|apart| match apart {
        Apart::Nanos(ns) => format!("{} apart", units::nanos(ns)),
        Apart::Unknown => "distance unknown".to_owned(),
    }));
    words.iter().map(|word| format!(" {word}")).collect()
}

/// Kernel, mapping, number of workers and parameters in one line.
pub fn series(series: &Series<'_>) -> String {
    format!("{} {} x{}{}", series.key.kernel, series.key.mapping, series.key.workers, parameters(series))
}

/// The most changes on the first screen.
const MOST_TOLD: usize = 6;

/// All changes, the newest first, and of one place the largest.
pub fn sorted<'t, 'a>(tracks: &[&'t Track<'a>]) -> Vec<(&'t Track<'a>, &'t Change)> {
    let mut changes: Vec<(&Track<'_>, &Change)> =
        tracks.iter().flat_map(|track| track.changes.iter().map(move |change| (*track, change))).collect();
    let size = |change: &Change| change.effect.map_or(0.0, |effect| effect.ln().abs());
    changes.arrange_by(|(_, a), (_, b)| b.after.first.cmp(&a.after.first).then(size(b).total_cmp(&size(a))));
    changes
}

/// How many series changed, then what changed, when and by how much, the newest change first.
pub fn summary(timeline: &Timeline<'_>, tracks: &[&Track<'_>]) -> Vec<String> {
    let Some(first) = timeline.entries.first() else {
        return vec!["No report is in this history yet".to_owned()];
    };
    let (all, count) = (sorted(tracks), tracks.len());
    let Some((_, newest)) = all.first() else {
        return vec![match tracks.iter().filter(|track| track.is_long()).count() {
            0 => format!("No verdict: {count} of {count} series have fewer than {LEAST_FOR_CHANGE} values"),
            enough => format!("No change in {enough} series since report {}", name(first)),
        }];
    };
    let changed = tracks.iter().filter(|track| !track.changes.is_empty()).count();
    let last = name(&timeline.entries[newest.after.first]);
    let told =
        all.iter().map(|(track, change)| format!("{}: {}", series(&track.series), sentence(timeline, track, change)));
    let more = all.len().saturating_sub(MOST_TOLD);
    let more = (more > 0).then(|| format!("{} more, in the table of changes", counted(more, "change")));
    let headline = format!("{changed} of {count} series changed, the last in report {last}");
    [headline].into_iter().chain(told.take(MOST_TOLD)).chain(more).collect()
}

/// A change: by how much, between which reports, and what else changed there.
pub fn sentence(timeline: &Timeline<'_>, track: &Track<'_>, change: &Change) -> String {
    let [before, after] = [change.before.last, change.after.first].map(|at| name(&timeline.entries[at]));
    let [from, to] = [&change.before, &change.after].map(|segment| level(segment, track.series.key.unit));
    let interval = change.interval.map(|(low, high)| format!(" ({} to {})", signed(low - 1.0), signed(high - 1.0)));
    let env = Some(changed(&timeline.env(change))).filter(|env| !env.is_empty());
    format!(
        "{}{} between reports {before} and {after}: from {from} to {to}; {}",
        effect(change),
        interval.unwrap_or_default(),
        env.as_deref().unwrap_or("nothing else in the reports changed")
    )
}

/// By how much the performance changed.
pub fn effect(change: &Change) -> String {
    change.effect.map_or_else(|| "-".to_owned(), |effect| signed(effect - 1.0))
}

/// A segment's median with half the width of its interval.
pub fn level(segment: &Segment, unit: Unit) -> String {
    let width =
        segment.interval.map(|(low, high)| (high - low) / 2.0 / segment.median).filter(|width| width.is_finite());
    let width = width.map(|width| format!(" ±{}", units::percent(width))).unwrap_or_default();
    format!("{}{width}{}", units::value(segment.median, unit), units::doubt(segment.suspect > 0))
}

/// What the changes mean, one sentence each.
pub fn remarks(timeline: &Timeline<'_>, tracks: &[&Track<'_>]) -> Vec<String> {
    let (_, enough) = timeline.short();
    let short = tracks.iter().filter(|track| !track.is_long()).count();
    let changes = format!(
        "Changes: E-divisive over {enough} series, at most {} of the calls false; a change is one of performance with an interval of \
         99%, levels are medians with 95%",
        units::percent(ALPHA)
    );
    let short = (short > 0).then(|| {
        format!(
            "{short} of {} series have fewer than {LEAST_FOR_CHANGE} values, too few to show a change; add more reports",
            tracks.len()
        )
    });
    let is_cut = tracks.iter().any(|track| track.series.numbers().count() > MOST_FOR_CHANGE);
    let is_noisy = tracks.iter().any(|track| track.series.values.iter().any(|value| value.cell.is_suspect()));
    let cut = is_cut.then(|| format!("Of longer series only the last {MOST_FOR_CHANGE} values are examined"));
    let noisy = "~ marks noisy values and levels that include one; charz history show gives the reason".to_owned();
    [Some(changes), short, cut, is_noisy.then_some(noisy)].into_iter().flatten().collect()
}

/// Which report is the base of a comparison and why, for its reader.
pub fn baseline(baseline: &Baseline<'_>) -> Vec<String> {
    let id = baseline.id;
    let Why::MostCells { named: (started, label), cells: [has, all], is_before_change, last } = &baseline.why else {
        return vec![format!("the base is report {id} of the history, as requested")];
    };
    let label = label.map(|label| format!(", {label:?}")).unwrap_or_default();
    let which = if *is_before_change { "last change" } else { "new report" };
    let base = format!(
        "the base is report {id} of the history ({started}{label}): it has {has} of {}, the most of those before the {which} that may \
         be compared",
        counted(*all, "cell")
    );
    let last = last.map(|last| {
        let ([before, first], side) = (last.between, if last.is_after_base { "after" } else { "before" });
        format!(
            "the last change in the history, in {} of these cells, is {side} the base, between reports {before} and {first}; see \
             charz history plot",
            last.series
        )
    });
    [base].into_iter().chain(last).collect()
}

/// Why no report of a history can be the base of a new one, which began then.
pub fn no_base(why: &NoBase<'_>, started: &str) -> String {
    let why = match why {
        NoBase::NoChange { long, short } => {
            return format!(
                "the history shows no change in the cells of the new report ({long} series have enough values to show one, {short} \
                 have fewer than {LEAST_FOR_CHANGE}); use --baseline newest"
            );
        }
        NoBase::NoneOlder { reports } => format!("none of its {} is older than {started}", counted(*reports, "report")),
        NoBase::Refused { id, unlike } => format!("report {id}: {}", allowed(unlike)),
        NoBase::NoCell => "none of its earlier reports has a cell of the new one".to_owned(),
    };
    format!("no report of the history can be the base: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_claims::history::fixtures::{around, cell, of_cells};

    /// How many values a long and a short series have, and what is said first.
    #[test]
    fn too_few_reports_are_no_verdict() {
        for (values, expected) in [
            ([2, 0], "No verdict: 1 of 1 series have fewer than"),
            ([20, 0], "No change in 1 series since report 1 (2026-01-01)"),
            ([20, 2], "No change in 1 series since"),
        ] {
            let day = |(at, value): (usize, f64)| {
                let kernels = ["long", "short"].into_iter().zip(values).filter(|(_, values)| at < *values);
                kernels.map(|(kernel, _)| cell(kernel, Unit::OpsPerSecond, value).suspect()).collect()
            };
            let entries = of_cells(around(1e9, values[0]).into_iter().enumerate().map(day));
            let timeline = Timeline::new(&entries);
            let tracks: Vec<&Track<'_>> = timeline.tracks.iter().collect();
            let told = summary(&timeline, &tracks);
            assert!(told[0].starts_with(expected), "{told:?}");
            let remarks = remarks(&timeline, &tracks).join("\n");
            assert_eq!(remarks.contains("1 of 2 series have fewer"), values == [20, 2], "{remarks}");
        }
        assert_eq!(summary(&Timeline::new(&[]), &[]), ["No report is in this history yet"]);
    }
}
