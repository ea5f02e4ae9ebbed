//! That cells get the statuses, marks and numbers that they got when `tests/golden/verdicts/cells.tsv` was written.

use super::laws::spoil;
use super::*;

/// What can happen to repetitions: the kinds of [`spoil`].
const KINDS: u8 = 9;

fn row(what: &str, mut trial: Trial) -> String {
    trial.judge();
    let marks: Vec<String> = trial.marks().iter().map(|(code, severity)| format!("{code} {severity:?}")).collect();
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.9e}"));
    let summary = trial.cell.summary;
    let interval = summary.and_then(|summary| summary.interval);
    let counts = summary.map(|summary| (summary.invocations, summary.clean_runs, summary.dirty_runs));
    let numbers = [
        summary.and_then(|summary| summary.value),
        summary.and_then(|summary| summary.raw),
        interval.map(|interval| interval.low),
        interval.map(|interval| interval.high),
        summary.and_then(|summary| summary.spread),
        summary.map(|summary| summary.best),
        summary.map(|summary| summary.worst),
    ];
    format!(
        "{what}\t{:?}\t{}\t{counts:?}\t{}\n",
        trial.cell.outcome.status,
        marks.join(", "),
        numbers.map(number).join("\t")
    )
}

fn spoilt(kernel: &'static str, strands: usize, happened: &[(u8, usize)]) -> Trial {
    let mut trial = clean();
    (trial.facts.card, trial.facts.strands) = (card(kernel), strands);
    happened.iter().for_each(|&(kind, count)| trial.some_runs(count, |run| spoil(run, kind)));
    trial
}

#[test]
fn the_same_verdicts_on_cells() {
    let mut text = String::from(
        "what happened\tstatus\tmarks\tinvocations, clean, dirty\tvalue\traw\tlow\thigh\tspread\tbest\tworst\n",
    );
    for (kernel, strands) in [("mem-read", 2), ("arith-int", 2), ("flag", 1)] {
        text += &row(&format!("{kernel} on {strands}: nothing"), spoilt(kernel, strands, &[]));
        for kind in 0..KINDS {
            for count in [1, 6, 26, 50] {
                let what = format!("{kernel} on {strands}: {kind} in {count}");
                text += &row(&what, spoilt(kernel, strands, &[(kind, count)]));
            }
            let other = (kind + 4) % KINDS;
            let what = format!("{kernel} on {strands}: {kind} in 8, {other} in 3");
            text += &row(&what, spoilt(kernel, strands, &[(kind, 8), (other, 3)]));
        }
    }
    let endings = [
        ("died", Ending::Died),
        ("refused", Ending::Refused),
        ("stopped", Ending::Stopped),
        ("wrong", Ending::Wrong),
        ("too long", Ending::Overdue),
        ("not made", Ending::Withheld),
        ("unavailable", Ending::Unavailable),
    ];
    for (name, ending) in endings {
        for count in [1, 4, 10] {
            let mut trial = clean();
            (0..count).for_each(|at| trial.failing(at, ending));
            text += &row(&format!("{name} {count} times"), trial);
        }
    }
    for count in [1, 3, 6, 9] {
        let mut trial = clean();
        trial.cell.invocations.truncate(count);
        text += &row(&format!("only {count} invocations"), trial);
    }
    crate::golden::check("verdicts/cells.tsv", &text, |_| false);
}
