//! Another user of the machine, whose files lie under the names that charz expects, in a folder that the neighbour shares with a victim.
//!
//! Root makes all of it: charz and the system see only who owns a file, and who may write to its folder.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use fastrand::Rng;
use flate2::Compression;
use flate2::write::GzEncoder;
use rusqlite::Connection;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;
use serde_json::Value;
use xtask::packages::{self, Need};
use xtask::{Failure, Outcome, process, workspace};

use super::case::{Case, failed};
use super::kills;
use super::laws::Run;
use super::lines::{self, LINES};
use super::mutant;
use super::reports::{JOURNAL, REPORT};
use super::{Lacks, Target, pick};

pub const NAME: &str = "neighbour";

/// Ends the name of the folder that the neighbour has for himself.
const FOLDER: &str = "neighbour";

/// Users without an account.
const NEIGHBOUR: u32 = 64_318;
pub const VICTIM: u32 = 64_319;
const ROOT: u32 = 0;

/// Folders that the two share: the owner, the group and the mode.
const FOLDERS: [(u32, u32, u32); 6] = [
    (ROOT, ROOT, 0o1777),
    (ROOT, ROOT, 0o777),
    (ROOT, NEIGHBOUR, 0o775),
    (VICTIM, NEIGHBOUR, 0o3775),
    (NEIGHBOUR, NEIGHBOUR, 0o755),
    (NEIGHBOUR, NEIGHBOUR, 0o1777),
];

/// Modes of the neighbour's files.
const MODES: [u32; 4] = [0o644, 0o644, 0o666, 0o600];

/// A file below the shared folder that is the victim's alone, as is its folder.
const PRIVATE: &str = "private/own";

/// How a report may be named, and its file then; NAME is that of the line, HOST that of this machine.
const READ: [[&str; 2]; 6] = [
    [".", "any.json"],
    ["NAME", "NAME"],
    ["NAME", "NAME"],
    ["NAME.gz", "NAME.gz"],
    ["last", "charz-HOST-20990101-000000.json"],
    ["last", "charz-HOST-20990101-000000.json.gz"],
];
const WRITTEN: [[&str; 2]; 4] =
    [["NAME", "NAME"], ["NAME.gz", "NAME.gz"], ["{node}.json", "HOST.json"], ["{host}.json.gz", "HOST.json.gz"]];

/// A sweep that runs the neighbour's program.
const SWEEP: &str = "sweep --command PROGRAM --value last --setup PROGRAM --threads 1,2 --mapping dumb,auto";

/// One that the victim began.
const OWN: &str = "sweep --command true --threads 1 --mapping dumb --runs 2 --budget 4s --output r.json -q";
const KEY: &str = ".local/state/charz/key";

/// How it ends, and the file that is left.
const ENDS: [(&str, Option<Signal>, &str); 3] = [
    ("--runs 3 --budget 4s --output r.json -q", None, REPORT),
    ("--runs 200 --budget 20s --output r.json -q", Some(Signal::INT), REPORT),
    ("--runs 200 --budget 20s --output r.json -q", Some(Signal::KILL), JOURNAL),
];

/// The lock of what measures.
const LOCK: &str = "charz.lock";

const SETPRIV: Need = Need::new("setpriv", "it runs charz as another user", ["util-linux"; 4]);

/// What the neighbour has to put where charz expects something.
#[derive(Clone, Default)]
pub struct Hostile {
    /// Reports that run his program, finished and not.
    reports: Vec<Vec<u8>>,
    journals: Vec<Vec<u8>>,
    /// A report that the victim began, of a program of the victim's.
    own: Value,
    /// By which charz knows that the victim began it: another user can copy its words, but does not know this.
    key: Vec<u8>,
    /// His program, quoted.
    program: String,
    /// The users that his program ran as, a line each.
    ran: PathBuf,
}

/// What a name in a command line is to charz.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Report,
    Database,
    Settings,
    /// A file that may be a pipe too, which is waited for.
    Stream,
    Other,
    Output,
    Lock,
}

/// What is drawn, as often as it stands here.
const DRAWN: [Kind; 13] = {
    use Kind::{Database, Lock, Other, Output, Report, Settings, Stream};
    [Report, Report, Report, Report, Report, Database, Database, Database, Settings, Stream, Other, Output, Lock]
};

/// Where the neighbour puts something.
struct Spot<'a> {
    target: &'a Target,
    /// The shared folder.
    folder: PathBuf,
    path: PathBuf,
    /// What its file is called in [`LINES`].
    name: String,
    victim: u32,
    /// What the victim types.
    line: String,
    /// The neighbour's program, quoted.
    program: &'a str,
}

