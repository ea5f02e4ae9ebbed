//! That the command line which a page gives for a report is read, and plans the same again.

use std::ffi::OsString;
use std::time::Duration;

use charz_topology::{Machine, Source, discover};

use super::{Parsed, parse_with};
use crate::command::{Command, sweep};
use crate::limits::Limits;
use charz_analysis::page;
use charz_analysis::page::page;
use crate::plan::{Plan, Request};
use crate::predict::Predictor;
use charz_data::report::{Report, Timer};
use crate::sweep::{Context, new_report};

const MACHINE: &str = "Package:2 [NUMA(memory=1GB)] L3:1(size=8MiB) L2:2(size=512KiB) L1:1(size=32KiB) Core:1 PU:2";

fn request(words: &[String]) -> Request {
    let argv = words.iter().map(OsString::from);
    match parse_with(argv, &|_| None) {
        Ok(Parsed::Command { command, .. }) => match *command {
            Command::Sweep(options) => match *options {
                sweep::Options::New(new) => new.request,
                sweep::Options::Resume(_) => panic!("{words:?} resumes"),
            },
            Command::CoreToCore(options) => options.new.request,
            Command::Numa(options) => options.new.request,
            _ => panic!("{words:?} is no sweep"),
        },
        Ok(Parsed::Text(_)) => panic!("{words:?} is help"),
        Err(error) => panic!("{words:?}: {error}"),
    }
}

fn report(machine: &Machine, words: &[String]) -> Report {
    let request = request(words);
    let limits = Limits::unlimited();
    let plan = Plan::new(&request, request.fit(machine, &limits).unwrap(), &limits, &Predictor::with_rates(4, []));
    let timer = Timer { overhead_ns: 0, resolution_ns: 0, worst_gap_ns: 0, skew_ns: None };
    new_report(&plan, &Context { machine, limits: &limits, clock: "os", binder: "hwloc", timer })
}

fn typed_again(report: &Report) -> Vec<String> {
    let page = page(&[page::Source { name: "one", report }]);
    shlex::split(&page.sources[0].command).unwrap()
}

/// The plan of a command line is that of the command line which the report gives.
#[track_caller]
fn check(line: &str) {
    let machine = discover(&Source::Synthetic(MACHINE.into())).unwrap();
    let once = report(&machine, &shlex::split(line).unwrap());
    let typed = typed_again(&once);
    let again = report(&machine, &typed);
    let cells = |report: &Report| -> Vec<_> {
        let key = |cell: &charz_data::report::Cell| {
            let charz_data::report::Cell { kernel, mapping, workers, seats, precision, outcome, .. } = cell.clone();
            // Whether a value is the plan's or a cell's own makes no difference to what is measured.
            (kernel, mapping, workers, charz_analysis::point::parameters(cell, &report.plan), seats, precision, outcome)
        };
        report.cells.iter().map(key).collect()
    };
    assert_eq!(cells(&once), cells(&again), "{line}\n{typed:?}");
    let mut plan = again.plan.clone();
    if once.plan.seed != again.plan.seed {
        panic!("{typed:?}: another seed");
    }
    // Without a kernel that obeys, they change nothing.
    (plan.iterations, plan.samples, plan.span_ns) = (once.plan.iterations, once.plan.samples, once.plan.span_ns);
    (plan.size_bytes, plan.pages, plan.stride_bytes) =
        (once.plan.size_bytes, once.plan.pages.clone(), once.plan.stride_bytes);
    assert_eq!(plan, once.plan, "{line}\n{typed:?}");
}

#[test]
fn what_a_page_says_measures_the_same_again() {
    for line in [
        "charz sweep",
        "charz sweep --quick --seed 18446744073709551615",
        "charz sweep --kernel mem-read --threads 1,2,5 --mapping round-robin,auto --budget 230s --invocations 3",
        "charz sweep --kernel mem-read --pages 4k --size 1MiB",
        "charz sweep --kernel mem-read,mem-copy --pages 4k,thp --size 5824B,1GiB",
        "charz sweep --kernel mem-read,chase-random --size levels",
        "charz sweep --kernel mem-read --size curve --budget 1h",
        "charz sweep --kernel mem-read --memory remote,node:1",
        "charz sweep --kernel chase-random",
        "charz sweep --kernel chase-random --pages 2m --stride 4096 --size 64MiB",
        "charz sweep --kernel chase-stride --stride 64,128 --budget 90m",
        "charz sweep --kernel chase-chains,chase-random,mem-read,level-read,cache-read",
        "charz sweep --kernel loaded-read",
        "charz sweep --kernel loaded-read --delay 7 --threads 3",
        "charz sweep --kernel level-read,level-copy --span 3ms --repetitions 10",
        "charz sweep --kernel cache-read --size 64KiB",
        "charz sweep --family compute --layout contiguous --iterations 2000000 --precision 0.7%",
        "charz sweep --family sync --samples 300",
        "charz sweep --family timer --timeout 3ms",
        "charz sweep --family memory",
        "charz sweep --kernel pool-std,futex-wake --period 50us --critical 7 --parallel 9",
        "charz sweep --kernel signal-std --period closed --precision 12.5%",
        "charz sweep --kernel cas-counter --threads 32 --oversubscribe 4",
        "charz sweep --kernel mem-read --mapping list:0,0,1 --allow-stack --threads 3",
        "charz sweep --kernel c2c-cas,c2c-exchange",
        "charz sweep --kernel noop",
    ] {
        check(line);
    }
}

/// What makes sweeps of its own out of little that is typed is typed as it was.
#[test]
fn squares_are_asked_for_by_their_own_commands() {
    let machine = discover(&Source::Synthetic(MACHINE.into())).unwrap();
    #[track_caller]
    fn check(mut report: Report, expected: &str) {
        report.plan.seed = 7;
        let typed = typed_again(&report);
        assert_eq!(typed.join(" "), expected);
        let request = request(&typed);
        assert_eq!((request.seed, request.budget.least()), (Some(7), Duration::from_nanos(report.plan.budget_ns)));
    }
    let all: Vec<String> = (0..8)
        .flat_map(|one| (0..8).map(move |other| format!("list:{one},{other}")))
        .filter(|pair| pair[5..6] != pair[7..])
        .collect();
    let words = |line: &str, mappings: &[String]| -> Vec<String> {
        let flags = mappings.iter().flat_map(|mapping| ["--mapping".to_owned(), mapping.clone()]);
        line.split(' ').map(str::to_owned).chain(flags).collect()
    };
    let pairs = words("charz sweep --kernel c2c-cas --threads 2 --budget 300s", &all);
    check(report(&machine, &pairs), "charz c2c --mode cas --budget 300s --seed 7 --clock os");
    let some = words("charz sweep --kernel c2c-cas,c2c-fetch-add --threads 2 --budget 5m", &all[..2]);
    check(report(&machine, &some), "charz c2c --mode cas,fetch-add --strands 0-2 --budget 300s --seed 7 --clock os");
    let nodes = words(
        "charz sweep --kernel chase-random,mem-read --size 64MiB --pages 2m --memory node:0,node:1 --threads 1,4 --budget 5m",
        &["list:0-3".to_owned(), "list:4-7".to_owned()],
    );
    check(report(&machine, &nodes), "charz numa --size 64MiB --pages 2m --budget 300s --seed 7");
}
