//! What command lines print.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use charz_data::report::{File, Report};

/// A folder in which command lines run, with nothing of this user's or this machine's around them.
pub struct Place(tempfile::TempDir);

/// The command lines that take a report, but for formats that are the same words in another dress. The table begins with the summary.
const LINES: [&str; 4] = [
    "render report.json --format table",
    "render report.json --format markdown",
    "advise report.json",
    "advise report.json --format json",
];

/// Those of some reports only: they are long, and made of what the others have.
const LONG: [&str; 10] = [
    "render report.json",
    "compare report.json report.json --allow-suspect",
    "render report.json --format csv",
    "render report.json --format json",
    "predict report.json --mapping round-robin --threads 2",
    "topo --measured report.json",
    "render report.json --format runs-csv",
    "render report.json --format openmetrics",
    "render report.json --format bmf",
    "render report.json --format html",
];

/// One report in so many is shown in the formats of [`LONG`].
const LONG_OF: u64 = 9;

impl Place {
    pub fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn put(&self, file: &str, report: &Report) {
        fs::write(self.path().join(file), serde_json::to_string(&File::of(report, &[])).unwrap()).unwrap();
    }

    /// What is printed of the report in `report.json`, whose name decides whether all formats show it.
    pub fn of_one(&self, name: &str) -> String {
        let digest = name.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let long = if digest % LONG_OF == 0 { &LONG[..] } else { &[] };
        LINES.iter().chain(long).map(|line| self.shown(line)).collect()
    }

    /// A command line, and what it printed.
    pub fn shown(&self, line: &str) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_charz"));
        command.args(line.split(' ')).current_dir(self.path()).env_clear().stdin(Stdio::null());
        for (name, folder) in [("HOME", "home"), ("XDG_STATE_HOME", "state"), ("XDG_DATA_HOME", "data")] {
            command.env(name, self.path().join(folder));
        }
        let ran = command.output().unwrap();
        let [out, err] = [ran.stdout, ran.stderr].map(|text| String::from_utf8(text).unwrap());
        let code = ran.status.code().map_or("a signal".to_owned(), |code| code.to_string());
        let out = match line {
            "render report.json --format json" => derived(&out),
            "render report.json --format html" => without_dress(&out),
            _ => out,
        };
        let said = err.replace(self.path().to_str().unwrap(), "FOLDER").replace(env!("CARGO_PKG_VERSION"), "VERSION");
        let said: String = said.lines().map(|line| format!("2> {line}\n")).collect();
        format!("$ charz {line}   # {code}\n{}{said}\n", rounded(&out))
    }
}

/// A page without its scripts and styles, which are the same in all.
fn without_dress(page: &str) -> String {
    ["script", "style"].iter().fold(page.to_owned(), |page, name| {
        let close = format!("</{name}>");
        let before = |piece: &str| piece.find(&format!("<{name}")).unwrap_or(piece.len());
        page.split_inclusive(&close).map(|piece| &piece[..before(piece)]).collect()
    })
}

/// What a report in JSON concludes: the rest of it is what was put in.
fn derived(report: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(report).unwrap_or_default();
    let rows = value["derived"]["cells"].as_array().into_iter().flatten();
    let lines = rows.map(|row| row.to_string()).chain([value["derived"]["findings"].to_string()]);
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// A text in which each number has six digits: the last ones differ between libraries of mathematics.
fn rounded(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(|mark: char| mark.is_ascii_digit()) {
        out.push_str(&rest[..at]);
        let end =
            rest[at..].find(|mark: char| !mark.is_ascii_digit() && mark != '.').map_or(rest.len(), |end| at + end);
        let number = &rest[at..end];
        match number.parse::<f64>() {
            Ok(value) if number.len() > 9 && number.contains('.') && value != 0.0 => {
                let digits = (5 - value.abs().log10().floor() as i32).max(0) as usize;
                out.push_str(&format!("{value:.digits$}"));
            }
            _ => out.push_str(number),
        }
        rest = &rest[end..];
    }
    out + rest
}
