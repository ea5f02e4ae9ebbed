//! Cases whose instructions are counted: `--list` names them, `--case NAME` runs one, anything else runs them all.
//!
//! A counter of instructions such as callgrind looks only at what happens inside [`counted`], so building the inputs
//! does not count. `cargo xtask bench-gate` does so for two revisions.
#![allow(clippy::print_stdout, reason = "the list of cases is this program's output")]

use std::hint::black_box;

/// How often [`counted`] runs a case: the variable that says so. A slowdown is planted by more times.
const TIMES: &str = "CHARZ_BENCH_TIMES";

/// Something to count; building it does not count, calling it does.
type Body = Box<dyn FnMut()>;

/// A case: its name, and how to build it.
pub struct Case {
    name: String,
    build: Box<dyn Fn() -> Body>,
}

pub fn case(name: impl Into<String>, build: impl Fn() -> Body + 'static) -> Case {
    Case { name: name.into(), build: Box::new(build) }
}

/// Does what the arguments of the process ask for.
pub fn run(cases: &[Case]) {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--list", ..] => cases.iter().for_each(|case| println!("{}", case.name)),
        ["--case", name, ..] => {
            let case = cases.iter().find(|case| case.name == *name).expect("the case is listed");
            let times = std::env::var(TIMES).ok().and_then(|text| text.parse().ok()).unwrap_or(1);
            counted(&mut *(case.build)(), times);
        }
        _ => cases.iter().for_each(|case| counted(&mut *(case.build)(), 1)),
    }
}

/// The only function whose instructions count, with all that it calls.
#[inline(never)]
fn counted(body: &mut dyn FnMut(), times: u32) {
    for _ in 0..times {
        body();
    }
}

/// Makes sure that a result is computed, and drops it.
pub fn keep<T>(result: T) {
    black_box(result);
}
