//! A report that does not say whose it is: a mark is put into every text of a report, and looked for in all that charz makes of it.

mod marks;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use charz_data::ProgramValue;
use charz_render::formats::{Draw, FORMATS};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::derived::with_derived;
use crate::support::{Ran, charz, cpus, read_json, run, send, write_program};
use marks::{KERNEL, KNOWN, MAPPER, Marker, NUMBERS, STAYS, everything};

/// What a text of some program has of these.
#[track_caller]
fn check_clean(what: &str, text: &str, out: &[String]) {
    let found: Vec<&String> = out.iter().filter(|mark| text.contains(mark.as_str())).collect();
    assert!(found.is_empty(), "{what}: {found:?} in\n{text}");
}

/// The names of the figures that a report has.
fn figures(report: &Path) -> Vec<String> {
    let ran = run([OsStr::new("render"), report.as_ref(), "--anonymous".as_ref(), "--format=svg".as_ref()]);
    let list = ran.err.split_once("--figure: ").map(|(_, list)| list.trim().to_owned()).unwrap_or_default();
    list.split(", ").map(str::to_owned).collect()
}

#[test]
fn nothing_that_is_made_of_an_anonymous_report_says_whose_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut marker = Marker::new();
    let kinds = [ProgramValue::Regex("x".into()), ProgramValue::Json("x".into())];
    let files: Vec<PathBuf> = kinds
        .into_iter()
        .enumerate()
        .map(|(at, value)| {
            let file = folder.path().join(format!("zqfile{at}qz.json"));
            let report = marker.marked(&everything(at, value));
            fs::write(&file, serde_json::to_string(&report).unwrap()).unwrap();
            file
        })
        .collect();
    // A new field with a text gets its mark, and is in one of the lists.
    let texts = marker.all_texts();
    let got = marker.marks.keys().map(String::as_str).chain(KNOWN.iter().copied()).collect::<BTreeSet<_>>();
    assert_eq!(texts.iter().map(String::as_str).collect::<BTreeSet<_>>(), got);
    let (stays, left): (Vec<_>, Vec<_>) = marker.marks.iter().partition(|(field, _)| STAYS.contains(&field.as_str()));
    assert!(STAYS.iter().all(|field| marker.marks.contains_key(*field)));
    let stays: Vec<&String> = stays.into_iter().map(|(_, mark)| mark).collect();
    let mut out: Vec<String> = left.into_iter().map(|(_, mark)| mark.clone()).collect();
    out.extend([MAPPER, "zqfile"].map(str::to_owned).into_iter().chain(NUMBERS.map(|number| number.to_string())));
    let shown = |file: &Path, format: &str, flags: &[&str]| -> Ran {
        let words = ["render".as_ref(), file.as_os_str(), "--format".as_ref(), format.as_ref()];
        run(words.into_iter().chain(flags.iter().map(OsStr::new)))
    };
    for (at, file) in files.iter().enumerate() {
        let json = shown(file, "json", &["--anonymous"]);
        assert_eq!(json.code, Some(0), "{}", json.err);
        check_clean("json", &json.out, &out);
        let missing: Vec<&&String> = stays.iter().filter(|mark| !json.out.contains(mark.as_str())).collect();
        assert!(missing.is_empty() && json.out.contains(KERNEL), "{missing:?}");
        let sent = folder.path().join(format!("sent{at}.json"));
        fs::write(&sent, &json.out).unwrap();
        for (file, flags) in [(file, ["--anonymous"].as_slice()), (&sent, &[])] {
            for format in FORMATS {
                let names = match format.write {
                    Draw::Figure(_) => figures(file),
                    // Its pixels are those of the other.
                    Draw::Binary(_) => continue,
                    _ => vec![String::new()],
                };
                assert!(!names.is_empty());
                let mut text = String::new();
                for name in names {
                    let figure = if name.is_empty() { Vec::new() } else { vec!["--figure", &name] };
                    let ran = shown(file, format.name, &[flags, &figure].concat());
                    assert_eq!(ran.code, Some(0), "{}: {}", format.name, ran.err);
                    text += &(ran.out + &ran.err);
                }
                check_clean(format.name, &text, &out);
                // Each has the numbers of some cells only.
                let has_all = !["bigger-is-better", "smaller-is-better", "hyperfine"].contains(&format.name);
                assert!(!has_all || text.contains(KERNEL) && text.contains("dumb"), "{}: {text}", format.name);
                let has_processor = text.contains(&marker.marks["Host.processor"]);
                assert!(has_processor || !has_all || ["svg", "bmf"].contains(&format.name), "{}", format.name);
            }
        }
    }
    // Several at once have the names of no file.
    for format in ["html", "markdown", "csv"] {
        let ran = run([
            "render".as_ref(),
            files[0].as_os_str(),
            files[1].as_ref(),
            "--format".as_ref(),
            format.as_ref(),
            "--anonymous".as_ref(),
        ]);
        assert_eq!(ran.code, Some(0), "{format}: {}", ran.err);
        check_clean(format, &ran.out, &out);
    }
    // Without the flag, marks are there.
    let whole = shown(&files[0], "html", &[]);
    assert!(out.iter().any(|mark| whole.out.contains(mark.as_str())));
    // Every command that reads a report takes the anonymous ones.
    let (sent, database) = (folder.path().join("sent0.json"), folder.path().join("x.db"));
    let other = folder.path().join("sent1.json");
    let [sent, other, database] = [&sent, &other, &database].map(|file| file.to_str().unwrap());
    let history = folder.path().join("h.db");
    let history = history.to_str().unwrap();
    for (line, codes) in [
        (vec!["compare", sent, sent], &[0, 5][..]),
        (vec!["compare", sent, other, "--cross-plan"], &[0, 5]),
        (vec!["advise", sent, "-v"], &[0, 5]),
        (vec!["predict", sent, "--mapping", "dumb", "--threads", "2"], &[0, 5]),
        (vec!["replicate", "t3-4", "--from", sent], &[0, 5]),
        (vec!["history", "--db", history, "add", sent, other], &[0]),
        (vec!["history", "--db", history, "list"], &[0]),
        (vec!["history", "--db", history, "plot"], &[0, 5]),
        (vec!["history", "--db", history, "show", "1", "--format", "html"], &[0]),
        (vec!["fleet", "show", sent, other], &[0]),
        (vec!["fleet", "show", sent, other, "--format", "html"], &[0]),
        (vec!["fleet", "add", "--db", database, sent, other], &[0]),
        (vec!["fleet", "show", database], &[0]),
        (vec!["fleet", "baseline", database], &[0, 5]),
        (vec!["sweep", "--resume", sent], &[2]),
        (vec!["advise", sent, "--validate"], &[2]),
    ] {
        let ran = run(&line);
        assert!(ran.code.is_some_and(|code| codes.contains(&code)), "{line:?}: {:?}: {}{}", ran.code, ran.out, ran.err);
        check_clean(&format!("{line:?}"), &(ran.out + &ran.err), &out);
    }
    let texts = |file: &str, column: &str| -> Vec<Vec<u8>> {
        let database = rusqlite::Connection::open(file).unwrap();
        let mut rows = database.prepare(&format!("SELECT CAST({column} AS BLOB) FROM report")).unwrap();
        rows.query_map((), |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    for (file, column) in [(database, "compact"), (history, "text"), (history, "summary")] {
        let all = texts(file, column);
        assert_eq!(all.len(), 2, "{file}");
        for text in all {
            let text = charz_data::report::unpacked(column, text.as_slice()).unwrap();
            check_clean(file, &String::from_utf8_lossy(&text), &out);
        }
    }
}

/// A folder with a program and a mapper that say their marks, and what neither a report nor a line of an anonymous sweep of them may have.
struct Site {
    folder: tempfile::TempDir,
}

const PRIVATE: [&str; 9] =
    ["zqprogram", "zqargument", "zqerror", "zqmapper", "zqlabel", "zqnode", "zqvariable", "zqvalue", "zqsetup"];

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // With two threads it fails.
        let text = "#!/bin/sh\necho zqerror >&2\n[ $2 = 2 ] && exit 3\necho zqvalue 5\n";
        write_program(&folder.path().join("zqprogram"), text);
        write_program(&folder.path().join("zqmapper"), &format!("#!/bin/sh\ncat > /dev/null\necho {}\n", cpus()[0]));
        write_program(&folder.path().join("zqsetup"), "#!/bin/sh\necho zqerror >&2\n");
        Site { folder }
    }

    fn sweep(&self, flags: &[&str]) -> Ran {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        let command = format!("zqvariable=1 {} zqargument {{threads}}", path("zqprogram"));
        let (setup, mapper) = (path("zqsetup"), format!("command:{}", path("zqmapper")));
        let args = ["sweep", "--anonymous", "--command", &command, "--setup", &setup, "--value", "regex:zqvalue (.*)"];
        charz()
            .current_dir(&self.folder)
            .env("SLURMD_NODENAME", "zqnode")
            .args(args)
            .args(["--mapping", "auto", "--mapping", &mapper, "--threads", "1,2", "--runs", "2", "--budget", "3m"])
            .args(["--label", "rack=zqlabel"])
            .args(flags)
            .output()
            .unwrap()
            .into()
    }
}

