//! The words and numbers that all ways to show a replication have in common.

use crate::render::human;
use crate::render::text::{counted, one_line, plain};
use crate::replicate::{Checked, Number, Replicated, Replication, Said, Standing, Totals, Verdict};

/// How far a figure is replicated.
pub(super) fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Done => "done",
        Standing::Partly => "partly",
        Standing::NotMeasured => "not measured",
        Standing::NotPossible => "not possible",
        Standing::Drawing => "a drawing",
    }
}

/// Whether a conclusion holds, with a question mark where something speaks against the numbers.
pub(super) fn verdict(claim: &Checked) -> String {
    let word = match claim.verdict {
        Verdict::Holds => "holds here",
        Verdict::Fails => "does not hold here",
        Verdict::Unseen => "cannot be seen here",
    };
    format!("{word}{}", human::doubt(claim.suspect))
}

/// The machine, the report and the clock, a sentence each.
pub(super) fn origin(replication: &Replication) -> Vec<String> {
    let Some(origin) = &replication.report else { return Vec::new() };
    let named = |name: &Option<String>, none: &str| one_line(name.as_deref().unwrap_or(none).trim());
    let mut lines = vec![format!(
        "{}: {}, {}; started {}",
        named(&origin.host, "this host"),
        named(&origin.processor, "an unnamed processor"),
        counted(usize::try_from(origin.strands).unwrap_or(usize::MAX), "usable strand"),
        plain(&origin.started),
    )];
    lines.extend(replication.clock.map(|clock| {
        let whose =
            if clock.claimed { "the clock that the system claims" } else { "the clock that multiplications took" };
        format!("cycles are nanoseconds times {:.2} GHz, {whose}", clock.hz / 1e9)
    }));
    lines.push(
        "ratios are of a number here to the first of the document in its row, to the nearer end where that is a range"
            .to_owned(),
    );
    if !origin.complete {
        lines.push("the sweep did not give every cell its due: charz sweep --resume finishes it".to_owned());
    }
    lines
}

/// The last line: figures by standing, and conclusions by verdict.
pub(super) fn totals(replication: &Replication) -> String {
    let Totals { done, partly, not_measured, not_possible, drawings } = replication.totals;
    let some = |number: u64, word: &str| if number > 0 { format!(", {number} {word}") } else { String::new() };
    let (missing, drawings) = (some(not_measured, "not measured"), some(drawings, "without values"));
    let figures = format!("{done} done, {partly} partly{missing}, {not_possible} not possible{drawings}");
    let verdicts = [Verdict::Holds, Verdict::Fails, Verdict::Unseen].map(|wanted| replication.verdicts(wanted));
    if replication.report.is_none() || verdicts == [0; 3] {
        return figures;
    }
    let [hold, fail, unseen] = verdicts;
    format!("{figures}; of its conclusions {hold} hold here, {fail} do not, {unseen} cannot be seen here")
}

/// Why a figure is not replicated, or not wholly, as one clause; empty where there is nothing to say.
pub(super) fn reasons(figure: &Replicated) -> String {
    figure.reasons.iter().map(|reason| one_line(reason)).collect::<Vec<_>>().join("; ")
}

/// A value of the document, in its own digits.
pub(super) fn said(said: &Said) -> String {
    let digits = |value: f64| match value.abs() {
        large if large >= 1e6 && value.fract() == 0.0 => human::count(value as u64),
        _ => value.to_string(),
    };
    if said.low == said.high { digits(said.low) } else { format!("{} to {}", digits(said.low), digits(said.high)) }
}

/// A number of this machine, with its question mark where something speaks against it.
pub(super) fn number(number: &Number) -> String {
    format!("{}{}", digits(number.value), human::doubt(number.suspect))
}

/// Its interval; a dash where there is none.
pub(super) fn interval(number: &Number) -> String {
    match number.low.zip(number.high) {
        Some((low, high)) => format!("{} to {}", digits(low), digits(high)),
        None => "-".to_owned(),
    }
}

/// Three significant digits, and no exponent.
pub(super) fn digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        v if v < 0.001 => format!("{value:.5}"),
        v if v < 1.0 => format!("{value:.3}"),
        v if v < 10.0 => format!("{value:.2}"),
        v if v < 100.0 => format!("{value:.1}"),
        v if v < 1e15 && value > 0.0 => human::count(value.round() as u64),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in
            [(0.0, "0"), (0.0191, "0.019"), (0.5, "0.500"), (6.789, "6.79"), (43.21, "43.2"), (1234.5, "1,235")]
        {
            assert_eq!(digits(value), text);
        }
    }

    #[test]
    fn values_are_as_the_document_has_them() {
        for (low, high, text) in [
            (0.65, 0.65, "0.65"),
            (14.0, 16.0, "14 to 16"),
            (437_244.33, 437_244.33, "437244.33"),
            (59_982_202_100.0, 59_982_202_100.0, "59,982,202,100"),
        ] {
            assert_eq!(said(&Said { machine: String::new(), low, high }), text);
        }
    }
}