/// Puts something there; the answer is whether the file of that name is still the victim's, so nothing of it may change.
type Put = fn(&Spot<'_>, &mut Rng) -> Outcome<bool>;

const ANY: [Kind; 6] = [Kind::Report, Kind::Database, Kind::Settings, Kind::Other, Kind::Output, Kind::Lock];

#[rustfmt::skip]
const THINGS: [(&[Kind], &str, Put); 21] = [
    (&[Kind::Report], "his report", |spot, rng| spot.his("", &spot.report(rng), rng)),
    (&[Kind::Report], "a copy of his report", |spot, rng| spot.copied("", &spot.report(rng))),
    (&[Kind::Report], "a copy of his journal", |spot, rng| spot.copied(".journal", &spot.journal(rng))),
    (&[Kind::Report], "his report with his journal", |spot, rng| {
        spot.his("", &spot.report(rng), rng)?;
        spot.his(".journal", &spot.journal(rng), rng)
    }),
    (&[Kind::Report], "his journal alone", |spot, rng| spot.his(".journal", &spot.journal(rng), rng)),
    (&[Kind::Report], "his journal beside a report of the victim", |spot, rng| {
        spot.copied("", spot.target.prepared.hostile.own.to_string().as_bytes())?;
        spot.his(".journal", &spot.journal(rng), rng).map(|_| true)
    }),
    (&[Kind::Report], "a link to his report", |spot, rng| {
        write(&spot.folder.join("his"), &spot.report(rng), NEIGHBOUR, 0o644)?;
        spot.link("", "his")
    }),
    (&[Kind::Report], "a link to his journal", |spot, rng| {
        write(&spot.folder.join("his"), &spot.journal(rng), NEIGHBOUR, 0o644)?;
        spot.link(".journal", "his")
    }),
    (&[Kind::Report], "a link to a report of the victim", |spot, _| spot.link_to_own("", REPORT)),
    (&[Kind::Report], "a link to a journal of the victim", |spot, _| spot.link_to_own(".journal", JOURNAL)),
    (&[Kind::Database], "his database", |spot, _| spot.database("SELECT 1")),
    (&[Kind::Database], "his database with a trigger that never ends", |spot, _| spot.database(ENDLESS)),
    (&[Kind::Database], "his database with a view for a table", |spot, _| {
        spot.database("ALTER TABLE report RENAME TO other; CREATE VIEW report AS SELECT * FROM other")
    }),
    (&[Kind::Database], "his journal of SQLite", |spot, rng| spot.play("-journal", rng)),
    (&[Kind::Database], "his write-ahead log of SQLite", |spot, rng| spot.play("-wal", rng)),
    (&[Kind::Database], "a link beside the victim's database", |spot, rng| {
        spot.own(&spot.path, &spot.name)?;
        spot.link_to_own(pick::<&str>(&["-journal", "-wal", "-shm"], rng), "l.txt").map(|_| true)
    }),
    (&[Kind::Database], "a link to a database of the victim", |spot, _| spot.link_to_own("", &spot.name)),
    (&[Kind::Settings], "his settings, which name his program", |spot, rng| {
        let program = &spot.program;
        let settings = match rng.bool() {
            true => format!("command = {program:?}\nsetup = {program:?}\nvalue = \"last\"\n"),
            false => format!("mapping = {:?}\nkernel = \"noop\"\n", format!("command:{program}")),
        };
        spot.his("", settings.as_bytes(), rng)
    }),
    (&[Kind::Settings, Kind::Stream, Kind::Other, Kind::Database], "a file like it", |spot, rng| {
        spot.his("", &mutant::of(spot.target.file(&spot.name).unwrap_or_default(), rng), rng)
    }),
    (&[Kind::Stream, Kind::Other, Kind::Output, Kind::Lock], "a link to a file of the victim", |spot, _| spot.link_to_own("", "l.txt")),
    (&ANY, "a link to nothing, a pipe or a folder", |spot, rng| match rng.u8(..3) {
        0 => spot.link("", "private/new"),
        1 => {
            mknodat(CWD, &spot.path, FileType::Fifo, Mode::empty(), 0).map_err(|error| failed(error.into()))?;
            set(&spot.path, [NEIGHBOUR; 2], 0o666).map(|()| false)
        }
        _ => {
            fs::create_dir(&spot.path).map_err(failed)?;
            set(&spot.path, [NEIGHBOUR; 2], 0o777).map(|()| false)
        }
    }),
];

const ENDLESS: &str = "DELETE FROM report; CREATE TRIGGER t AFTER INSERT ON report BEGIN SELECT count(*) FROM (WITH RECURSIVE \
    c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c WHERE x < 0); END";

impl Spot<'_> {
    fn beside(&self, end: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(end);
        path.into()
    }

    /// A file of the neighbour.
    fn his(&self, end: &str, bytes: &[u8], rng: &mut Rng) -> Outcome<bool> {
        write(&self.beside(end), bytes, NEIGHBOUR, *pick(&MODES, rng)).map(|()| false)
    }

    /// A file of his that came by mail, so the victim owns it.
    fn copied(&self, end: &str, bytes: &[u8]) -> Outcome<bool> {
        write(&self.beside(end), bytes, self.victim, 0o644).map(|()| false)
    }

    /// A file of the victim, as charz takes it.
    fn own(&self, path: &Path, name: &str) -> Outcome {
        write(path, self.target.file(name).unwrap_or_default(), self.victim, 0o644)
    }

    fn link(&self, end: &str, to: &str) -> Outcome<bool> {
        let path = self.beside(end);
        symlink(to, &path).and_then(|()| lchown(&path, Some(NEIGHBOUR), Some(NEIGHBOUR))).map_err(failed)?;
        Ok(false)
    }

    fn link_to_own(&self, end: &str, name: &str) -> Outcome<bool> {
        self.own(&self.folder.join(PRIVATE), name)?;
        self.link(end, PRIVATE)
    }

    fn report(&self, rng: &mut Rng) -> Vec<u8> {
        self.begun(&self.target.prepared.hostile.reports, rng)
    }

    fn journal(&self, rng: &mut Rng) -> Vec<u8> {
        self.begun(&self.target.prepared.hostile.journals, rng)
    }

    /// One that says that the victim's own line began it here, or no line at all, and that it is the report of the victim.
    fn begun(&self, files: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
        let Some(file) = rng.choice(files) else { return Vec::new() };
        let head = file.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
        let mut value: Value = serde_json::from_slice(head).unwrap_or_default();
        let report = if value["journal"].is_object() { &mut value["journal"]["report"] } else { &mut value };
        report["command"] = if rng.u8(..4) > 0 { &self.line[..] } else { "x" }.into();
        for member in ["id", "seal"] {
            report[member] = self.target.prepared.hostile.own[member].clone();
        }
        report["plan"]["program_identity"]["folder"] = self.folder.to_string_lossy().into();
        let mut text = value.to_string();
        if rng.u8(..4) == 0 {
            let mapper = Value::from(format!("command:{}", self.program)).to_string();
            text = text.replace("\"dumb\"", &mapper);
        }
        [text.as_bytes(), b"\n", &file[head.len()..]].concat()
    }

    /// His database, which was one of the victim once.
    fn database(&self, sql: &str) -> Outcome<bool> {
        self.own(&self.path, &self.name)?;
        changed(&self.path, sql)?;
        set(&self.path, [NEIGHBOUR; 2], 0o666).map(|()| false)
    }

    /// What SQLite has beside a database while it is changed: of the neighbour's, beside the victim's.
    fn play(&self, end: &str, rng: &mut Rng) -> Outcome<bool> {
        let his = self.folder.join("his");
        for path in [&self.path, &his] {
            self.own(path, &self.name)?;
        }
        let mode = if end == "-wal" { "WAL" } else { "DELETE" };
        // A journal has pages as they were before, so there is something before.
        let sql = format!("PRAGMA journal_mode = {mode}; PRAGMA synchronous = OFF; PRAGMA user_version = 77;");
        let open = changed(&his, &(sql + "BEGIN IMMEDIATE; PRAGMA user_version = 78;"))?;
        let bytes = fs::read(self.folder.join(format!("his{end}"))).map_err(failed)?;
        drop(open);
        fs::remove_file(his).map_err(failed)?;
        self.his(end, &bytes, rng).map(|_| true)
    }
}

