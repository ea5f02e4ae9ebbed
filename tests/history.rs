//! `charz history` as its users meet it.

use std::ffi::OsStr;
use std::fs;

use serde_json::Value;

use crate::bad_input::place::{Place, check_harmless, run};
use crate::compare::fixtures::{RATE, Report, cell, report};
use crate::support::Ran;

/// The report of a day, with a cell at this rate.
fn of_day(day: usize, rate: f64) -> Report {
    // About one percent of noise from report to report.
    let mut report =
        report(&[cell("arith-int", 1, rate * (1.0 + 0.001 * (day * 7 % 10) as f64)), cell("arith-float", 2, RATE)]);
    report["id"] = format!("{day:032x}").into();
    report["started"] = format!("2026-01-{day:02}T12:00:00Z").into();
    report
}

/// Runs `charz history` in the place, on its own history.
#[track_caller]
fn history(place: &Place, args: &[&str]) -> Ran {
    let mut command = place.charz();
    command.arg("history").args(args).args(["--db", "h.db"]);
    run(args[0], command)
}

#[track_caller]
fn done(place: &Place, args: &[&str]) -> String {
    let ran = history(place, args);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{args:?}");
    check_harmless(args[0], &ran.out);
    ran.out
}

/// A place with a history of fourteen days, the last four of which are slower.
fn slower() -> Place {
    let place = Place::new();
    let names: Vec<String> = (1..=14).map(|day| format!("day{day}.json")).collect();
    for (day, name) in (1..).zip(&names) {
        place.put(name, of_day(day, if day > 10 { 0.8 * RATE } else { RATE }).to_string().as_bytes());
    }
    // The order does not matter.
    let args: Vec<&str> = ["add"].into_iter().chain(names.iter().rev().map(String::as_str)).collect();
    assert_eq!(done(&place, &args).lines().count(), 14);
    place
}

#[test]
fn what_is_added_is_listed_and_shown_to_the_byte() {
    let place = Place::new();
    let text = of_day(3, RATE).to_string() + "  \n\n";
    place.put("a.json", text.as_bytes());
    place.put("b.json", of_day(1, RATE).to_string().as_bytes());
    let added = done(&place, &["add", "a.json", "b.json", "--label", "new BIOS"]);
    assert!(added.starts_with("report 1: a.json, added"), "{added}");
    let again = done(&place, &["add", "a.json"]);
    assert!(again.contains("report 1") && again.contains("nothing changed"), "{again}");
    let list = done(&place, &["list"]);
    let rows: Vec<&str> = list.lines().filter(|line| line.contains("new BIOS")).collect();
    assert!(rows.len() == 2 && rows[0].contains("2026-01-01T12:00:00Z") && rows[1].contains("2026-01-03"), "{list}");
    assert_eq!(done(&place, &["show", "1", "--format", "json"]), text);
    assert_eq!(done(&place, &["show", "--format", "json"]), text, "the newest one");
    assert_eq!(done(&place, &["show", "last", "--format", "json"]), text);
    let rendered = run("render", {
        let mut command = place.charz();
        command.args(["render", "b.json"]);
        command
    });
    assert_eq!(done(&place, &["show", "2"]), rendered.out);
}

