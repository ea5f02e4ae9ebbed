//! Which mapping suits a kernel best, what leaving it to the system costs, and where it saturates: in words.

use charz_claims::verdict::{Auto, Verdict};
use charz_data::escape::counted;
use charz_data::units;
use charz_estimate::{Relation, SATURATED, Strength};
use charz_words::advise::{Subject, lost};
use charz_words::estimate::shown;
use charz_words::verdict::mapping;

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
}