/// Sets who owns a file or folder, and its mode.
pub fn set(path: &Path, [user, group]: [u32; 2], mode: u32) -> Outcome {
    let owned = chown(path, Some(user), Some(group));
    owned.and_then(|()| fs::set_permissions(path, Permissions::from_mode(mode))).map_err(failed)
}

/// Writes a file, compressed where its name says so.
fn write(path: &Path, bytes: &[u8], user: u32, mode: u32) -> Outcome {
    let packed = path.extension().is_some_and(|extension| extension == "gz");
    fs::write(path, if packed { gzip(bytes)? } else { bytes.to_vec() }).map_err(failed)?;
    set(path, [user; 2], mode)
}

fn gzip(bytes: &[u8]) -> Outcome<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).and_then(|()| packed.finish()).map_err(failed)
}

/// Changes a database, and leaves it open.
fn changed(path: &Path, sql: &str) -> Outcome<Connection> {
    let open = Connection::open(path).and_then(|open| open.execute_batch(sql).map(|()| open));
    open.map_err(|error| failed(io::Error::other(error)))
}

/// What runs charz as a user.
pub fn of_user(user: u32) -> Vec<String> {
    let ids = ["--reuid", "--regid"].map(|flag| format!("{flag}={user}"));
    ["setpriv".to_owned()].into_iter().chain(ids).chain(["--clear-groups".to_owned()]).collect()
}