#[test]
fn a_planted_change_is_found_and_gives_comparisons_their_base() {
    let place = slower();
    let table = done(&place, &["plot"]);
    let row = table.lines().find(|line| line.starts_with("arith-int")).unwrap();
    assert!(row.contains("(2026-01-10)") && row.contains("(2026-01-11)") && row.contains("−20."), "{table}");
    let json: Value = serde_json::from_str(&done(&place, &["plot", "--format", "json", "--changed"])).unwrap();
    assert_eq!((json["changes"].as_array().unwrap().len(), json["values"].as_array().unwrap().len()), (1, 14));
    let csv = done(&place, &["plot", "--format", "csv", "--kernel", "arith-f*", "--threads", "2"]);
    assert_eq!(csv.lines().count(), 15);

    let page = |args: &[&str]| done(&place, &[&["plot", "--format", "html"], args].concat());
    for (page, word) in [
        (page(&[]), "1 of 2 series changed, the last in report"),
        (page(&["--kernel", "arith-float"]), "No change in 1 series since report"),
    ] {
        let answer = page.split("<p class=\"answer\"><strong>").nth(1).unwrap();
        assert!(answer.starts_with(word), "{}", &answer[..80]);
    }
    done(&place, &["plot", "-o", "table.txt"]);
    assert_eq!(fs::read_to_string(place.path().join("table.txt")).unwrap(), table);

    place.put("new.json", of_day(20, 0.8 * RATE).to_string().as_bytes());
    // The reports were added in reverse: report 14 is that of the first day.
    for (baseline, code, day) in [
        ("newest", 0, "2026-01-14"),
        ("last", 0, "2026-01-14"),
        ("before-change", 1, "2026-01-10"),
        ("14", 1, "2026-01-01"),
    ] {
        let mut command = place.charz();
        command.args(["compare", "new.json", "--baseline", baseline]).env("CHARZ_DB", "h.db");
        let ran = run(baseline, command);
        assert_eq!(ran.code, Some(code), "{baseline}: {}{}", ran.out, ran.err);
        let base = ran.out.lines().find(|line| line.starts_with("base ")).unwrap();
        assert!(base.contains(day) && ran.out.contains("note: the base is report"), "{baseline}: {}", ran.out);
    }
    let mut command = place.charz();
    command.args(["compare", "day1.json", "--baseline", "newest", "--db", "h.db"]);
    place.refused("nothing earlier", command, &["no report of the history", "older"]);
    for (what, args) in [
        ("two bases", &["day1.json", "day2.json", "--baseline", "newest"][..]),
        ("less than no report", &["day1.json", "--baseline", "-3"]),
        ("a sign", &["day1.json", "--baseline", "+3"]),
    ] {
        place.refuses(what, &[&["compare"], args].concat(), &["--baseline"]);
    }
}

#[test]
fn what_cannot_be_added_leaves_everything_as_it_was() {
    let place = slower();
    let mut other = of_day(20, RATE);
    other["host"]["processor"] = "another \u{1b}[2J".into();
    place.put("other.json", other.to_string().as_bytes());
    place.put("good.json", of_day(21, RATE).to_string().as_bytes());
    place.put("broken.json", b"{");
    let refuse = |what: &str, args: &[&str], words: &[&str]| {
        place.refuses(what, &[&["history"], args, &["--db", "h.db"]].concat(), words);
    };
    refuse("other machine", &["add", "good.json", "other.json"], &["\"other.json\"", "another machine", "--db"]);
    refuse("no report", &["add", "good.json", "day1.json", "broken.json"], &["\"broken.json\"", "EOF"]);
    place.refuses("no report", &["history", "add", "broken.json", "--db", "new/h.db"], &["\"broken.json\""]);
    assert!(!place.path().join("new").exists());
    refuse("missing", &["add", "nowhere.json"], &["nowhere.json"]);
    refuse("no number", &["show", "x"], &["charz history list"]);
    refuse("no such report", &["show", "99"], &["no report 99"]);
    refuse("no such series", &["plot", "--kernel", "mem-raed"], &["arith-float, arith-int"]);
    refuse("a picture of nothing", &["plot", "--format", "csv", "--figure", "x"], &["--figure"]);
    refuse("an empty label", &["add", "good.json", "--label", ""], &["--label"]);
    refuse("a long label", &["add", "good.json", "--label", &"é".repeat(201)], &["--label"]);
    assert_eq!(done(&place, &["list", "--format", "csv"]).lines().count(), 15);
}

