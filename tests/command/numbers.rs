//! The number that a program prints, and its unit.

use super::*;

/// What each run prints is one quantity, whatever its prefix.
#[test]
fn numbers_have_the_unit_that_the_program_prints() {
    let script = "if [ {threads} = 1 ]; then echo 800 MB/s; else echo 1.6 GB/s; fi";
    let command = format!("sh -c '{script}'");
    let trial = Trial::with(&command, &["--threads", "1,2", "--mapping", "dumb"], &["--value", "last"]);
    trial.ran.check_swept();
    let report = trial.report();
    let number = |cell: &Value| cell["runs"][0]["iterations"][0]["reported"].as_f64().unwrap();
    let [one, two] = [0, 1].map(|at| number(&report["cells"][at]));
    assert!((two / one - 2.0).abs() < 1e-9, "{one} {two}");
    let unit = &report["plan"]["program"]["unit"];
    assert!(["MB/s", "GB/s"].contains(&unit["symbol"].as_str().unwrap()) && unit["better"] == "higher", "{unit}");
    let printed: Vec<&Value> =
        [0, 1].map(|at| &report["cells"][at]["runs"][0]["iterations"][0]["printed_unit"]).to_vec();
    assert_eq!(printed, ["MB/s", "GB/s"]);
    // Another unit than was asked for is an error with both.
    let asked = ["--value", "last", "--unit", "MB/s"];
    check("echo 3.5 seconds", &asked, 3, "failed", &["\"seconds\"", "\"MB/s\""]);
    // A unit that is asked for is that of the number.
    let trial = Trial::of("echo 1.5 s", &["--value", "last", "--unit", "ms"]);
    assert_eq!(number(&trial.cell()), 1500.0);
    // The shell of the user may write numbers as people do elsewhere.
    let mut german = charz();
    german.env("LC_ALL", "de_DE.UTF-8").args([
        "sweep",
        "--budget",
        "3m",
        "--threads",
        "1",
        "--mapping",
        "dumb",
        "-q",
        "--invocations",
        "2",
    ]);
    let folder = tempdir().unwrap();
    german.current_dir(&folder).args([
        "--command",
        "sh -c 'echo $LC_ALL $LC_NUMERIC $LC_TIME 7'",
        "--value",
        "regex:^C de_DE.UTF-8 (7)$",
    ]);
    let ran: Ran = german.args(["-o", "r.json"]).output().unwrap().into();
    ran.check_swept();
    assert_eq!(number(&read_json(&folder.path().join("r.json"))["cells"][0]), 7.0);
}
