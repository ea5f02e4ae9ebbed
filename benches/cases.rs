//! A bench program is a list of cases. Criterion times them, as any program of its own; besides, `--counted` names those whose
//! instructions can be counted, and `--count FIRST STEP` runs every so-manieth of them, each
//! inside of [`once`], and prints how much work each did.
#![allow(clippy::print_stdout, reason = "the list of cases is this program's output")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Criterion;

/// One call of what is measured.
type Call = Box<dyn FnMut()>;
/// One call that does as much as it gets to, and says how much.
type Working = Box<dyn FnMut() -> u64>;
/// The time of so many calls.
type Timed = Box<dyn FnMut(u64) -> Duration>;

/// A case: its name, and how to build it. Building counts for nothing.
pub struct Case {
    name: String,
    body: Body,
}

enum Body {
    /// Counted and timed.
    Call(Box<dyn Fn() -> Call>),
    Counted(Box<dyn Fn() -> Working>),
    Timed(Box<dyn Fn() -> Timed>),
}

/// A case that takes the same instructions each time.
pub fn case(name: impl Into<String>, build: impl Fn() -> Call + 'static) -> Case {
    Case { name: name.into(), body: Body::Call(Box::new(build)) }
}

/// A case that takes the same instructions for the same work, and is not timed.
pub fn counted(name: impl Into<String>, build: impl Fn() -> Working + 'static) -> Case {
    Case { name: name.into(), body: Body::Counted(Box::new(build)) }
}

/// A case that has instructions to wait with, or a clock of its own: it is timed only.
pub fn timed(name: impl Into<String>, build: impl Fn() -> Timed + 'static) -> Case {
    Case { name: name.into(), body: Body::Timed(Box::new(build)) }
}

/// Does what the arguments of the process ask for.
pub fn run(cases: &[Case]) {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--counted", ..] => {
            let counted = cases.iter().filter(|case| case.is_counted());
            counted.for_each(|case| println!("{}", case.name));
        }
        ["--count", first, step, ..] => {
            let [first, step] = [first, step].map(|number| number.parse().expect("it is a number"));
            for case in cases.iter().filter(|case| case.is_counted()).skip(first).step_by(step) {
                let mut call = case.working();
                // The first call finds what later ones need again, such as the sizes of caches.
                call();
                println!("{}", once(&mut *call));
                told(case);
            }
        }
        _ => {
            let mut criterion = Criterion::default().configure_from_args();
            cases.iter().for_each(|case| time(case, &mut criterion));
            criterion.final_summary();
        }
    }
}

/// The only function whose instructions count, with all that it calls.
#[inline(never)]
fn once(call: &mut dyn FnMut() -> u64) -> u64 {
    call()
}

/// What has been counted is written where this is called.
#[inline(never)]
fn told<T>(case: T) {
    black_box(case);
}

impl Case {
    fn is_counted(&self) -> bool {
        !matches!(self.body, Body::Timed(_))
    }

    /// What is counted of it: the work of a call that is the same each time is 1.
    fn working(&self) -> Working {
        match &self.body {
            Body::Counted(build) => build(),
            Body::Call(build) => {
                let mut call = build();
                Box::new(move || {
                    call();
                    1
                })
            }
            Body::Timed(_) => Box::new(|| 0),
        }
    }
}

fn time(case: &Case, criterion: &mut Criterion) {
    let name = &case.name;
    match &case.body {
        Body::Counted(_) => {}
        Body::Call(build) => drop(criterion.bench_function(name, |bencher| {
            let mut call = build();
            bencher.iter_custom(|times| {
                let start = Instant::now();
                (0..times).for_each(|_| call());
                start.elapsed()
            });
        })),
        Body::Timed(build) => drop(criterion.bench_function(name, |bencher| {
            let mut timed = build();
            bencher.iter_custom(&mut *timed);
        })),
    }
}

/// Makes sure that a result is computed, and drops it.
pub fn keep<T>(result: T) {
    black_box(result);
}
