//! Which runs of a program are results, and what they are beside.

use serde_json::Value;

use super::Trial;

/// The first run builds, and the others find it built.
#[test]
fn a_first_run_that_does_the_work_is_no_run_like_the_others() {
    let work = "sh -c 'test -e done || { sleep 1; touch done; }; sleep 0.02'";
    let trial = Trial::of(work, &["--runs", "6"]);
    let cell = trial.cell();
    let mark = |cell: &Value| cell["marks"].as_array().unwrap().iter().find(|mark| mark["code"] == "V37").cloned();
    let found = mark(&cell).unwrap_or_else(|| panic!("{cell:#}"));
    assert_eq!(found["severity"], "suspect");
    assert!(found["reason"].as_str().unwrap().contains("--setup"), "{found}");
    let first = &cell["runs"][0]["evidence"]["program"]["first_ns"];
    assert!(first.as_u64().is_some_and(|ns| ns >= 1_000_000_000), "{first}");
    let trial = Trial::of(work, &["--runs", "6", "--setup", "rm -f done"]);
    assert_eq!(mark(&trial.cell()), None);
}

/// What a wrapper leaves behind for a moment is the program's work.
#[test]
fn work_that_a_program_leaves_behind_is_its_own() {
    for command in ["sh -c 'sleep 0.03 &'", "setsid sleep 0.03"] {
        let trial = Trial::of(command, &[]);
        let cell = trial.cell();
        let runs = cell["runs"].as_array().unwrap().iter().flat_map(|one| one["iterations"].as_array().unwrap());
        let times: Vec<f64> = runs.map(|run| run["reported"].as_f64().unwrap()).collect();
        // On a busy machine it may take so long that it is refused.
        let is_refused = cell["reason"].as_str().is_some_and(|reason| reason.contains("left processes running"));
        assert!(
            times.iter().all(|seconds| *seconds >= 0.03) && (is_refused || !times.is_empty()),
            "{command}: {cell:#}"
        );
    }
}

/// A program that runs for a given time says nothing by its time: what it took with one thread is beside its runs with more.
#[test]
fn runs_with_several_threads_are_beside_what_one_took() {
    let alone_of = |command: &str, flags: &[&str]| {
        let flags = [flags, &["--runs", "3"]].concat();
        let report = Trial::with(command, &["--threads", "1,2", "--mapping", "dumb"], &flags).report();
        [0, 1].map(|at| {
            let invocations = report["cells"][at]["runs"].as_array().unwrap().clone();
            invocations.iter().filter_map(|one| one["evidence"]["program"]["alone_ns"].as_u64()).max()
        })
    };
    // Two threads that work, or there is no number for two.
    let work = "for i in 1 2; do (n=0; while [ $n -lt 20000 ]; do n=$((n+1)); done) & done; wait; echo {threads}";
    let command = format!("sh -c '{work}'");
    let [one, two] = alone_of(&command, &[]);
    assert!(one.is_none() && two.is_some(), "{one:?} {two:?}");
    assert_eq!(alone_of(&command, &["--value", "last"]), [None, None], "its number is not its time");
    assert_eq!(alone_of("sleep 0.1", &[]), [None, None], "each copy takes as long");
}