fn private() -> Vec<String> {
    PRIVATE.map(str::to_owned).to_vec()
}

#[test]
fn an_anonymous_sweep_prints_and_writes_nothing_of_its_site() {
    for (flags, is_json) in
        [(vec!["-o", "r.json"], false), (vec!["-o", "r.json", "-v"], false), (vec!["-o", "-"], true)]
    {
        let site = Site::new();
        let ran = site.sweep(&flags);
        // Two threads have no result.
        assert_eq!(ran.code, Some(3), "{flags:?}: {}", ran.err);
        check_clean("standard output", &ran.out, &private());
        check_clean("standard error", &ran.err, &private());
        assert!(ran.out.contains("command"), "{}", ran.out);
        let text = if is_json { ran.out } else { fs::read_to_string(site.folder.path().join("r.json")).unwrap() };
        check_clean("the report", &text, &private());
        let report = with_derived(serde_json::from_str(&text).unwrap());
        assert_eq!((&report["anonymous"], &report["host"]["name"]), (&true.into(), &Value::Null));
        assert_eq!(report["plan"]["program"]["command"], "PROGRAM {threads}");
        assert_eq!(report["plan"]["mappings"], json!(["auto", "command:PROGRAM 1"]));
        let cells = report["cells"].as_array().unwrap();
        let is_failed = |cell: &Value| cell["workers"] == 2 && cell["status"] == "failed";
        assert!(cells.iter().any(is_failed) && cells.iter().any(|cell| cell["value"] == 5.0), "{cells:?}");
        assert!(report["host"]["processor"].is_string() || report["machine"]["packages"][0]["model"].is_null());
    }
}

