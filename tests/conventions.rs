//! Flags that mean the same in every command.

use serde_json::Value;

use crate::bad_input::place::{Place, run as run_in};
use crate::derived::with_derived;
use crate::support::{SMALL, charz, output, root, run, small_report};

fn golden() -> String {
    root().join("tests/golden/reports/waits.json").into_os_string().into_string().unwrap()
}

#[test]
fn json_is_short_for_its_format_wherever_something_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("h.db").into_os_string().into_string().unwrap();
    let golden = golden();
    output(&["history", "add", &golden, "--db", &db]);
    for line in [
        "topo --topology pu:2",
        "map --mapping dumb --threads 2",
        "kernels",
        "doctor",
        "explain",
        "explain V03",
        "render GOLDEN",
        "history list --db DB",
        "history show --db DB",
        "history plot --db DB",
        "replicate --list",
        "replicate cmt --list",
        "replicate t3-4 --from GOLDEN",
        "topo --measured GOLDEN",
        "sweep --kernel arith-int --threads 1 --dry-run",
    ] {
        let line = line.replace("GOLDEN", &golden).replace("DB", &db);
        let words = |last: &str| line.split(' ').chain([last]).map(str::to_owned).collect::<Vec<_>>();
        let short = run(words("--json"));
        assert_eq!(short.code, Some(0), "{line}: {}", short.err);
        let parsed = serde_json::from_str::<Value>(&short.out);
        assert!(parsed.is_ok_and(|value| value.is_object() || value.is_array()), "{line}: {}", short.out);
        let both = run(words("--json").into_iter().chain(["--format=json".to_owned()]));
        assert_eq!(both.code, Some(2), "{line}: {}", both.err);
    }
}

#[test]
fn a_sweep_prints_its_report_as_it_was_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let report = small_report(&file);
    let path = file.to_str().unwrap();
    // Nothing is left to measure in it, so it is printed as it is.
    let json = run(["sweep", "--resume", path, "--json"]);
    json.check_swept();
    assert_eq!(with_derived(serde_json::from_str(&json.out).unwrap()), report);
    let place = Place::new();
    let mut command = place.charz();
    command.args(SMALL).args(["--json", "--output", "new.json"]);
    let ran = run_in("a report in a file and on standard output", command);
    ran.check_swept();
    let written = std::fs::read(place.path().join("new.json")).unwrap();
    let [printed, written] = [ran.out.as_bytes(), &written].map(|text| serde_json::from_slice::<Value>(text).unwrap());
    assert!(printed == written, "what is printed is what is written");
}

#[test]
fn colours_are_chosen_for_every_command() {
    let boxes = |args: &[&str], force: bool| {
        let mut command = charz();
        command.args(args);
        if force {
            command.env("CLICOLOR_FORCE", "1");
        }
        let ran: crate::support::Ran = command.output().unwrap().into();
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran.out.contains('\u{1b}')
    };
    let topo = ["topo", "--topology", "Package:2 Core:2 PU:1", "--format", "boxes"];
    assert!(!boxes(&topo, false), "this is no terminal");
    assert!(boxes(&topo, true));
    assert!(boxes(&[&topo[..], &["--color", "always"]].concat(), false));
    assert!(boxes(&[&["--color=always"], &topo[..]].concat(), false));
    assert!(!boxes(&[&topo[..], &["--color", "never"]].concat(), true));
    assert!(!boxes(&["kernels", "--color", "never"], true));
    let refused = run(["explain", "V03", "--color", "sometimes"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("auto, always, never"), "{}", refused.err);
}

#[test]
fn a_quiet_sweep_prints_the_name_of_its_file() {
    let place = Place::new();
    let mut command = place.charz();
    command.args(SMALL).args(["-q", "-o", "new.json"]);
    let ran = run_in("quiet", command);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "new.json\n", ""));
    let again = ["sweep", "--resume", "new.json", "--quiet"];
    assert_eq!(place.accepts("nothing to measure", &again, &[]), "new.json\n");
    place.refuses("quiet and not", &["sweep", "--quiet", "--json"], &["--quiet", "--json"]);
}

#[test]
fn a_version_is_short_or_has_what_it_was_built_from() {
    let (short, long) = (output(&["-V"]), output(&["--version"]));
    assert_eq!(short.lines().count(), 1);
    assert_eq!(long.lines().next(), short.lines().next());
    let report: Value = serde_json::from_str(&std::fs::read_to_string(golden()).unwrap()).unwrap();
    // By the names that reports have for them.
    for field in ["commit", "target", "hwloc", "rustc"] {
        assert!(report["tool"][field].is_string());
        let value = long.lines().find_map(|line| line.strip_prefix(&format!("{field}: ")));
        assert!(value.is_some_and(|value| !value.is_empty()), "{field}: {long}");
    }
}
