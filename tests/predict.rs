//! `charz predict`: tables of other people in, predictions or the lack of a model out.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::bad_input::place::{Place, run};
use crate::compare::fixtures::{cell, report};

const MACHINE: &str = "Package:2 Core:4 PU:1";
const TABLE: &str = "dumb\t1\t10\t1\ndumb\t4\t30\t1\ndumb\t8\t60\t1\ndumb\t6\t-\t0\n";

fn predict(text: &str, args: &[&str]) -> (Option<i32>, String) {
    let place = Place::new();
    place.put("t.tsv", text.as_bytes());
    let mut command = place.charz();
    command.args(["predict", "--table", "t.tsv", "--topology", MACHINE]).args(args);
    let ran = run(text, command);
    (ran.code, if ran.code == Some(2) { ran.err } else { ran.out })
}

fn read(text: &str) -> Value {
    serde_json::from_str(&predict(text, &["--format", "json"]).1).unwrap()
}

#[test]
fn headings_marks_and_remarks_around_a_table_change_nothing() {
    let known = read(TABLE);
    assert_eq!((&known["model"], known["predictions"].as_array().unwrap().len()), (&json!("placement"), 1));
    let interval: Vec<f64> =
        known["predictions"][0]["interval"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    assert!(interval[0] > 30.0 && interval[1] < 60.0, "{known}");
    for text in [
        format!("mapping\tthreads\tvalue\tfit\n{TABLE}"),
        format!("\u{feff}Placement\tN\tGB/s\tfit\n  # of a friend\n{TABLE}"),
        TABLE.replace('\n', "\r\n"),
    ] {
        assert_eq!(read(&text), known, "{text}");
    }
    let (code, refused) = predict(&TABLE.replacen("\t10\t", "\tten\t", 1), &[]);
    assert!(code == Some(2) && refused.contains("line 1"), "{refused}");
}

#[test]
fn a_table_comes_from_standard_input_too() {
    let place = Place::new();
    place.put("t.tsv", TABLE.as_bytes());
    let mut command = place.charz();
    command.args(["predict", "--table", "-", "--topology", MACHINE, "--format", "json"]);
    command.stdin(Stdio::from(std::fs::File::open(place.path().join("t.tsv")).unwrap()));
    let ran = command.output().unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&ran.stdout).unwrap(), read(TABLE));
}

#[test]
fn more_threads_than_cpus_have_no_prediction_and_say_so() {
    let text = format!("{TABLE}dumb\t9\t-\t0\n");
    let rows = read(&text)["predictions"].clone();
    assert!(rows[0]["value"].is_f64() && rows[1]["value"].is_null(), "{rows}");
    let (code, screen) = predict(&TABLE.replace("dumb\t6", "dumb\t9"), &[]);
    assert!(
        code == Some(5) && screen.contains(" 9 ") && screen.contains("several threads on a CPU"),
        "{code:?} {screen}"
    );
    // The same CPUs under another name check nothing, and count as no error.
    let same = read(&format!("{TABLE}round-robin\t8\t61\t0\n"));
    assert!(same["why"].as_str().unwrap().ends_with("no other checks it") && same["error"].is_null(), "{same}");
}

#[test]
fn without_a_model_each_line_still_has_its_place() {
    let text = "dumb\t1\t10\t1\ndumb\t4\t90\t1\ndumb\t8\t20\t1\nround-robin\t6\t55\t0\n";
    let (code, screen) = predict(text, &[]);
    assert_eq!(code, Some(5), "{screen}");
    let line = screen.lines().find(|line| line.contains("round-robin")).unwrap_or_else(|| panic!("{screen}"));
    assert!(screen.starts_with("no model: ") && line.contains(" 6 ") && line.contains("55"), "{screen}");
}