#[test]
fn a_name_that_nobody_chose_is_not_that_of_the_host() {
    let site = Site::new();
    let ran = site.sweep(&["-q"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    let name = ran.out.trim().strip_prefix("charz-").and_then(|rest| rest.strip_suffix(".json")).unwrap();
    assert!(name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'), "{name}");
    // A complete one is complete for a job that is started again.
    let again = site.sweep(&["--continue", "-o", ran.out.trim()]);
    assert!(again.code == Some(3) && again.out.contains("nothing is left to measure"), "{}{}", again.out, again.err);
    check_clean("it", &again.out, &private());
}

/// The sweep of [`killed`].
fn long(folder: &Path) -> Command {
    const LINE: &str = "sweep --kernel arith-int --mapping dumb --threads 1-4 --steps 100000 --iterations 2 --runs 12 \
                        --budget 5m --label rack=zqlabel -o r.json";
    let mut command = charz();
    command.current_dir(folder).args(LINE.split_whitespace());
    command
}

/// A sweep that is killed once its journal has a run.
fn killed(folder: &Path, flags: &[&str]) -> PathBuf {
    let (file, journal) = (folder.join("r.json"), folder.join("r.json.journal"));
    let mut child = long(folder).args(flags).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let patience = Instant::now() + Duration::from_secs(600);
    while fs::read_to_string(&journal).unwrap_or_default().lines().count() < 3 {
        assert!(Instant::now() < patience, "the sweep gets nowhere");
        std::thread::sleep(Duration::from_millis(5));
    }
    send(&child, Signal::KILL);
    child.wait().unwrap();
    file
}

#[test]
fn a_journal_is_private_and_is_finished_as_it_was_begun() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let file = killed(folder.path(), &["--anonymous"]);
    let journal = folder.path().join("r.json.journal");
    assert_eq!(fs::metadata(&journal).unwrap().permissions().mode() & 0o077, 0);
    assert!(fs::read_to_string(&journal).unwrap().contains("zqlabel"));
    let resume = |flags: &[&str]| {
        run(["sweep".as_ref(), "--resume".as_ref(), file.as_os_str()].into_iter().chain(flags.iter().map(OsStr::new)))
    };
    let ran = resume(&["--budget", "30m"]);
    ran.check_swept();
    let text = fs::read_to_string(&file).unwrap();
    for (what, text) in [("the report", &text), ("standard output", &ran.out), ("standard error", &ran.err)] {
        check_clean(what, text, &["zqlabel".to_owned()]);
    }
    assert!(!journal.exists() && read_json(&file)["complete"] == true);
    // It is complete, so nothing has to be known of its machine; an incomplete one is not measured further.
    assert_eq!(resume(&[]).code, ran.code);
    fs::write(&file, text.replace("\"complete\":true", "\"complete\":false")).unwrap();
    let refused = resume(&[]);
    assert!(refused.code == Some(2) && refused.err.contains("anonymous"), "{}", refused.err);
}

#[test]
fn a_report_that_says_whose_it_is_is_not_continued_as_an_anonymous_one() {
    let folder = tempfile::tempdir().unwrap();
    killed(folder.path(), &[]);
    let ran: Ran = long(folder.path()).args(["--continue", "--anonymous"]).output().unwrap().into();
    assert!(ran.code == Some(2) && ran.err.contains("--anonymous"), "{}", ran.err);
    assert_eq!(run(["sweep", "--anonymous", "--resume", "r.json"]).code, Some(2));
}