/// Whether a user that is not root can run what is attacked.
fn others_reach() -> bool {
    static REACHED: LazyLock<bool> = LazyLock::new(|| {
        let [program, words @ ..] = &of_user(VICTIM)[..] else { return false };
        process::succeeds(Command::new(program).args(words).args(["test", "-x"]).arg(workspace::target()))
    });
    *REACHED
}

pub fn lacks() -> Lacks {
    if !process::is_root() {
        return Err("it is two users, which needs root".to_owned());
    }
    packages::ensure(&[SETPRIV]).map_err(|failure| failure.to_string())?;
    let probe = workspace::target().join(NAME);
    let given = fs::create_dir_all(&probe).map_err(failed).and_then(|()| set(&probe, [NEIGHBOUR; 2], 0o755));
    let _ = fs::remove_dir(&probe);
    given.map_err(|failure| format!("user {NEIGHBOUR}: {failure}"))?;
    let root_only =
        || format!("a victim that is not root: user {VICTIM} cannot reach {}", workspace::target().display());
    Ok((!others_reach()).then(root_only).into_iter().collect())
}

/// Has the neighbour's program measured: finished, stopped and killed.
pub fn hostile(mut case: Case<'_>) -> Outcome<Hostile> {
    // Not in the folder of a case, which begins empty.
    let folder = case.folder.with_extension(FOLDER);
    fs::create_dir_all(&folder).map_err(failed)?;
    let (program, ran) = (folder.join("program"), folder.join("ran"));
    let script = format!("#!/bin/sh\nid -u >> '{}'\necho 3\n", ran.display());
    for (path, text, mode) in [(&program, script.as_str(), 0o755), (&ran, "", 0o666)] {
        fs::write(path, text).map_err(failed)?;
        set(path, [NEIGHBOUR; 2], mode)?;
    }
    let mut hostile = Hostile { program: format!("'{}'", program.display()), ran, ..Hostile::default() };
    let begun: Vec<String> = SWEEP.split(' ').map(|word| word.replace("PROGRAM", &hostile.program)).collect();
    for (end, signal, name) in ENDS {
        let words: Vec<&str> = begun.iter().map(String::as_str).chain(end.split(' ')).collect();
        // Later on a machine that is slower, until there is something to resume.
        let left = (8..15).map(|late| Duration::from_millis(1 << late)).find_map(|moment| {
            let run = case.empty().and_then(|()| case.run(&words, &[REPORT], signal.map(|signal| (moment, signal))));
            let begun = |run: &Run| !kills::invocations(run).is_empty();
            run.map(|mut run| begun(&run).then(|| run.after.remove(name)).flatten()).transpose()
        });
        let left =
            left.unwrap_or_else(|| Err(Failure::environment("charz wrote no report of the neighbour's program")))?;
        if name == JOURNAL { &mut hostile.journals } else { &mut hostile.reports }.push(left);
    }
    fs::write(&hostile.ran, "").map_err(failed)?;
    case.empty()?;
    let words: Vec<&str> = OWN.split(' ').collect();
    let mut run = case.run(&words, &[REPORT], None)?;
    hostile.own = run.after.remove(REPORT).and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    hostile.key = fs::read(case.home().join(KEY)).map_err(failed)?;
    Ok(hostile)
}

/// What a name in a command line is.
fn of_name(verb: &str, name: &str, is_output: bool) -> Option<Kind> {
    let (_, end) = name.rsplit_once('.')?;
    Some(match (name, end) {
        _ if verb == "lockutil" => Kind::Stream,
        (REPORT | "base.json", _) => Kind::Report,
        ("c.toml", _) => Kind::Settings,
        ("p.tsv", _) => Kind::Stream,
        ("new.db", _) => Kind::Output,
        (_, "db") => Kind::Database,
        _ if is_output => Kind::Output,
        (_, "json" | "toml" | "xml") => Kind::Other,
        _ => return None,
    })
}