#[test]
fn a_file_that_is_no_history_is_refused_and_left_alone() {
    let place = Place::new();
    place.put("r.json", of_day(1, RATE).to_string().as_bytes());
    place.put("text.db", "no database at all ".repeat(100).as_bytes());
    done(&place, &["add", "r.json"]);
    let whole = fs::read(place.path().join("h.db")).unwrap();
    place.put("torn.db", &whole[..whole.len() / 2]);
    for verb in [&["list"][..], &["plot"], &["show"], &["add", "r.json"]] {
        for (file, word) in [("text.db", "not a database"), (".", "regular file"), ("torn.db", "damaged")] {
            place.refuses(file, &[&["history"], verb, &["--db", file]].concat(), &[word]);
        }
    }
    place.refuses("missing", &["history", "list", "--db", "none.db"], &["there is no history", "charz history add"]);
    for file in [&*"n".repeat(300), "r.json/h.db", "/proc/h.db"] {
        place.refuses(file, &["history", "add", "r.json", "--db", file], &["--db"]);
    }
}

#[test]
fn a_link_of_another_user_is_not_followed() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can give a link to another user");
        return;
    }
    let place = Place::new();
    place.put("r.json", of_day(1, RATE).to_string().as_bytes());
    let link = |name: &str, owner| {
        let link = place.path().join(name);
        std::os::unix::fs::symlink("elsewhere.db", &link).unwrap();
        std::os::unix::fs::lchown(&link, Some(owner), None).unwrap();
    };
    link("theirs.db", 65534);
    for verb in [&["history", "add"], &["fleet", "add"]] {
        place.refuses("theirs.db", &[verb, &["r.json", "--db", "theirs.db"][..]].concat(), &["another user", "--db"]);
    }
    link("own.db", 0);
    let added = run("own.db", {
        let mut charz = place.charz();
        charz.args(["history", "add", "r.json", "--db", "own.db"]);
        charz
    });
    assert!(added.code == Some(0) && place.path().join("elsewhere.db").is_file(), "{}", added.err);
}

#[test]
fn the_file_is_in_the_data_folder_of_the_user() {
    let place = Place::new();
    place.put("r.json", of_day(1, RATE).to_string().as_bytes());
    let home = place.path().join("home");
    fs::create_dir(&home).unwrap();
    let with = |variables: &[(&str, &OsStr)], args: &[&str]| {
        let mut command = place.charz();
        command.env_remove("XDG_DATA_HOME").env_remove("HOME").envs(variables.iter().copied()).args(args);
        run(args[1], command)
    };
    assert_eq!(with(&[("HOME", home.as_os_str())], &["history", "add", "r.json"]).code, Some(0));
    assert!(home.join(".local/share/charz/history.db").is_file());
    for variables in [&[][..], &[("HOME", home.as_os_str()), ("CHARZ_DB", OsStr::new(""))]] {
        let ran = with(variables, &["history", "list"]);
        assert!(ran.code == Some(2) && ran.err.contains("--db") && ran.err.lines().count() == 1, "{}", ran.err);
    }
    let file = place.path().join("r.json");
    let ran = with(&[("HOME", file.as_os_str())], &["history", "add", "r.json"]);
    assert!(ran.code == Some(2) && ran.err.contains("--db"), "{}", ran.err);
}

#[test]
fn a_hostile_report_steers_nothing() {
    let place = Place::new();
    let evil = "=x|</td><script>\n\u{1b}[2J\u{202e}";
    let mut hostile = of_day(1, RATE);
    hostile["host"]["name"] = evil.into();
    hostile["host"]["kernel"] = evil.into();
    crate::compare::fixtures::rename_first(&mut hostile, evil);
    place.put("evil.json", hostile.to_string().as_bytes());
    done(&place, &["add", "evil.json", "--label", evil]);
    let shown = done(&place, &["show", "--format", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), hostile);
    for args in [
        &["list"][..],
        &["list", "--format", "csv"],
        &["plot"],
        &["plot", "--format", "csv"],
        &["plot", "--format", "json"],
    ] {
        let text = done(&place, args);
        assert!(text.contains("script"), "{args:?}: {text}");
    }
}