/// A mapping from a file, whose author must not choose what runs here.
#[test]
fn no_program_that_a_file_names_is_run() {
    let place = Place::new();
    let command = "command:touch ran";
    place.put("t.tsv", format!("{TABLE}{command}\t2\t18\t0\n").as_bytes());
    place.refuses("table", &["predict", "--table", "t.tsv", "--topology", MACHINE], &["line 5", "is not run"]);

    let machine = run("topo", {
        let mut topo = place.charz();
        topo.args(["topo", "--topology", MACHINE, "--format", "json"]);
        topo
    });
    let cells: Vec<Value> = [(1, 1e10), (2, 2e10), (4, 4e10)]
        .into_iter()
        .map(|(threads, rate)| {
            let mut cell = cell("arith-int", threads, rate);
            cell["mapping"] = command.into();
            cell
        })
        .collect();
    let mut report = report(&cells);
    report["machine"] = serde_json::from_str(&machine.out).unwrap();
    place.put("r.json", report.to_string().as_bytes());
    let mut advise = place.charz();
    advise.args(["advise", "r.json"]);
    let ran = run("report", advise);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(!place.path().join("ran").exists());
}

#[test]
fn what_was_measured_is_no_answer_where_there_is_no_model() {
    let (code, screen) = predict("dumb\t1\t10\ndumb\t4\t40\ndumb\t8\t80\ndumb\t6\t300\t0\n", &[]);
    assert!(code == Some(5) && screen.contains("no model"), "{code:?} {screen}");
    // The value of a line may be empty.
    assert_eq!(read(&TABLE.replace("\t-\t0", "\t")), read(TABLE));
    assert_eq!(read(&TABLE.replace("\t1\n", "\t\n")), read(TABLE));
}

#[test]
fn a_hybrids_own_report_keeps_what_was_measured() {
    let place = Place::new();
    let mut topo = place.charz();
    topo.args(["topo", "--topology", "Package:1 Core:8 PU:2", "--format", "json"]);
    let mut report = report(&[cell("arith-int", 2, 2e10)]);
    report["machine"] = serde_json::from_str(&run("topo", topo).out).unwrap();
    // The cores are of one kind until one of them has fewer CPUs.
    report["machine"]["strands"].as_array_mut().unwrap().remove(3);
    place.put("r.json", report.to_string().as_bytes());
    let mut predict = place.charz();
    predict.args(["predict", "r.json", "--mapping", "list:0,1", "--threads", "2"]);
    let ran = run("predict", predict);
    assert!(
        ran.code == Some(0) && ran.out.contains("arith-int") && ran.out.contains("no model"),
        "{}{}",
        ran.out,
        ran.err
    );
}

#[test]
fn times_and_lines_that_are_left_out_are_named() {
    let times = read("dumb\t1\t100\ndumb\t2\t51\ndumb\t4\t26\ndumb\t6\t18\ndumb\t8\t14\n");
    // Rates of a contended lock fall too.
    assert!(times["why"].as_str().unwrap().contains("if they are times, write 1/time"), "{times}");
    let levelled = read("dumb\t1\t100\ndumb\t2\t70\ndumb\t4\t55\ndumb\t6\t48\ndumb\t8\t44\n");
    assert!(levelled["why"].as_str().unwrap().contains("if they are times, write 1/time"), "{levelled}");
    assert!(!read(TABLE)["why"].as_str().unwrap().contains("1/time"));
    let checked = read("dumb\t1\t10\ndumb\t2\t20\ndumb\t3\t30\ndumb\t4\t40\ndumb\t6\t60\ndumb\t8\t80\n");
    assert!(checked["why"].as_str().unwrap().contains("points left out one by one are missed by"), "{checked}");
    let more = read(&format!("{TABLE}dumb\t16\t60\n"));
    assert!(more["why"].as_str().unwrap().contains("1 point with several threads on a CPU is left out"), "{more}");
    let none = read("dumb\t4\t100\ndumb\t16\t200\ndumb\t32\t200\n");
    assert!(none["why"].as_str().unwrap().contains("1 placement was measured with a CPU for each thread"), "{none}");
}

/// A full socket does 30, and threads on the other do as much as ever.
#[test]
fn work_that_faster_threads_take_is_named() {
    let ends = "dumb\t1\t10\t1\ndumb\t4\t30\t1\ndumb\t8\t60\t1\n";
    let why = |others: &str| read(&format!("{ends}{others}"))["why"].as_str().unwrap().to_owned();
    assert!(why("dumb\t5\t40\t0\ndumb\t6\t49\t0\ndumb\t7\t57\t0\n").contains("with more work for faster threads"));
    assert!(why("dumb\t5\t37\t0\ndumb\t6\t45\t0\ndumb\t7\t52\t0\n").contains("with equal work per thread"));
}
