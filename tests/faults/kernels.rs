//! Kernels that die, lie and make a noise: their cell says so, and the next one is measured.

use std::fs;

use crate::trial::{Trial, together};

/// A kernel whose every process dies, and what is said of it.
#[track_caller]
fn check_failed(kernel: &str, said: &str) {
    let _machine = together();
    let ended = Trial::of(&format!("{kernel},honest")).run();
    assert_eq!(ended.code, Some(3), "{}", ended.err);
    assert_eq!(ended.status(kernel), "failed");
    assert!(ended.reason(kernel).contains(said), "{kernel}: {:?}", ended.reason(kernel));
    let told = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(said), "it is reported: {}", ended.out);
    ended.check_measured("honest");
}

#[test]
fn a_worker_panics() {
    check_failed("panics-while-built", "a worker panicked: built to panic");
    check_failed("panics", "a worker panicked: run to panic");
}

#[test]
fn a_process_dies_by_a_signal() {
    check_failed("segfaults", "signal 11");
    check_failed("illegal", "signal 4");
    check_failed("overflows", "stack overflow");
}

#[test]
fn a_process_ends_without_an_answer() {
    check_failed("leaves", "exit code 0 and no answer");
    check_failed("chatters", "exit code 0 and no answer");
}

#[test]
fn a_kernel_that_dies_once_keeps_its_other_invocations() {
    let _machine = together();
    let trial = Trial::of("dies-once,honest").with("--runs", "6");
    let count = trial.folder().join("count");
    let trial = trial.variable("FAULTY_COUNT", &count);
    let ended = trial.run();
    assert!(fs::read(&count).unwrap().len() > 3, "it was tried again");
    assert_eq!(ended.code, Some(3), "{}", ended.err);
    ended.check_measured("dies-once");
    let marks = ended.cell("dies-once")["marks"].as_array().unwrap();
    let mark = marks.iter().find(|mark| mark["code"] == "V29").expect("a dead process is marked");
    assert_eq!(mark["severity"], "suspect");
    assert!(mark["reason"].as_str().unwrap().contains("signal 11"), "{mark}");
}

#[test]
fn a_wrong_answer_and_less_work_are_invalid() {
    let _machine = together();
    let ended = Trial::of("lies,shirks,honest").run();
    assert_eq!(ended.code, Some(4), "{}", ended.err);
    for (kernel, said) in
        [("lies", "2 times 2 came to 5"), ("shirks", "did 100000 operations and 0 bytes instead of 200000")]
    {
        assert_eq!(ended.status(kernel), "invalid");
        assert!(ended.reason(kernel).contains(said), "{:?}", ended.reason(kernel));
        assert!(ended.cell(kernel)["value"].is_null(), "a wrong answer has no number");
    }
    ended.check_measured("honest");
}

#[test]
fn a_process_that_floods_standard_error_is_read_to_its_end() {
    let _machine = together();
    let ended = Trial::of("complains,honest").run();
    ended.check_done();
    ended.check_measured("complains");
    assert!(!ended.err.contains("????"), "its output is not shown");
}
