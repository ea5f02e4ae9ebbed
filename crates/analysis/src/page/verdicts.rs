//! Which mapping suits a kernel best, what leaving it to the system costs, and where it saturates: in words.

use super::cells::CellsByKernel;
use crate::figure::{Datum, Table};
use charz_claims::verdict::{Auto, Verdict};
use charz_data::escape::counted;
use charz_data::report::Report;
use charz_data::units;
use charz_estimate::{Relation, SATURATED, Saturation, Strength};
use charz_words::advise::{Subject, lost};
use charz_words::estimate::shown;
use charz_words::point;
use charz_words::verdict::mapping;

/// The best mapping for each kernel at each point, the worker count at which it saturates, and what `auto` reaches with as many
/// workers: only verdicts that compare mappings, or are the only one of a kernel. A `~` marks what noisy numbers may change.
pub(super) fn table(sorted: &CellsByKernel<'_>) -> Table {
    let rows = sorted.verdicts.iter().enumerate().flat_map(|(source, all)| {
        let report = sorted.sources[source].report;
        all.iter().filter(move |verdict| verdict.decides(report)).map(move |verdict| row(sorted, source, verdict))
    });
    Table::new(&["kernel", "best mapping", "threads", "value", "95% of peak at", "auto, same threads"], rows)
}

fn row(sorted: &CellsByKernel<'_>, source: usize, verdict: &Verdict<'_>) -> Vec<Datum> {
    let best = verdict.best.cell;
    let label = point::label(&verdict.point);
    let report = if sorted.are_several() { format!(" ({})", sorted.sources[source].name) } else { String::new() };
    let auto = match &verdict.auto {
        Auto::Unmeasured | Auto::Best(None) => "–".to_owned(),
        Auto::Best(Some(loss)) if loss.is_shown() => "best".to_owned(),
        Auto::Best(Some(loss)) if !loss.is_forbidden() => format!("{} beside the next", against(loss)),
        Auto::Best(Some(loss)) | Auto::Other(loss) => against(loss),
    };
    vec![
        Datum::word(format!("{}{label}{report}", verdict.kernel)),
        if verdict.beside > 1 { Datum::word(mapping(verdict)) } else { Datum::none() },
        Datum::count(best.workers),
        Datum::word(shown(&verdict.best)),
        verdict.saturates.map_or(Datum::none(), |found| Datum::word(saturation(&found, sorted.sources[source].report))),
        Datum::word(auto),
    ]
}

fn saturation(found: &Saturation<'_>, report: &Report) -> String {
    // More threads than CPUs would not show whether it rises.
    let has_more = found.most < report.machine.worth() as u64;
    let workers = match found.workers {
        Some(workers) => workers.to_string(),
        None => format!("{}{}", found.most, if has_more { ", still rising" } else { "" }),
    };
    format!("{workers}{}", units::doubt(found.doubtful))
}

/// How much less auto gives, or longer takes.
fn against(loss: &Relation<'_>) -> String {
    match loss.strength() {
        Strength::Same if loss.is_clock() => "no difference at one clock".to_owned(),
        Strength::Same => "no difference".to_owned(),
        Strength::TooFew(_) => lost(loss, Subject::One) + " (too few runs)",
        Strength::TooNoisy(_) => lost(loss, Subject::One) + " (too noisy)",
        Strength::Open(_) if loss.open == Some(true) => lost(loss, Subject::One) + ", not significant",
        _ => lost(loss, Subject::One),
    }
}

