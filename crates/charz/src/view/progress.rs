//! How far a sweep is: a line that is drawn anew on a terminal, a plain one now and then elsewhere. On standard error.

use std::time::{Duration, Instant};

use super::look;
use crate::exit::Exit;
use crate::log;
use charz_data::escape::{counted, plain};
use charz_data::report::{Cell, Ending, Report, Status, anonymous_cell};
use charz_data::units;
use charz_measure::sweep::Listener;
use charz_render::look::LONGEST;
use charz_render::term::pen::short;
use charz_words::point;

/// How often a line is written: one that is drawn anew, and one that stays.
const REDRAW_EVERY: Duration = Duration::from_millis(50);
const LINE_EVERY: Duration = Duration::from_secs(10);
/// The first of those that stay comes sooner.
const FIRST_LINE: Duration = Duration::from_secs(2);

/// The most columns of the bar, and its share of a narrow terminal.
const BAR: usize = 30;
const SHARE: usize = 4;

pub struct Progress {
    is_terminal: bool,
    /// Whether what it prints does not say whose the report is.
    is_anonymous: bool,
    count: Count,
    last: Option<Instant>,
    /// How long after that another one is written.
    pause: Duration,
    /// How long the sweep may last.
    until: Duration,
}

/// Runs, of those that are due.
#[derive(Default)]
struct Count {
    done: usize,
    due: usize,
    /// Whether all that can have a number has one.
    is_filled: bool,
}

impl Count {
    fn rest(&self, left: Duration, longest: Duration) -> String {
        let [first, end] = [left, longest].map(units::duration);
        match () {
            () if left.is_zero() => format!("at most {end} left, refining intervals"),
            () if self.is_filled => format!("at most {end} left"),
            () if left < longest => format!("at most {end} left, a number for each configuration in {first}"),
            () => format!("{first} left"),
        }
    }

    fn line(&mut self, left: Duration, longest: Duration) -> String {
        self.done += 1;
        self.due = self.due.max(self.done);
        format!("{}, {}/{} ", self.rest(left, longest), self.done, self.due)
    }
}

impl Progress {
    pub fn on_stderr(is_anonymous: bool) -> Self {
        let is_terminal = look::redraws();
        Progress {
            is_terminal,
            is_anonymous,
            pause: if is_terminal { REDRAW_EVERY } else { FIRST_LINE },
            count: Count::default(),
            last: None,
            until: Duration::ZERO,
        }
    }

    /// Before the line that stays, the one that is drawn is taken away.
    fn say(&self, line: &str) {
        self.end_line();
        note(line);
    }

    fn end_line(&self) {
        if self.is_terminal {
            look::redraw("");
        }
    }

    fn draw(&self, left: Duration, line: &str, rest: &str) {
        let share = left.as_secs_f64() / self.until.as_secs_f64().max(f64::MIN_POSITIVE);
        look::redraw(&drawn(look::of_stderr().unwrap_or(LONGEST), share, line, rest));
    }
}

/// The line after a bar of the share that is left. Of one that is too long, the rest is shortened.
fn drawn(columns: usize, left: f64, line: &str, rest: &str) -> String {
    // The last column stays free: some terminals break the line there.
    let columns = columns - 1;
    // The bar gives way to what is in words.
    let bar = BAR.min(columns / SHARE).min(columns.saturating_sub(line.chars().count() + 1));
    let ahead = ((left * bar as f64) as usize).min(bar);
    let line = short(&format!("{}{} {line}", "#".repeat(bar - ahead), "-".repeat(ahead)), columns);
    let room = columns.saturating_sub(line.chars().count());
    line + &short(rest, room)
}

impl Listener for Progress {
    fn begin(&mut self, invocations: usize, predicted: Duration, likely: Duration, until: Duration) {
        self.count.due = invocations;
        self.until = until;
        let announced = announced(invocations, predicted, likely, until);
        match self.is_terminal {
            true => self.draw(until, "", &announced),
            false => {
                self.last = Some(Instant::now());
                note(&format!("measuring: {announced}"));
            }
        }
    }

