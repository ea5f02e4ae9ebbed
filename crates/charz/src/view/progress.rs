//! How far a sweep is: a bar with an ETA on a terminal, a plain line now and then elsewhere. On standard error.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::look;
use charz_analysis::point;
use charz_data::escape::{counted, plain};
use charz_data::report::{Cell, Report, Status};
use charz_data::units;
use charz_measure::sweep::Listener;

pub fn on_stderr(terminal: bool) -> Box<dyn Listener> {
    if terminal {
        Box::new(Bar { bar: ProgressBar::hidden(), count: Count::default() })
    } else {
        Box::new(Lines::default())
    }
}

/// As long as the sweep may last: the number of runs grows while intervals are refined.
struct Bar {
    bar: ProgressBar,
    count: Count,
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

    /// The time that is left first, which is not cut off where a line is too long.
    fn line(&mut self, cell: &Cell, left: Duration, longest: Duration) -> String {
        self.done += 1;
        self.due = self.due.max(self.done);
        format!("{}, {}/{} {}", self.rest(left, longest), self.done, self.due, told(cell))
    }
}

impl Listener for Bar {
    fn begin(&mut self, invocations: usize, predicted: Duration, until: Duration) {
        let style = ProgressStyle::with_template("{bar:30} {wide_msg}");
        self.count.due = invocations;
        self.bar = ProgressBar::new(until.as_millis() as u64)
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        self.bar.set_message(announced(invocations, predicted, until));
    }

    fn finish(&mut self, cell: &Cell, left: Duration, longest: Duration) {
        let all = self.bar.length().unwrap_or_default();
        self.bar.set_position(all.saturating_sub(longest.as_millis() as u64));
        self.bar.set_message(self.count.line(cell, left, longest));
    }

    fn fill(&mut self, report: &Report, took: Duration, until: Duration) {
        self.count.is_filled = true;
        self.bar.suspend(|| note(&filled(report, took, until)));
    }

    fn wait(&mut self, gone: &str, most: Duration) {
        self.bar.suspend(|| note(&waiting(gone, most)));
    }

    fn end(&mut self) {
        self.bar.finish_and_clear();
    }
}

const LINE_EVERY: Duration = Duration::from_secs(10);

#[derive(Default)]
struct Lines {
    count: Count,
    last: Option<Instant>,
}

impl Listener for Lines {
    fn begin(&mut self, invocations: usize, predicted: Duration, until: Duration) {
        self.count.due = invocations;
        self.last = Some(Instant::now());
        note(&format!("measuring: {}", announced(invocations, predicted, until)));
    }

    fn fill(&mut self, report: &Report, took: Duration, until: Duration) {
        self.count.is_filled = true;
        note(&filled(report, took, until));
    }

    fn wait(&mut self, gone: &str, most: Duration) {
        note(&waiting(gone, most));
    }

    fn finish(&mut self, cell: &Cell, left: Duration, longest: Duration) {
        let line = self.count.line(cell, left, longest);
        if self.last.is_none_or(|last| last.elapsed() >= LINE_EVERY) {
            self.last = Some(Instant::now());
            note(&line);
        }
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

/// The end first, then when there is a number for each configuration.
fn announced(invocations: usize, predicted: Duration, until: Duration) -> String {
    let (runs, first, end) = (counted(invocations, "run"), units::duration(predicted), units::duration(until));
    match () {
        () if invocations == 0 => format!("up to {end}, to refine the intervals"),
        () if predicted < until => format!("up to {end} (a number for each configuration after about {first}, {runs})"),
        () if predicted > until => format!("up to {end}, too short for all {runs}, which take about {first}"),
        () => format!("about {end}, {runs}"),
    }
}

fn filled(report: &Report, took: Duration, until: Duration) -> String {
    let numbers = report.cells.iter().filter(|cell| cell.capacity.is_some()).count();
    let cells = counted(report.cells.len(), "configuration");
    let (took, until) = (units::duration(took), units::duration(until));
    let (share, next) = match numbers == report.cells.len() {
        true if numbers == 1 => ("the one configuration has".to_owned(), "refining the interval"),
        true => (format!("all {cells} have"), "refining the intervals"),
        false => (format!("{numbers} of {cells} have"), "measuring the others again, then refining the intervals,"),
    };
    format!("{share} a number after {took}; {next} until {until}; ^C keeps everything")
}

fn waiting(gone: &str, most: Duration) -> String {
    let most = units::duration(most);
    format!("{gone}: waiting for up to {most}, as all that is left to measure needs it; ^C keeps everything")
}

pub fn note(line: &str) {
    look::say(&format!("charz: {line}"));
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{announced, told};
    use charz_data::report::{Unit, fixtures};

    #[test]
    fn the_end_is_announced_first() {
        let of = |runs, first, end| announced(runs, Duration::from_secs(first), Duration::from_secs(end));
        assert_eq!(of(108, 9, 89), "up to 1 min 29 s (a number for each configuration after about 9.00 s, 108 runs)");
        assert_eq!(of(1, 9, 9), "about 9.00 s, 1 run", "no interval is refined, or there is no time for it");
        assert_eq!(of(740, 60, 15), "up to 15.0 s, too short for all 740 runs, which take about 1 min 00 s");
        assert_eq!(of(0, 0, 30), "up to 30.0 s, to refine the intervals");
    }

    #[test]
    fn a_suspect_number_is_printed_with_its_mark() {
        let cell = fixtures::cell("mem-read", 2, Unit::BytesPerSecond, 1e9);
        assert_eq!(told(&cell), "mem-read rr x2: 1.00 GB/s");
        assert_eq!(told(&cell.suspect()), "mem-read rr x2: 1.00 GB/s~");
    }
}