pub fn case(target: &Target, case: &mut Case<'_>, rng: &mut Rng) -> Outcome {
    let hostile = &target.prepared.hostile;
    let victim = if rng.bool() && others_reach() { VICTIM } else { ROOT };
    let (kind, starts) = (*pick(&DRAWN, rng), rng.bool());
    let (mut words, outputs, names) = loop {
        let words = lines::with_format(lines::words(pick::<&str>(&LINES, rng)), &target.verbs, rng);
        let outputs: Vec<String> = lines::outputs(&words).into_iter().map(str::to_owned).collect();
        let lock = target.signal(&words).map(|_| (LOCK.to_owned(), Kind::Lock));
        let named =
            words.iter().filter_map(|word| Some((word.clone(), of_name(&words[0], word, outputs.contains(word))?)));
        let names: Vec<_> = named.chain(lock).collect();
        // Of the lines that name a report, few may start its program.
        let may_start = words.iter().any(|word| ["--resume", "--continue", "--validate"].contains(&word.as_str()));
        if names.iter().any(|name| name.1 == kind) && (kind != Kind::Report || may_start == starts) {
            break (words, outputs, names);
        }
    };
    let of_kind: Vec<_> = names.iter().filter(|name| name.1 == kind).map(|name| name.0.clone()).collect();
    let name = pick(&of_kind, rng).clone();
    let is_output = outputs.contains(&name);
    let ways = match kind {
        Kind::Report if is_output && words.iter().any(|word| word == "--output") => &WRITTEN[..],
        // A folder is read by fleets only.
        Kind::Report => &READ[usize::from(words[0] != "fleet")..],
        _ => &[["NAME"; 2]],
    };
    let host = hostile.own["host"]["name"].as_str().unwrap_or_default();
    let [spelt, file] = pick(ways, rng).map(|word| word.replace("NAME", &name).replace("HOST", host));
    words.iter_mut().filter(|word| **word == name).for_each(|word| word.clone_from(&spelt));
    let line = process::line(Command::new("charz").args(&words));
    let folder = case.work();
    let path = folder.join(&file);
    let spot = Spot { target, folder, path, name, victim, line, program: &hostile.program };
    // The rest is the victim's own.
    fs::create_dir(spot.folder.join("private")).map_err(failed)?;
    for (other, _) in
        names.iter().filter(|(other, _)| ![&spot.name, &file].contains(&other) && target.file(other).is_some())
    {
        spot.own(&spot.folder.join(other), other)?;
    }
    let things: Vec<_> = THINGS.iter().filter(|(kinds, ..)| kinds.contains(&kind)).collect();
    let (_, what, put) = pick(&things, rng);
    let is_kept = put(&spot, rng)?;
    let shared = pick(&FOLDERS, rng);
    let whose = |user: u32| if user == VICTIM { victim } else { user };
    set(&spot.folder, [shared.0, shared.1].map(whose), shared.2)?;
    set(&spot.folder.join("private"), [victim; 2], 0o700)?;
    let key = case.home().join(KEY);
    fs::create_dir_all(key.parent().unwrap_or(&key)).map_err(failed)?;
    write(&key, &hostile.key, victim, 0o600)?;
    for folder in key.ancestors().skip(1).take_while(|folder| folder.starts_with(case.home())) {
        set(folder, [victim; 2], 0o755)?;
    }
    case.lock = (kind == Kind::Lock).then(|| spot.folder.clone());
    if victim != ROOT {
        case.under = of_user(victim);
    }
    case.lines.push(format!(
        "# {file}: {what}, of user {NEIGHBOUR}, in a folder of mode {:o} of user {}",
        shared.2,
        whose(shared.0)
    ));
    let mut outputs: Vec<&str> =
        outputs.iter().map(|output| if *output == spot.name { &file } else { output }.as_str()).collect();
    outputs.retain(|output| !(is_kept && *output == file));
    if kind == Kind::Lock {
        outputs.push(LOCK);
    }
    let typed: Vec<&str> = words.iter().map(String::as_str).collect();
    let ended = case.run(&typed, &outputs, target.signal(&words));
    let ran = fs::read_to_string(&hostile.ran).map_err(failed)?;
    fs::write(&hostile.ran, "").map_err(failed)?;
    if let Some(user) = ran.lines().next() {
        return Err(Failure::found(format!("the program of another user ({what}) never runs: it ran as user {user}")));
    }
    ended.map(drop).map_err(|failure| failure.within(what))
}
