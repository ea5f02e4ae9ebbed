//! Words a cycle, as TACC's paper on multi-core systems has them: a worker's words over its time in cycles of its core's clock.

use super::latency::clock;
use super::on_cell;
use charz_data::card::Words;
use charz_data::report::{Cell, Finding, FindingKind, Report, Unit};
use charz_data::{Role, units};
use charz_estimate::Estimate;
use charz_words::point;

const WORD: u64 = 8;

pub(super) fn efficiency(report: &Report) -> Vec<Finding> {
    let each = report.cells.iter().filter(|cell| cell.unit == Unit::OpsPerSecond);
    each.filter_map(|cell| match report.role(&cell.kernel) {
        Role::CacheWords(whose) => of_cell(report, cell, *whose),
        _ => None,
    })
    .collect()
}

fn of_cell(report: &Report, cell: &Cell, whose: Words) -> Option<Finding> {
    let number = Estimate::of(cell)?;
    let hz = clock(cell)?;
    let samples = Some(cell.samples()).filter(|samples| samples.count > 0);
    let phases = samples.map(|samples| [samples.first.median(), samples.second.median()]);
    let words = cell.params(&report.plan.params).size_bytes / WORD;
    let doubt = units::doubt(number.is_doubtful());
    let (sentence, value) = a_cycle(whose, number.value / cell.workers as f64, hz, words, phases, doubt)?;
    let each = if cell.workers > 1 { " per thread" } else { "" };
    let shown = units::count_of(hz / 1e9);
    let text = format!("{}: {sentence}{each} (the canary's clock of {shown} GHz)", point::name(cell));
    Some(on_cell(cell, FindingKind::Efficiency, Some(value), text))
}

/// The words per cycle of a worker, in words and as the number that counts. It did so many a second at this clock; where it went by
/// rounds of so many words, the phases of one took so many nanoseconds. `doubt` follows each number.
fn a_cycle(
    whose: Words,
    per_second: f64,
    hz: f64,
    words: u64,
    phases: Option<[f64; 2]>,
    doubt: &str,
) -> Option<(String, f64)> {
    let whose = match whose {
        Words::Steady => {
            let value = per_second / hz;
            return Some((format!("{value:.2}{doubt} words per cycle"), value));
        }
        Words::OwnWritten => "its own",
        Words::OtherWritten => "the other's",
        _ => return None,
    };
    let [written, read] = phases?.map(|nanos| words as f64 / (nanos * hz / 1e9));
    Some((format!("{written:.2}{doubt} words per cycle written, then {read:.2}{doubt} of {whose} read"), read))
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::fixtures::{cell, report};

    #[track_caller]
    fn check(whose: Words, phases: Option<[f64; 2]>, expected: Option<(&str, f64)>) {
        // Two words a nanosecond, at four cycles one.
        let found = a_cycle(whose, 2e9, 4e9, 64_000, phases, "");
        let found = found.as_ref().map(|(sentence, value)| (sentence.as_str(), *value));
        assert_eq!(found, expected, "{whose:?}");
    }

    #[test]
    fn a_suspect_cell_is_told_with_its_mark() {
        let read = || cell("cache-read", 2, Unit::OpsPerSecond, 4e9).clocked(4e9);
        let text = |cell: Cell| efficiency(&report(vec![cell])).remove(0).text;
        let sentence = text(read().sized(512_000));
        assert!(sentence.starts_with("cache-read rr x2 500 KiB: 0.50 words per cycle per thread"), "{sentence}");
        assert!(text(read().suspect()).contains(": 0.50~ words per cycle per thread"), "{}", text(read().suspect()));
        assert_eq!(efficiency(&report(vec![read().invalid()])), []);
        let mut boosted = read();
        boosted.invocations[3].evidence.as_mut().unwrap().frequency.as_mut().unwrap().highest_hz *= 1.5;
        assert!(text(boosted).contains(": 0.50 words per cycle"), "one run at another clock");
        let other = Cell { kernel: "mem-read".into(), ..read() };
        assert_eq!(efficiency(&report(vec![other])), []);
    }

    #[test]
    fn words_are_told_by_the_cycle() {
        check(Words::Steady, None, Some(("0.50 words per cycle", 0.5)));
        let phases = Some([32_000.0, 160_000.0]);
        check(Words::OwnWritten, phases, Some(("0.50 words per cycle written, then 0.10 of its own read", 0.1)));
        check(Words::OtherWritten, phases, Some(("0.50 words per cycle written, then 0.10 of the other's read", 0.1)));
        check(Words::OtherWritten, None, None);
    }
}
