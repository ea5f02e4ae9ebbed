//! `charz predict`: tables of other people in, predictions or the lack of a model out.

use crate::fixtures::{cell, report};
use crate::place::{Place, run};

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
