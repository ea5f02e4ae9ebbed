//! What the fuzz targets do with their bytes. Each is a plain function with the laws that it asserts, so that the same code
//! runs under libFuzzer and, over the corpus, in every `cargo test`.

mod kernel_files;
mod lists;
mod machines;
mod reports;
mod words;

/// A target: a name, which is also that of its corpus, and a function that panics where a law is broken.
pub struct Target {
    /// The name.
    pub name: &'static str,
    /// What it does with any bytes.
    pub run: fn(&[u8]),
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target { name: "answer", run: lists::answer },
    Target { name: "argv", run: words::argv },
    Target { name: "cgroup", run: kernel_files::cgroup },
    Target { name: "config", run: words::config },
    Target { name: "cpulist", run: lists::cpulist },
    Target { name: "journal", run: reports::journal },
    Target { name: "latencies", run: lists::latencies },
    Target { name: "mappings", run: lists::mappings },
    Target { name: "proc", run: kernel_files::proc },
    Target { name: "report", run: reports::report },
    Target { name: "sizes", run: lists::sizes },
    Target { name: "synthetic", run: machines::synthetic },
    Target { name: "threads", run: words::threads },
    Target { name: "units", run: words::units },
    Target { name: "xml", run: machines::xml },
];

/// Runs the target of this name.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("the table has the target");
    (target.run)(data);
}

/// A reason that people read: one line of bounded length that cannot steer a terminal.
#[track_caller]
fn assert_readable(reason: &str) {
    assert!(!reason.is_empty(), "the reason is empty");
    assert!(reason.chars().count() <= 1100, "the reason has {} bytes", reason.len());
    assert!(!reason.contains(char::is_control), "the reason steers the terminal: {reason:?}");
}

/// Lines that a terminal shows: no control characters but the ends of lines, and no marks that turn the direction of text
/// (the embeddings, overrides and isolates of Unicode's UAX #9).
#[track_caller]
fn assert_harmless(text: &str) {
    let turns = |mark: char| ('\u{202a}'..='\u{202e}').contains(&mark) || ('\u{2066}'..='\u{2069}').contains(&mark);
    let steers = |mark: char| (mark.is_control() && mark != '\n') || turns(mark);
    assert!(!text.contains(steers), "the text steers the terminal: {text:?}");
}