    fn finish(&mut self, cell: &Cell, left: Duration, longest: Duration) {
        let line = self.count.line(left, longest);
        log::line("run", || format!("{line}{}", told(cell)));
        if self.last.is_none_or(|last| last.elapsed() >= self.pause) {
            self.last = Some(Instant::now());
            self.pause = if self.is_terminal { REDRAW_EVERY } else { LINE_EVERY };
            let rest = if self.is_anonymous { told(&anonymous_cell(cell)) } else { told(cell) };
            match self.is_terminal {
                true => self.draw(longest, &line, &rest),
                false => note(&(line + &rest)),
            }
        }
    }

    fn fill(&mut self, report: &Report, took: Duration, until: Duration) {
        self.count.is_filled = true;
        self.say(&filled(report, took, until, until < self.until));
    }

    fn wait(&mut self, gone: &str, most: Duration) {
        self.say(&waiting(gone, most));
    }

    fn end(&mut self) {
        self.end_line();
    }
}

fn title(cell: &Cell) -> String {
    plain(&point::name(cell))
}

fn told(cell: &Cell) -> String {
    match cell.capacity.map(|capacity| capacity.value) {
        Some(value) => {
            let doubt = units::doubt(cell.status == Status::Suspect);
            format!("{}: {}{doubt}", title(cell), units::value(value, cell.unit))
        }
        None => format!("{}: {}", title(cell), plain(cell.reason.as_deref().unwrap_or("nothing"))),
    }
}

/// The end first, as it will be and as it may be; then when there is a number for each configuration.
fn announced(invocations: usize, predicted: Duration, likely: Duration, until: Duration) -> String {
    let (runs, [first, likely, end]) = (counted(invocations, "run"), [predicted, likely, until].map(units::duration));
    match () {
        () if invocations == 0 => format!("up to {end}, to refine the intervals"),
        () if predicted > until => format!("up to {end}, too short for all {runs}, which take about {first}"),
        () if likely == end => format!("about {end}, {runs}"),
        () => format!("about {likely}, at most {end} on a busy machine; {runs} or more"),
    }
}

/// `is_early`: the runs that configurations get at most end before the budget does.
fn filled(report: &Report, took: Duration, until: Duration, is_early: bool) -> String {
    let numbers = report.cells.iter().filter(|cell| cell.capacity.is_some()).count();
    let cells = counted(report.cells.len(), "configuration");
    let (took, until) = (units::duration(took), units::duration(until));
    let about = if is_early { "about " } else { "" };
    let (share, next) = match numbers == report.cells.len() {
        true if numbers == 1 => ("the one configuration has".to_owned(), "refining the interval"),
        true => (format!("all {cells} have"), "refining the intervals"),
        false => (format!("{numbers} of {cells} have"), "measuring the others again, then refining the intervals,"),
    };
    format!("{share} a number after {took}; {next} until {about}{until}; ^C keeps everything")
}

fn waiting(gone: &str, most: Duration) -> String {
    let most = units::duration(most);
    format!("{gone}: waiting for up to {most}, as all that is left to measure needs it; ^C keeps everything")
}

/// A note while a line may be drawn.
pub fn interject(line: &str) {
    if look::redraws() {
        look::redraw("");
    }
    note(line);
}

/// Why a sweep ends with this code, where its tables are not shown: the first configuration that is to blame.
pub fn why(report: &Report, exit: Exit) -> Option<String> {
    let failures: &[Ending] = match exit {
        Exit::Wrong => &[Ending::Wrong],
        Exit::Environment => &[Ending::Refused, Ending::Died, Ending::TimedOut, Ending::Away],
        Exit::NoVerdict => &[],
        _ => return None,
    };
    // What was not to be measured is to blame where nothing was.
    let is_empty = report.cells.iter().all(|cell| cell.value().is_none());
    let lacks = |cell: &Cell| cell.status != Status::Ok && (is_empty || cell.status != Status::Skipped);
    let mut cells = report.cells.iter().filter_map(|cell| {
        let failed = cell.invocations.iter().find(|run| failures.contains(&run.ending));
        (failed.is_some() || exit == Exit::NoVerdict && lacks(cell)).then_some((cell, failed))
    });
    let (first, failed) = cells.next()?;
    let reason = failed.and_then(|run| run.reason.clone()).or_else(|| first.reason.clone());
    let reason = reason.or_else(|| report.incomplete()).unwrap_or_else(|| first.status.name().to_owned());
    let more = match cells.count() {
        0 => String::new(),
        more => format!("; the report has {more} more"),
    };
    Some(format!("{}: {}{more}", title(first), plain(&reason)))
}

