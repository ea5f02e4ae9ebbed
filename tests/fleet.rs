//! `charz fleet` as its users meet it.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Signal, geteuid};
use serde_json::Value;

use crate::bad_input::place::{Place, check_harmless, run};
use crate::compare::fixtures::{RATE, Report, cell, report};
use crate::support::{Ran, send};

/// The report of a node, with arithmetic at this rate.
fn of_node(name: &str, rate: f64) -> Report {
    let mut report = report(&[cell("arith-int", 2, rate), cell("arith-float", 2, rate)]);
    report["id"] =
        format!("{:032x}", name.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte))))
            .into();
    report["host"]["name"] = name.into();
    report
}

fn fleet(place: &Place, args: &[&str]) -> Ran {
    let mut command = place.charz();
    command.arg("fleet").args(args);
    run(args[0], command)
}

/// A place with twelve nodes, of which one is slower by a tenth.
fn twelve() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path().join("q")).unwrap();
    for at in 0..12 {
        let rate = RATE * (1.0 + 0.001 * f64::from(at % 3)) * if at == 5 { 0.9 } else { 1.0 };
        place.put(&format!("q/n{at}.json"), of_node(&format!("n{at}"), rate).to_string().as_bytes());
    }
    place
}

#[test]
fn the_slow_node_is_first_and_one_visit_is_not_enough() {
    let place = twelve();
    place.put("q/broken.json", b"{");
    let ran = fleet(&place, &["show", "q"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    check_harmless("fleet", &ran.out);
    assert!(ran.out.starts_with("12 nodes: 1 unclear, 11 ok. 1 file could not be read"), "{}", ran.out);
    assert!(
        ran.out.matches("broken.json").count() == 1 && ran.out.contains("not a usable charz report"),
        "{}",
        ran.out
    );
    let json: Value = serde_json::from_str(&fleet(&place, &["show", "q", "--format", "json"]).out).unwrap();
    let first = &json["nodes"][0];
    assert_eq!((&first["host"], &first["state"]), (&"n5".into(), &"unclear".into()));
    let blame = &first["blame"][0];
    assert_eq!(blame["component"], "node");
    assert!((blame["effect"].as_f64().unwrap() + 0.1).abs() < 0.01 && blame["interval"][1].as_f64().unwrap() < 0.0);
    assert_eq!(json["unreadable"].as_array().unwrap().len(), 1);
    let rows = fleet(&place, &["show", "q", "--format", "csv"]).out;
    assert_eq!(csv::Reader::from_reader(rows.as_bytes()).records().map(Result::unwrap).count(), 12);
    let page = fleet(&place, &["show", "q", "--format", "html"]).out;
    assert!(page.contains("n5") && page.len() < 200_000);
}

#[test]
fn a_check_answers_in_one_line_with_the_codes_of_nagios() {
    let place = twelve();
    let made = fleet(&place, &["baseline", "q", "--output", "site.toml"]);
    assert_eq!((made.code, made.out.as_str()), (Some(0), ""), "{}", made.err);
    for (file, code, word) in [
        ("q/n1.json", 0, "OK"),
        ("q/n5.json", 2, "CRITICAL"),
        ("q/none.json", 3, "UNKNOWN"),
        ("site.toml", 3, "UNKNOWN"),
    ] {
        let ran = fleet(&place, &["check", "--baseline", "site.toml", file]);
        assert_eq!(ran.code, Some(code), "{file}: {}{}", ran.out, ran.err);
        assert!(ran.out.starts_with(&format!("CHARZ {word} - ")) && ran.out.lines().count() == 1, "{}", ran.out);
    }
    let ran = fleet(&place, &["check", "--baseline", "q/n1.json", "q/n1.json"]);
    assert_eq!(ran.code, Some(3), "a report is no baseline: {}", ran.out);
    for args in [
        &["check", "q/n1.json"][..],
        &["check", "--baseline", "site.toml", "--quiet"],
        &["--color", "never", "check", "--bad"],
        &["--color=never", "check", "--baseline"],
    ] {
        let ran = fleet(&place, args);
        assert_eq!(ran.code, Some(3), "{args:?}: {}", ran.err);
        assert!(ran.out.starts_with("CHARZ UNKNOWN - ") && ran.out.lines().count() == 1, "{args:?}: {}", ran.out);
    }
    // Only a check has these codes.
    assert_eq!(fleet(&place, &["show", "check"]).code, Some(2));
    let text = std::fs::read_to_string(place.path().join("site.toml")).unwrap();
    place.put("odd.toml", text.replacen("nodes = ", "no|des\n = ", 1).as_bytes());
    let ran = fleet(&place, &["check", "--baseline", "odd.toml", "q/n1.json"]);
    assert!(ran.out.lines().count() == 1 && !ran.out.contains("\\n") && !ran.out.contains('|'), "{}", ran.out);
}

#[test]
fn folders_in_folders_are_read_and_long_names_stay_distinct() {
    let place = Place::new();
    let names = [1, 2, 3].map(|at| format!("rack1-node{at:03}.cluster.example.org"));
    for (at, name) in names.iter().enumerate() {
        let rate = if at == 0 { RATE } else { RATE / 2.0 };
        std::fs::create_dir_all(place.path().join(format!("all/visit{at}/r"))).unwrap();
        place.put(&format!("all/visit{at}/r/x.json"), of_node(name, rate).to_string().as_bytes());
    }
    place.put("all/comparison.json", br#"{"schema": {"name": "another"}}"#);
    let fifo = std::process::Command::new("mkfifo").arg(place.path().join("all/waits.json")).status();
    assert!(fifo.unwrap().success());
    let ran = fleet(&place, &["show", "all"]);
    assert!(ran.out.starts_with("3 nodes: 2 unclear, 1 ok") && ran.err.contains("2 files"), "{}{}", ran.out, ran.err);
    for at in 2..=3 {
        assert!(ran.out.lines().any(|line| line.starts_with(&format!("rack1-node{at:03} "))), "{}", ran.out);
    }
}

#[test]
fn folders_and_files_without_a_report_are_refused() {
    let place = Place::new();
    place.put("x.json", b"[]");
    for named in ["x.json", "none", "."] {
        let ran = fleet(&place, &["show", named]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{named}");
        assert!(ran.err.starts_with("charz: ") && ran.err.lines().count() == 1, "{named}: {}", ran.err);
    }
}

#[test]
fn files_that_are_named_twice_count_once_and_journals_alone_say_how_to_go_on() {
    let place = twelve();
    place.put("q/broken.json", b"{");
    place.put("q/other.json", br#"{"schema": {"name": "another"}}"#);
    let ran = fleet(&place, &["show", "q", "q/broken.json", "./q"]);
    assert!(ran.out.contains(". 1 file could not") && ran.err.contains("1 file of"), "{}{}", ran.out, ran.err);
    std::fs::create_dir(place.path().join("ended")).unwrap();
    place.put("ended/n1.json.journal", b"{\"journal\":{\"report\"");
    for args in [&["show", "ended"][..], &["baseline", "ended"], &["add", "--db", "x.db", "ended"]] {
        let ran = fleet(&place, args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains("charz sweep --resume"), "{args:?}: {}", ran.err);
    }
    assert_eq!(fleet(&place, &["show", "q", "ended"]).code, Some(0));
}

/// A folder with a good node and so many damaged reports.
fn damaged(count: usize) -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path().join("q")).unwrap();
    place.put("q/good.json", of_node("n1", RATE).to_string().as_bytes());
    (0..count).for_each(|at| place.put(&format!("q/bad{at:02}.json"), b"{\"schema\": {\"name\": \"charz-report\""));
    place
}

#[test]
fn files_that_cannot_be_read_are_named_and_the_others_count() {
    let place = damaged(14);
    let added = fleet(&place, &["add", "--db", "f.db", "q"]);
    assert_eq!(added.code, Some(2), "{}", added.err);
    assert!(added.out.starts_with("1 of 1 report added") && added.err.contains("14 of 15 files"), "{}", added.err);
    let shown = fleet(&place, &["show", "f.db", "--format", "json"]);
    let json: Value = serde_json::from_str(&shown.out).unwrap();
    assert_eq!(json["nodes"][0]["host"], "n1");
    let baseline = fleet(&place, &["baseline", "q", "--output", "site.toml"]);
    assert_eq!(baseline.code, Some(0), "{}", baseline.err);
    let text = std::fs::read_to_string(place.path().join("site.toml")).unwrap();
    assert!(text.lines().next().is_some_and(|line| line.starts_with("# Warning: left out 14 files")), "{text}");
    for err in [added.err, baseline.err] {
        let named = err.lines().filter(|line| line.contains("q/bad")).count();
        assert!(named == 10 && err.contains("left out 4 more"), "{err}");
    }
    assert_eq!(fleet(&place, &["check", "--baseline", "site.toml", "q/good.json"]).code, Some(0));
    for args in [&["add", "--db", "new.db", "q/bad01.json", "q/bad02.json"][..], &["baseline", "q/bad01.json"]] {
        let none = fleet(&place, args);
        assert_eq!((none.code, none.out.as_str()), (Some(2), ""), "{args:?}: {}", none.err);
        assert!(none.err.lines().count() == 1 && none.err.contains("q/bad01.json"), "{args:?}: {}", none.err);
    }
    assert!(!place.path().join("new.db").exists());
}

#[test]
fn names_of_nodes_cannot_steer_a_terminal() {
    const EVIL: &str = "x\u{202e}y\u{85}z\u{200f}\u{1b}[2J";
    let place = Place::new();
    let mut report = of_node(EVIL, RATE);
    report["host"]["processor"] = EVIL.into();
    report["tool"]["rustc"] = EVIL.into();
    report["cells"][0]["mapping"] = EVIL.into();
    place.put("evil.json", report.to_string().as_bytes());
    let made = fleet(&place, &["baseline", "evil.json"]);
    assert!(made.code == Some(0) && made.out.contains("202e"), "{}", made.err);
    place.put("site.toml", made.out.as_bytes());
    let checked = fleet(&place, &["check", "--baseline", "site.toml", "evil.json"]);
    assert_eq!(checked.code, Some(0), "the names are still the same: {}", checked.out);
    let added = fleet(&place, &["add", "--db", "f.db", "evil.json"]);
    let shown = ["table", "csv", "json", "html"].map(|format| fleet(&place, &["show", "f.db", "--format", format]));
    for ran in [&made, &checked, &added].into_iter().chain(&shown) {
        check_harmless("fleet", &ran.out);
        check_harmless("fleet", &ran.err);
    }
}

#[test]
fn what_is_passed_over_is_said() {
    let place = twelve();
    place.put("q/n77.json.journal", b"{\"journal\":{\"report\"");
    let locked = place.path().join("q/lost+found");
    std::fs::create_dir(&locked).unwrap();
    std::fs::set_permissions(&locked, PermissionsExt::from_mode(0o000)).unwrap();
    // Root reads every folder, but for its capabilities.
    let without: &[&str] =
        if geteuid().is_root() { &["setpriv", "--bounding-set=-all", "--inh-caps=-all"] } else { &["env"] };
    for args in [&["show", "q"][..], &["baseline", "q"], &["add", "--db", "x.db", "q"]] {
        let charz = place.charz();
        let mut command = std::process::Command::new(without[0]);
        command.args(&without[1..]).arg(charz.get_program()).arg("fleet").args(args).current_dir(place.path());
        for (name, value) in charz.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let ran = run(args[0], command);
        let said = if args[0] == "show" { &ran.out } else { &ran.err };
        let is_said = ["lost+found", "journal"].iter().all(|word| said.contains(word));
        assert!(ran.code == Some(0) && is_said, "{args:?}: {}{}", ran.out, ran.err);
    }
    std::fs::set_permissions(&locked, PermissionsExt::from_mode(0o700)).unwrap();
}

#[test]
fn a_check_that_is_stopped_says_so_and_leaves_nothing() {
    let place = twelve();
    assert_eq!(fleet(&place, &["baseline", "q", "--output", "site.toml"]).code, Some(0));
    let folder = place.path().join("tmp");
    std::fs::create_dir(&folder).unwrap();
    let mut command = place.charz();
    command.args(["fleet", "check", "--baseline", "site.toml"]).env("TMPDIR", &folder);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = || {
        let folders = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        folders.into_iter().any(|own| own.join("node.json.journal").exists())
    };
    let patience = Instant::now() + Duration::from_secs(300);
    while !begun() {
        assert!(Instant::now() < patience, "the sweep does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    send(&child, Signal::TERM);
    let ran: Ran = child.wait_with_output().unwrap().into();
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("CHARZ UNKNOWN - ") && ran.out.contains("signal"), "{}", ran.out);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_sweep_is_resumed_by_the_name_with_the_domain() {
    let place = Place::new();
    let sweep = |name: &str, more: &[&str]| {
        let mut command = place.charz();
        command.args(["sweep", "--budget", "1ms"]).args(more).env("SLURMD_NODENAME", name);
        run(name, command)
    };
    sweep("n1", &["--kernel", "arith-int", "--output", "r.json"]);
    for (name, is_refused) in [("n2.cluster.local", true), ("n1.cluster.local", false)] {
        let ran = sweep(name, &["--resume", "r.json"]);
        assert_eq!(ran.code == Some(2), is_refused, "{name}: {}", ran.err);
    }
}

/// What the guide hands out: its shell can be read, and its flags are charz's.
#[test]
fn the_scripts_of_contrib_can_be_read_and_their_flags_are_known() {
    let place = Place::new();
    let folder = crate::support::root().join("contrib/slurm");
    for script in ["node.sh", "fleet.sh"] {
        let read = std::process::Command::new("bash").arg("-n").arg(folder.join(script)).output().unwrap();
        assert!(read.status.success(), "{script}: {}", String::from_utf8_lossy(&read.stderr));
    }
    let text = std::fs::read_to_string(folder.join("node.sh")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("exec charz ")).unwrap();
    let words = line.replace("\"${1:-${REPORTS:-reports}}/{node}.json.gz\"", "none/{node}.json.gz");
    let args: Vec<&str> = words.split(' ').collect();
    // All flags are taken, and the folder is not there.
    place.refuses("node.sh", &args, &["none"]);
}

/// Where Slurm keeps the environment from its jobs, as sites may have it.
#[test]
fn the_jobs_of_contrib_know_their_folder_without_the_environment() {
    let place = Place::new();
    let slurm = "sinfo() { echo n1; }
        sbatch() { while [ $1 != node.sh ]; do shift; done; (unset REPORTS; exec() { echo \"$@\"; }; . ./\"$@\"); }
        . \"$0\"";
    let script = crate::support::root().join("contrib/slurm/fleet.sh").canonicalize().unwrap();
    let mut bash = std::process::Command::new("bash");
    let ran = bash.arg("-c").arg(slurm).arg(script).env_remove("REPORTS").current_dir(place.path()).output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    let folder = place.path().canonicalize().unwrap().join("reports/{node}.json.gz");
    assert!(said.ends_with(&format!(" --output {}\n", folder.display())), "{said}");
}
