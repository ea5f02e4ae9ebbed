//! What stays of each. That nothing else is left is tested with the program itself, by a mark in every field.

use super::*;
use crate::report::fixtures::{ARITHMETIC, cell, report};
use crate::report::{Cell, Unit, anonymous, anonymous_cell, parse};
use crate::{Better, ReportedUnit};

#[track_caller]
fn check<T: PartialEq + std::fmt::Debug + Clone>(decision: fn(T) -> T, table: &[(T, T)]) {
    for (text, expected) in table {
        let found = decision(text.clone());
        assert_eq!(&found, expected, "{text:?}");
        assert_eq!(decision(found.clone()), found, "{text:?}, again");
    }
}

fn texts<const N: usize>(table: [[&str; 2]; N]) -> [(String, String); N] {
    table.map(|pair| pair.map(str::to_owned).into())
}

fn known<const N: usize>(table: [[&str; 2]; N]) -> [(Option<String>, Option<String>); N] {
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    table.map(|pair| pair.map(text).into())
}

#[test]
fn of_a_command_line_the_flags_stay() {
    check(
        flags,
        &texts([
            ["charz sweep --quick", "charz sweep --quick"],
            ["charz sweep --command './b -x y' -o q/r.json --strict", "charz sweep --command … -o … --strict"],
            ["charz c2c --label=a=b --setup='x y'", "charz … --label=… --setup=…"],
            ["/home/eve/charz sweep eve", "… sweep …"],
            ["charz sweep --Eve -- --é 'a", ""],
            ["eve", "…"],
            ["", ""],
        ]),
    );
}

#[test]
fn of_a_kernel_the_version_stays() {
    check(
        release,
        &known([
            ["Linux 6.8.0-45-generic", "Linux 6.8.0"],
            ["Linux 5.14.0-427.el9.eve.x86_64 more", "Linux 5.14.0"],
            ["Linux 6.12.", "Linux 6.12"],
            ["Linux eve", "Linux"],
            ["Linux", "Linux"],
            ["../eve 5", ""],
            [" ", ""],
        ]),
    );
    assert_eq!(release(None), None);
}

#[test]
fn of_other_texts_the_words_of_charz_stay() {
    check(stopper, &known([["budget", "budget"], ["SIGINT", "SIGINT"], ["a full disk", "a full disk"]]));
    check(stopper, &known([["a missing resource: CPU 3", "a missing resource"], ["eve", UNNAMED]]));
    check(stopper, &known([["a failure: eve said so", "a failure"]]));
    check(told, &known([["package-0", "package-0"], ["unavailable: /home/eve", "unavailable"]]));
    let paths = ["-C opt-level=3 -L /eve/x -Clink-arg=-l=/eve/y", "-C opt-level=3 -L PATH -Clink-arg=-l=PATH"];
    check(without_paths, &texts([paths, ["/eve/x", "PATH"], ["", ""]]));
    check(change, &texts([["turbo: 1 became 0", "turbo: 1 became 0"], ["eve: 1", "a setting: it changed"]]));
    check(bare_program, &texts([["./eve -x", "PROGRAM"], ["A=1 ./eve {n} {rank}.{n}", "PROGRAM {n} {rank}"]]));
    let disturbances = ["steal: 5%", "eve"].map(str::to_owned).to_vec();
    check(unsaid, &[(disturbances, ["steal: left out", "a disturbance: left out"].map(str::to_owned).to_vec())]);
}

#[test]
fn an_anonymous_report_is_read_and_stays_as_it_is() {
    let whole = parse(ARITHMETIC).unwrap();
    let once = anonymous(whole.clone());
    assert!(once.anonymous && whole.host.name.is_some() && once.host.name.is_none());
    assert_eq!(parse(&serde_json::to_string(&once).unwrap()).unwrap(), once);
    assert_eq!(anonymous(once.clone()), once);
    let numbers = |report: &Report| report.cells.iter().map(Cell::value).collect::<Vec<_>>();
    assert_eq!(numbers(&once), numbers(&whole));
}

#[test]
fn cells_of_two_programs_that_give_orders_stay_apart() {
    let unit = ReportedUnit::new("J", Better::Lower).unwrap();
    let of = |mapping: &str| cell("arith-int", 1, Unit::Reported(unit), 5.0).under(mapping);
    let whole = report(["command:./eve 1", "dumb", "command:./eve 2"].map(of).to_vec());
    let mappings = |report: &Report| {
        let own = report.cells.iter().map(|cell| cell.mapping.clone()).collect::<Vec<_>>();
        assert_eq!(own, report.plan.mappings);
        own
    };
    let once = anonymous(whole);
    assert_eq!(mappings(&once), ["command:PROGRAM 1", "dumb", "command:PROGRAM 2"]);
    assert_eq!(mappings(&anonymous(once.clone())), mappings(&once));
    assert_eq!(anonymous_cell(&of("command:./eve")).mapping, "command:PROGRAM");
    assert_eq!(once.cells[0].unit, Unit::Reported(unit));
}
