//! `readers`: each export of charz, opened by the program that it is for: pandas, prometheus_client, junitparser, and hyperfine's scripts;
//! and the examples in Python of the documents.
//!
//! The programs come from the registries of Python and of Rust, so this needs a network, and is a part of the night.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::{Failure, Outcome, process, setup, workspace};

/// Opens the exports; its arguments are the folder with them, and that of hyperfine's scripts.
const READ: &str = include_str!("readers/read.py");

/// What it imports, and what hyperfine's scripts do.
const PACKAGES: [&str; 5] = ["junitparser", "matplotlib", "numpy", "pandas", "prometheus_client"];

/// Pages whose examples in Python are run beside the exports, which have the names that the pages give them.
const PAGES: [&str; 2] = ["docs/other-tools.md", "docs/report-format.md"];

/// The package of hyperfine has its scripts.
const HYPERFINE: &str = "1.20.0";

/// The exports: the words of charz, and the file that takes its standard output.
const EXPORTS: [(&[&str], &str); 11] = [
    (&["render", "report.json", "--format", "csv"], "table.csv"),
    (&["render", "report.json", "--format", "openmetrics"], "report.prom"),
    (&["render", "report.json", "--format", "bmf"], "bmf.json"),
    (&["render", "report.json", "--format", "bigger-is-better"], "bigger-is-better.json"),
    (&["render", "report.json", "--format", "smaller-is-better"], "smaller-is-better.json"),
    (&["render", "program.json", "--format", "hyperfine"], "hyperfine.json"),
    (&["compare", "report.json", "report.json", "--allow-suspect", "--format", "csv"], "compare.csv"),
    (&["compare", "report.json", "report.json", "--allow-suspect", "--format", "junit"], "compare.xml"),
    (&["doctor", "--no-wait", "--format", "junit"], "doctor.xml"),
    (&["fleet", "check", "--baseline", "none.toml", "report.json", "--format", "junit"], "check.xml"),
    (&["history", "add", "report.json", "--db", "history.db"], "added.txt"),
];

pub fn start(words: &[String]) -> Outcome {
    if !words.is_empty() {
        return Err(Failure::usage("`readers` takes no arguments"));
    }
    setup::quietly()?;
    let folder = workspace::target().join("readers");
    fs::create_dir_all(&folder).map_err(|error| Failure::io(format!("create {folder:?}"), &error))?;
    let python = python(&folder)?;
    let scripts = scripts(&folder)?;
    process::run(workspace::cargo().args(["build", "--quiet", "--package", "charz"]))?;
    let exports = folder.join("exports");
    _ = fs::remove_dir_all(&exports);
    fs::create_dir_all(&exports).map_err(|error| Failure::io(format!("create {exports:?}"), &error))?;
    export(&exports)?;
    let mut read = Command::new(&python);
    read.env("MPLBACKEND", "Agg").args([OsStr::new("-c"), READ.as_ref()]).arg(&exports).arg(scripts);
    process::run(&mut read)?;
    PAGES.iter().try_for_each(|page| examples(page, &python, &exports))
}

/// Runs the examples of a page, with charz on the path.
fn examples(page: &str, python: &Path, folder: &Path) -> Outcome {
    let file = workspace::root().join(page);
    let text = fs::read_to_string(&file).map_err(|error| Failure::io(format!("read {file:?}"), &error))?;
    let path = process::path_with(workspace::built("debug"))?;
    let blocks: Vec<&str> =
        text.split("```python\n").skip(1).filter_map(|rest| rest.split_once("```")).map(|(block, _)| block).collect();
    for block in &blocks {
        let mut run = Command::new(python);
        process::read(run.current_dir(folder).env("PATH", &path).args(["-c", block, "report.json"]))?;
    }
    println!("{page}: {} examples in Python", blocks.len());
    Ok(())
}

/// The interpreter of an environment that has the packages.
fn python(folder: &Path) -> Outcome<PathBuf> {
    let environment = folder.join("python");
    let python = environment.join("bin/python");
    let made = process::run(Command::new("python3").args(["-m", "venv"]).arg(&environment));
    let install = || process::run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PACKAGES));
    made.and_then(|()| install()).map_err(|_| {
        Failure::environment(format!("not tried: python3 -m venv and pip cannot install {}", PACKAGES.join(", ")))
    })?;
    Ok(python)
}

/// The folder of hyperfine's scripts, which the registry has with its source.
fn scripts(folder: &Path) -> Outcome<PathBuf> {
    let vendor = folder.join("hyperfine");
    let write = |file: &str, text: &str| {
        let file = vendor.join(file);
        fs::create_dir_all(file.parent().unwrap_or(&vendor)).and_then(|()| fs::write(&file, text))
    };
    let manifest = format!(
        "[package]\nname = \"scripts\"\nversion = \"0.0.0\"\n\n[dependencies]\nhyperfine = \"={HYPERFINE}\"\n\n[workspace]\n"
    );
    let made = write("Cargo.toml", &manifest).and_then(|()| write("src/lib.rs", ""));
    made.map_err(|error| Failure::io(format!("write {vendor:?}"), &error))?;
    let mut cargo = Command::new(workspace::cargo_program());
    let fetched = process::read(cargo.current_dir(&vendor).args(["vendor", "--quiet", "--versioned-dirs", "vendor"]));
    fetched.map_err(|_| Failure::environment("not tried: cargo cannot fetch the package of hyperfine"))?;
    Ok(vendor.join(format!("vendor/hyperfine-{HYPERFINE}/scripts")))
}

/// Makes the reports, and the exports of them.
fn export(folder: &Path) -> Outcome {
    let program = workspace::built("debug").join("charz");
    let charz = |words: &[&str]| {
        let mut charz = Command::new(&program);
        charz.current_dir(folder).args(words);
        charz
    };
    fs::copy(workspace::root().join("tests/golden/reports/waits.json"), folder.join("waits.json"))
        .map_err(|error| Failure::io("copy a report", &error))?;
    // As this version writes it, with what is derived.
    let whole = process::read(&mut charz(&["render", "waits.json", "--format", "json"]))?;
    fs::write(folder.join("report.json"), whole).map_err(|error| Failure::io("write a report", &error))?;
    let budget = ["--budget", "10s", "--quiet", "--output", "program.json"];
    process::read(charz(&["sweep", "--command", "sleep 0.02", "--threads", "1,2"]).args(budget))?;
    for (words, file) in EXPORTS {
        let output = charz(words).output().map_err(|error| Failure::io("start charz", &error))?;
        // A verdict may be the code.
        if output.stdout.is_empty() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(Failure::found(format!("charz {} printed nothing: {said}", words.join(" "))));
        }
        fs::write(folder.join(file), output.stdout).map_err(|error| Failure::io(format!("write {file}"), &error))?;
    }
    Ok(())
}