/// What is to be seen in the figure of a kernel over workers, a sentence each.
pub(super) fn sentences(verdict: &Verdict<'_>) -> Vec<String> {
    let best = verdict.best.cell;
    let mut words = Vec::new();
    let what = match best.unit {
        unit if unit.more_is_better() => "peak",
        // Copies of a program take longer the more they are, and do more work.
        _ if verdict.best.is_divided() => "most work",
        unit if unit.is_time() => "fastest",
        _ => "lowest",
    };
    let [threads, most] = [best, verdict.peak.cell].map(|cell| counted(cell.workers as usize, "thread"));
    let reaches = match std::ptr::eq(best, verdict.peak.cell) {
        true => format!(", the {what}"),
        false => format!(", within 5% of the {what}, {} at {most}", shown(&verdict.peak)),
    };
    words.push(format!("{} at {threads} ({}){reaches}", shown(&verdict.best), mapping(verdict)));
    if let Auto::Other(loss) = &verdict.auto {
        let verb = if loss.strength() == Strength::Same { "makes " } else { "" };
        words.push(format!("With as many threads auto {verb}{}", against(loss)));
    }
    words.extend(verdict.saturation.iter().filter_map(|found| {
        let from = counted(found.workers? as usize, "thread");
        let doubt = units::doubt(found.doubtful);
        let share = SATURATED * 100.0;
        Some(format!("{} reaches {share:.0}% of its peak at {from}{doubt}", found.mapping))
    }));
    words
}

#[cfg(test)]
mod tests {
    use crate::page::{Source, page};
    use charz_data::report::{Unit, fixtures};
    use charz_data::{Better, Program, ProgramValue, ReportedUnit, Role};

    #[test]
    fn the_best_of_a_program_is_named_by_what_its_number_counts() {
        let of = |command: &str, symbol| {
            let unit = ReportedUnit::new(symbol, Better::Lower).unwrap();
            let cells = [(1, 100.0), (2, 90.0), (4, 80.0)];
            let cells = cells.map(|(threads, value)| fixtures::cell("command", threads, Unit::Reported(unit), value));
            let mut report = fixtures::report(cells.to_vec()).on(4);
            report.cards.iter_mut().for_each(|card| card.role = Role::Program);
            report.plan.program = Some(Program::new(command, ProgramValue::Last, unit));
            let page = page(&[Source { name: "r", report: &report }]);
            let figure = page.figures().find(|figure| figure.title.ends_with(" vs threads")).unwrap();
            (figure.title.clone(), figure.about[0].clone())
        };
        for (command, symbol, title, best) in [
            ("./a {threads}", "s", "command: time vs threads", "fastest"),
            ("./a", "s", "command: time vs threads", "most work"),
            ("./a {threads}", "J", "command: cost vs threads", "lowest"),
        ] {
            let (found, about) = of(command, symbol);
            assert!(found == title && about.contains(best), "{found}: {about}");
        }
    }

    #[test]
    fn a_loss_that_is_not_shown_is_not_significant() {
        let auto = |width: f64, is_noisy: bool| {
            let of =
                |by: &str, value| fixtures::cell("mem-read", 2, Unit::BytesPerSecond, value).under(by).within(width);
            let auto = if is_noisy { of("auto", 45e9).suspect() } else { of("auto", 45e9) };
            let report = fixtures::report(vec![of("rr", 47e9).in_order(), auto]).on(8);
            page(&[Source { name: "r", report: &report }]).verdicts.rows[0].data[5].text.clone()
        };
        let open = auto(0.04, false);
        assert!(open.ends_with(", not significant"), "{open}");
        // The sign of doubt says what is against a difference between intervals that do not meet.
        for shown in [auto(0.005, false), auto(0.005, true)] {
            assert!(!shown.contains("not significant"), "{shown}");
        }
    }

    #[test]
    fn what_the_host_moved_is_beside_nothing() {
        let of = |by: &str, value, ns| fixtures::cell("mem-read", 2, Unit::BytesPerSecond, value).under(by).apart(ns);
        let report = fixtures::report(vec![of("rr", 47e9, 130.0).in_order(), of("auto", 79e9, 25.0)]).on(8);
        let page = page(&[Source { name: "r", report: &report }]);
        let auto = &page.verdicts.rows[0].data[5].text;
        assert!(auto.ends_with("moved the CPUs"), "{auto}");
    }
}