pub fn note(line: &str) {
    look::say(&format!("charz: {line}"));
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{announced, drawn, told, why};
    use crate::exit::Exit;
    use charz_data::report::{Cell, Ending, Status, Unit, anonymous_cell, fixtures};

    #[test]
    fn the_end_is_announced_first() {
        let of = |runs, first, likely, end| {
            let [first, likely, end] = [first, likely, end].map(Duration::from_secs);
            announced(runs, first, likely, end)
        };
        assert_eq!(of(108, 9, 13, 89), "about 13.0 s, at most 1 min 29 s on a busy machine; 108 runs or more");
        assert_eq!(of(1, 9, 9, 9), "about 9.00 s, 1 run", "no interval is refined, or there is no time for it");
        assert_eq!(of(740, 60, 15, 15), "up to 15.0 s, too short for all 740 runs, which take about 1 min 00 s");
        assert_eq!(of(0, 0, 0, 30), "up to 30.0 s, to refine the intervals");
    }

    #[test]
    fn a_line_that_is_drawn_has_room_and_keeps_the_time() {
        for columns in [40, 80, 200] {
            for left in [0.0, 0.5, 1.0, 2.0] {
                let line = drawn(columns, left, "12.0 s left, 3/60 ", &"name ".repeat(40));
                assert!(line.chars().count() < columns && line.contains("12.0 s left, 3/60 na"), "{columns}: {line}");
            }
            let long = "at most 59.7 s left, 3/60 and more ";
            assert!(drawn(columns, 0.5, long, "name").contains(long), "{columns}");
        }
    }

    #[test]
    fn what_is_to_blame_for_a_code_is_named() {
        let cell = |kernel: &str| fixtures::cell(kernel, 1, Unit::OpsPerSecond, 1e9);
        let skipped = |kernel: &str| cell(kernel).unmeasured(Status::Skipped, "too large");
        let refused = Cell { invocations: vec![fixtures::barren(Ending::Refused)], ..cell("died") };
        let of = |cells: Vec<Cell>, exit| why(&fixtures::report(cells), exit);
        assert_eq!(of(vec![cell("a")], Exit::Done), None);
        let said = of(vec![skipped("skips"), refused.clone(), refused], Exit::Environment).unwrap();
        assert!(said.starts_with("died ") && said.ends_with("; the report has 1 more"), "{said}");
        let said = of(vec![cell("a"), skipped("skips"), cell("doubtful").suspect()], Exit::NoVerdict).unwrap();
        assert!(said.starts_with("doubtful ") && !said.contains("more"), "{said}");
        let said = of(vec![skipped("skips"), skipped("other")], Exit::NoVerdict).unwrap();
        assert!(said.starts_with("skips ") && said.contains("too large; the report has 1 more"), "{said}");
    }

    #[test]
    fn a_suspect_number_is_printed_with_its_mark() {
        let cell = fixtures::cell("mem-read", 2, Unit::BytesPerSecond, 1e9);
        assert_eq!(told(&cell), "mem-read rr x2: 1.00 GB/s");
        assert_eq!(told(&cell.suspect()), "mem-read rr x2: 1.00 GB/s~");
    }

    #[test]
    fn of_an_anonymous_sweep_neither_the_mapper_nor_a_reason_is_printed() {
        let cell = fixtures::cell("command", 2, Unit::Nanoseconds, 9.0)
            .under("command:/eve/m")
            .unmeasured(Status::Failed, "eve");
        assert_eq!(told(&cell).matches("eve").count(), 2);
        assert!(!told(&anonymous_cell(&cell)).contains("eve"));
    }
}
