//! How far a sweep is: a bar with an ETA on a terminal, a plain line now and then elsewhere. On standard error.

use std::io::Write;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::human;
use super::text::{counted, plain};
use crate::report::{Cell, Report, Status};
use crate::sweep::Listener;

/// The listener for this standard error.
pub fn on_stderr(terminal: bool) -> Box<dyn Listener> {
    if terminal { Box::new(Bar { bar: ProgressBar::hidden() }) } else { Box::new(Lines::default()) }
}

struct Bar {
    bar: ProgressBar,
}

impl Listener for Bar {
    fn begin(&mut self, cells: usize, predicted: Duration) {
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {prefix} {wide_msg}");
        self.bar = ProgressBar::new(cells as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        self.bar.set_message(format!("about {}", human::duration(predicted)));
    }

    fn start(&mut self, cell: &Cell) {
        self.bar.set_prefix(title(cell));
    }

    fn finish(&mut self, cell: &Cell, left: Duration) {
        self.bar.inc(1);
        self.bar.set_message(format!("{}, {} left", told(cell), human::duration(left)));
    }

    fn end(&mut self, _report: &Report) {
        self.bar.finish_and_clear();
    }
}

/// Often enough to see that it lives, seldom enough for a log.
const LINE_EVERY: Duration = Duration::from_secs(10);

#[derive(Default)]
struct Lines {
    cells: usize,
    done: usize,
    last: Option<Instant>,
}

impl Listener for Lines {
    fn begin(&mut self, cells: usize, predicted: Duration) {
        self.cells = cells;
        self.last = Some(Instant::now());
        say(&format!("{}, about {}", counted(cells, "cell"), human::duration(predicted)));
    }

    fn finish(&mut self, cell: &Cell, left: Duration) {
        self.done += 1;
        if self.last.is_none_or(|last| last.elapsed() >= LINE_EVERY) {
            self.last = Some(Instant::now());
            say(&format!("{}/{} {}, {} left", self.done, self.cells, told(cell), human::duration(left)));
        }
    }
}

fn title(cell: &Cell) -> String {
    plain(&format!("{} {} x{}", cell.kernel, cell.mapping, cell.workers))
}

fn told(cell: &Cell) -> String {
    match (&cell.summary, cell.outcome.status) {
        (Some(summary), Status::Ok) => format!("{}: {}", title(cell), human::value(summary.best, cell.unit)),
        _ => format!("{}: {}", title(cell), plain(cell.outcome.reason.as_deref().unwrap_or("nothing"))),
    }
}

fn say(line: &str) {
    // Progress that nobody can read is no reason to stop measuring.
    let _ = writeln!(std::io::stderr(), "charz: {line}");
}
