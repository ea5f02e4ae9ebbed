//! Files that cannot be written, and outputs that go away.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use super::place::{Place, run};
use crate::compare::fixtures::{RATE, cell, report};
use crate::support::{SMALL, copy_program};

#[test]
fn outputs_that_cannot_be() {
    let place = Place::new();
    fs::create_dir(place.path().join("folder")).unwrap();
    symlink("folder", place.path().join("to-folder")).unwrap();
    symlink("mine.json", place.path().join("to-mine")).unwrap();
    symlink("elsewhere", place.path().join("dangling")).unwrap();
    assert!(Command::new("mkfifo").arg(place.path().join("fifo")).status().unwrap().success());
    let (long, longer) = ("n".repeat(240), format!("{}/report.json", "n".repeat(256)));
    let far = format!("{}report.json", "n/".repeat(3000));
    for (what, output, force, words) in [
        ("a file of the user's", "mine.json", false, &["\"mine.json\" exists", "--force"][..]),
        ("a folder", "folder", false, &["\"folder\" is a folder", "name a file in it"]),
        ("a folder by force", "folder", true, &["\"folder\" is a folder"]),
        ("a link to a folder", "to-folder", true, &["is a folder"]),
        ("a link", "to-mine", false, &["\"to-mine\" exists", "--force"]),
        ("a link by force", "to-mine", true, &["\"to-mine\" is a link", "name the file that it leads to"]),
        ("a link to nothing", "dangling", false, &["\"dangling\" exists"]),
        ("a link to nothing by force", "dangling", true, &["\"dangling\" is a link"]),
        ("a pipe by force", "fifo", true, &["\"fifo\" is not a regular file"]),
        ("a device by force", "/dev/full", true, &["\"/dev/full\" is not a regular file"]),
        ("a folder that is not there", "no/such/report.json", false, &["no folder \"no/such\"", "create it first"]),
        ("a file for a folder", "mine.json/report.json", false, &["no folder \"mine.json\""]),
        ("a system that takes no files", "/proc/report.json", false, &["--output", "name a file elsewhere"]),
        ("one with rights of its own", "/sys/report.json", false, &["--output", "name a file elsewhere"]),
        ("a name that leaves no room", &long, false, &["--output", "more than 230 bytes", "shorten"]),
        ("a name that is too long", &longer, false, &["--output", "create it first"]),
        ("a path that is too long", &far, false, &["--output", "create it first"]),
        ("braces of nothing", "{hots}.json", false, &["{hots}", "{host}", "{job}"]),
        ("what steers a terminal", "\u{1b}[2J/a", false, &[r#"no folder "\u{1b}[2J""#]),
    ] {
        let force: &[&str] = if force { &["--force"] } else { &[] };
        place.refuses(what, &[&SMALL[..], &["--output", output], force].concat(), words);
    }
    place.put("r.json", report(&[cell("arith-int", 1, RATE)]).to_string().as_bytes());
    for output in ["fifo", "/dev/full"] {
        let words = ["--output", "not a regular file", "name another file"];
        place.refuses(output, &["render", "r.json", "--format", "html", "-o", output], &words);
    }
    assert!(!place.path().join("elsewhere").exists());
    let forced = [&SMALL[..], &["--force", "--output", "mine.json"]].concat();
    let mut command = place.charz();
    command.args(forced);
    run("by force", command).check_swept();
    assert_ne!(fs::read(place.path().join("mine.json")).unwrap(), b"mine");
}

/// A place where nothing can be written has one code, whatever was to be written, and is refused before minutes are spent.
#[test]
fn every_output_is_refused_alike() {
    let place = Place::new();
    place.put("r.json", report(&[cell("arith-int", 1, RATE)]).to_string().as_bytes());
    for line in [
        "topo --format svg -o /proc/x",
        "topo --measured -o /proc/x",
        "map --mapping dumb --threads 1 -o /proc/x",
        "kernels -o /proc/x",
        "render r.json --format html -o /proc/x",
        "compare r.json r.json -o /proc/x",
        "advise r.json -o /proc/x",
        "predict r.json --mapping dumb --threads 1 -o /proc/x",
        "fleet show r.json -o /proc/x",
        "fleet baseline r.json -o /proc/x",
        "replicate t3-4 --from r.json -o /proc/x",
        "audit --budget 1s -o /proc/x",
        "audit --budget 1s --write /proc/x",
        "sweep --kernel arith-int --mapping dumb --threads 1 --output /proc/x.json",
        "history add r.json --db /proc/x",
        "fleet add r.json --db /proc/x",
    ] {
        place.refuses(line, &line.split(' ').collect::<Vec<_>>(), &["/proc/x"]);
    }
}

#[test]
fn no_device_or_folder_is_read() {
    let place = Place::new();
    place.put("r.json", report(&[cell("arith-int", 1, RATE)]).to_string().as_bytes());
    fs::create_dir(place.path().join("folder")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.path().join("socket")).unwrap();
    for line in [
        "render @",
        "lockutil -n 1 @",
        "predict @ --mapping dumb --threads 1",
        "predict --table @ --topology pu:2",
        "topo --topology @",
        "topo --measured @",
        "sweep --config @ --dry-run",
        "sweep --resume @",
        "compare r.json @",
        "history list --db @",
        "history add @ --db new.db",
        "fleet show @",
        "fleet add @ --db new.db",
        "fleet baseline @",
        "replicate t3-4 --from @",
        "advise @",
    ] {
        for (input, why) in [("/dev/zero", "regular file"), ("folder", ""), ("socket", "")] {
            let words: Vec<&str> = line.split(' ').map(|word| if word == "@" { input } else { word }).collect();
            place.refuses(line, &words, &[input, why]);
        }
    }
}

/// As `<(perf lock report)` is one.
#[test]
fn a_listing_may_come_through_a_pipe() {
    let place = Place::new();
    let told = |file: &str| {
        let (pipe, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"no wait").unwrap();
        drop(writer);
        let output = place.charz().args(["lockutil", "-n", "1", file]).stdin(pipe).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(told("/dev/fd/0").contains("there is no wait") && told("-").contains("there is no wait"));
}

/// Root may write anywhere, so the program runs as the user nobody here.
#[test]
fn a_folder_without_the_right_to_write() {
    let place = Place::new();
    let lock = tempfile::tempdir().unwrap();
    fs::set_permissions(lock.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let nobody = |args: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).args(args);
        // What cargo sets for the build of this test is none of charz's variables.
        command.current_dir(place.path()).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("CHARZ_LOCK_DIR", lock.path());
        command
    };
    let binary = env!("CARGO_BIN_EXE_charz");
    fs::set_permissions(place.path(), std::os::unix::fs::PermissionsExt::from_mode(0o555)).unwrap();
    if !nobody(&[binary, "--version"]).output().is_ok_and(|output| output.status.success()) {
        println!("needs root, and a program that the user nobody can reach");
        return;
    }
    let args = [&[binary], &SMALL[..], &["--output", "report.json"]].concat();
    place.refused(
        "a folder of another user",
        nobody(&args),
        &["--output", "name a file elsewhere", "ermission denied"],
    );
}

#[test]
fn a_program_with_the_rights_of_another_user_does_nothing() {
    use std::os::unix::fs::{PermissionsExt, chown};
    let place = Place::new();
    let copy = place.path().join("charz");
    copy_program(Path::new(env!("CARGO_BIN_EXE_charz")), &copy);
    if chown(&copy, Some(65534), Some(65534)).is_err() {
        println!("needs root, which can give a program to the user nobody");
        return;
    }
    for (what, mode) in [("setuid", 0o4755), ("setgid", 0o2755)] {
        fs::set_permissions(&copy, PermissionsExt::from_mode(mode)).unwrap();
        let mut command = Command::new(&copy);
        command.args(["topo", "--topology", "pu:2"]);
        let ran = run(what, command);
        if ran.code == Some(0) {
            println!("this file system is mounted with nosuid");
            return;
        }
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{what}: {}", ran.err);
        assert!(ran.err.contains("setuid and setgid bits away"), "{what}: {}", ran.err);
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let place = Place::new();
    let mut child = place
        .charz()
        .args(["topo", "--format", "table", "--topology", "Package:64 Core:64 PU:8"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_full_output_device_is_one() {
    let place = Place::new();
    for args in [&["topo"][..], &["--help"], &["docs", "man"], &["kernels", "--format", "json"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = place.charz().args(args).stdout(full).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{args:?}");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(complaint.lines().count(), 1, "{args:?}: {complaint}");
        assert!(complaint.contains("standard output"), "{args:?}: {complaint}");
    }
}

/// Files may have 4 KiB, or the 12 KiB of a history without reports, which the system otherwise enforces by a signal that
/// ends the process.
#[test]
fn files_that_may_not_grow_end_in_a_sentence() {
    let place = Place::new();
    place.put("r.json", report(&[cell("arith-int", 1, RATE)]).to_string().as_bytes());
    for (blocks, line, left) in [
        (8, "render r.json --format html --output x.html", None),
        (8, "render r.json --format html > x.html", Some("x.html")),
        (8, "history add r.json --db x.db", None),
        (24, "history add r.json --db x.db", None),
    ] {
        let mut command = Command::new("sh");
        let limited = format!("ulimit -f {blocks}; \"$0\" {line}");
        command.current_dir(place.path()).args(["-c", &limited, env!("CARGO_BIN_EXE_charz")]);
        let ran = run(line, command);
        assert_eq!((ran.code, ran.err.lines().count()), (Some(3), 1), "{line}: {}", ran.err);
        let mut names: Vec<_> = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        let expected = ["mine.json", "r.json"].into_iter().chain(left).collect::<Vec<_>>();
        assert_eq!(names, expected, "{line}");
        left.into_iter().for_each(|name| fs::remove_file(place.path().join(name)).unwrap());
    }
}

#[test]
fn streams_that_are_closed_end_nothing_in_a_panic() {
    let place = Place::new();
    for (what, redirection, code) in
        [("no output", "topo >&-", 0), ("no errors", "topo --bogus 2>&-", 2), ("no input", "topo <&- >/dev/null", 0)]
    {
        let mut command = Command::new("sh");
        let line = format!("\"$0\" {redirection}");
        command.current_dir(place.path()).args(["-c", &line, env!("CARGO_BIN_EXE_charz")]);
        let ran = run(what, command);
        assert_eq!((ran.code, ran.err.as_str()), (Some(code), ""), "{what}");
    }
}
