//! `real`: charz on machines that others described and measured, and how much of it is right.
//!
//! The folder `CHARZ_REAL` has lstopo.tar.xz (hwloc XML by machine), lscpu.tsv.gz, memory.tsv.gz (latency by size), scaling.tsv.gz (rates by
//! threads), c2c (matrices of core-to-core latencies, with what is right) and tables (bandwidth by threads); docs/checked-on.md has
//! their sources. It takes about two minutes on two CPUs.

mod caches;
mod matrices;
mod scaling;
mod topologies;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use xtask::json::Json;
use xtask::{Failure, Outcome, process, workspace};

/// Where the data is, where files are unpacked and written, and the program.
struct Bench {
    data: PathBuf,
    scratch: PathBuf,
    charz: PathBuf,
}

/// What a part found: rows for the reader, and what is wrong.
#[derive(Default)]
struct Part {
    rows: Vec<String>,
    wrong: Vec<String>,
}

/// A row of a table, by the names of its columns.
type Row = BTreeMap<String, String>;

pub fn start(words: &[String]) -> Outcome {
    let charz = match words {
        [] => None,
        [flag, path] if flag == "--charz" => Some(PathBuf::from(path)),
        _ => return Err(Failure::usage("real takes --charz PATH, and nothing else")),
    };
    let Some(data) = std::env::var_os("CHARZ_REAL").map(PathBuf::from).filter(|data| data.is_dir()) else {
        println!("skipped: CHARZ_REAL names no folder with descriptions and measurements of machines");
        return Ok(());
    };
    let charz = charz.map_or_else(workspace::build_charz, Ok)?;
    let scratch = workspace::target().join("real");
    fs::create_dir_all(&scratch).map_err(|error| Failure::io(format!("make {}", scratch.display()), &error))?;
    process::run(Command::new("tar").arg("xJf").arg(data.join("lstopo.tar.xz")).arg("-C").arg(&scratch))?;
    let bench = Bench { data, scratch, charz };
    type Check = fn(&Bench) -> Outcome<Part>;
    let parts: [(&str, Check); 5] = [
        ("topologies", topologies::check),
        ("matrices", matrices::check),
        ("caches", caches::check),
        ("scaling", scaling::check),
        ("tables", scaling::tables),
    ];
    let mut wrong = Vec::new();
    for (name, check) in parts {
        let began = std::time::Instant::now();
        let part = check(&bench)?;
        println!("{name} ({:.0} s)", began.elapsed().as_secs_f64());
        part.rows.iter().for_each(|row| println!("  {row}"));
        wrong.extend(part.wrong.into_iter().map(|what| format!("{name}: {what}")));
    }
    match wrong.len() {
        0 => Ok(()),
        count => {
            wrong.iter().take(MOST_LISTED).for_each(|what| println!("wrong: {what}"));
            Err(Failure::found(format!("{count} results are wrong")))
        }
    }
}

/// The most wrong results that are listed.
const MOST_LISTED: usize = 40;

impl Bench {
    /// What charz prints in JSON; its first line on standard error where it fails.
    fn charz(&self, words: &[&str]) -> Result<Json, String> {
        let output = Command::new(&self.charz).args(words).args(["--format", "json"]).output();
        let output = output.map_err(|error| format!("cannot start {}: {error}", self.charz.display()))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match output.status.success() {
            true => Json::parse(&text(&output.stdout)).map_err(|why| format!("its JSON is none: {why}")),
            false => Err(text(&output.stderr).lines().next().unwrap_or("it failed without a word").to_owned()),
        }
    }

    /// The description of a machine, if there is one.
    fn xml(&self, machine: &str) -> Option<PathBuf> {
        Some(self.scratch.join(format!("{machine}.xml"))).filter(|file| file.is_file())
    }

    /// The machines that are described.
    fn machines(&self) -> Outcome<Vec<String>> {
        let entries = fs::read_dir(&self.scratch).map_err(|error| Failure::io("read the descriptions", &error))?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(".xml")?.to_owned())).collect();
        names.sort();
        Ok(names)
    }

    /// The rows of a table between tabs, compressed or not.
    fn table(&self, name: &str) -> Outcome<Vec<Row>> {
        let path = self.data.join(name);
        let text = match name.ends_with(".gz") {
            true => process::read(Command::new("gzip").arg("-dc").arg(&path))?,
            false => {
                fs::read_to_string(&path).map_err(|error| Failure::io(format!("read {}", path.display()), &error))?
            }
        };
        let mut lines = text.lines();
        let heading: Vec<String> = lines.next().unwrap_or_default().split('\t').map(str::to_owned).collect();
        let row = |line: &str| heading.iter().cloned().zip(line.split('\t').map(str::to_owned)).collect();
        Ok(lines.map(row).collect())
    }

    /// Writes a file of one check.
    fn write(&self, name: &str, text: &str) -> Result<String, String> {
        let path = self.scratch.join(name);
        fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(path.display().to_string())
    }
}

/// Rows by their machine.
fn by_machine(rows: Vec<Row>) -> Vec<(String, Vec<Row>)> {
    let mut machines: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    rows.into_iter().for_each(|row| machines.entry(row["machine"].clone()).or_default().push(row));
    machines.into_iter().collect()
}

/// What a check finds of each item, in their order, on all CPUs.
fn each<T: Sync, R: Send>(items: &[T], check: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((at, item)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, items.get(at)?)))
        {
            let result = check(item);
            found.lock().unwrap_or_else(|held| held.into_inner()).push((at, result));
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    let mut found = found.into_inner().unwrap_or_else(|held| held.into_inner());
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, result)| result).collect()
}

/// The share in percent.
fn percent(part: usize, all: usize) -> String {
    format!("{:.1}%", 100.0 * part as f64 / all.max(1) as f64)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}
