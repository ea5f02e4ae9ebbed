//! What documents and helps name to type: lines of charz, and programs in Python.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use charz_data::at_once;
use serde_json::Value;
use tempfile::tempdir;

use crate::docs::files;
use crate::support::{Ran, charz, check_golden, output, root, run};

/// Lines of charz in a page: in blocks for a shell, behind a prompt, and in prose as code.
fn lines(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, part) in page.split("```").enumerate() {
        // Every other part is a block, which begins with its language.
        let (is_shell, is_block) = (part.starts_with("sh\n"), at % 2 == 1);
        if is_block {
            let joined = part.replace("\\\n", " ");
            let typed = joined.lines().filter_map(|line| if is_shell { Some(line) } else { line.strip_prefix("$ ") });
            found.extend(typed.filter_map(of_charz));
        } else {
            found.extend(part.split('`').skip(1).step_by(2).filter_map(|span| of_charz(&span.replace('\n', " "))));
        }
    }
    found
}

/// The part of a line that is a command of charz, without what a shell takes behind it. Of a line that is another program's there is none.
fn of_charz(line: &str) -> Option<String> {
    let is_setting = |word: &str| word.contains('=') || word == "source";
    let inner = line.split_once("<(").and_then(|(_, inner)| inner.split_once(')')).map(|(inner, _)| inner);
    let own = inner.unwrap_or(line);
    let mut words = own.split(' ').skip_while(|word| is_setting(word));
    (words.next() == Some("charz") && !own.contains('…')).then_some(())?;
    let rest = words.collect::<Vec<_>>().join(" ");
    let ends = [" | ", " > ", "; "].iter().filter_map(|end| rest.find(end)).min();
    Some(rest[..ends.unwrap_or(rest.len())].to_owned())
}

/// Whether the program knows the command, its flags and, of a sweep of kernels of its own, their values; else what it says.
fn refusal(line: &str) -> Option<String> {
    let words = shlex::split(line)?;
    // Behind the name of a program all words are the program's.
    let end = if words.first().is_some_and(|verb| verb == "exec") { 1 } else { words.len() };
    let before_program = words.iter().position(|word| word == "--").unwrap_or(end);
    let asked = |more: &[&str]| {
        let mut asked = words.clone();
        asked.splice(before_program..before_program, more.iter().map(|word| (*word).to_owned()));
        run(asked)
    };
    let is_named_only = |ran: &Ran| ran.err.contains("a value is required for");
    let help = asked(&["--help"]);
    let starts = |flag: &str| words.iter().any(|word| word.split('=').next() == Some(flag));
    let plans = words.first().is_some_and(|verb| verb == "sweep")
        && !["--command", "--resume", "--continue", "--config", "--preset"].into_iter().any(starts);
    let planned = || asked(&["--dry-run", "--topology", "NUMA:2 Core:8 PU:2"]);
    let ran = if help.code == Some(0) && plans { planned() } else { help };
    (!matches!(ran.code, Some(0 | 5)) && !is_named_only(&ran)).then(|| format!("charz {line}: {}", ran.err.trim()))
}

/// Lines of charz in all documents.
fn of_documents() -> Vec<String> {
    let (root, mut all) = (root().canonicalize().unwrap(), Vec::new());
    files(&root, &mut all);
    let is_page = |path: &PathBuf| path.extension().is_some_and(|end| end == "md") && !path.ends_with("CHANGELOG.md");
    let pages = all.into_iter().filter(is_page);
    let typed: Vec<String> = pages.flat_map(|path| lines(&std::fs::read_to_string(path).unwrap())).collect();
    assert!(typed.len() > 100, "{typed:?}");
    typed
}

#[test]
fn what_documents_and_helps_type_is_known() {
    let mut typed = of_documents();
    let grammar: Value = serde_json::from_str(&output(&["docs", "grammar"])).unwrap();
    for command in grammar["commands"].as_array().unwrap() {
        let words = command["words"].as_array().unwrap().iter().filter_map(Value::as_str);
        let help = output(&words.chain(["--help"]).collect::<Vec<_>>());
        let examples = help.split_once("\nExamples:\n").map(|(_, examples)| examples).unwrap_or_default();
        typed.extend(examples.lines().filter_map(|line| of_charz(line.trim())));
    }
    typed.sort();
    typed.dedup();
    let refused: Vec<String> = at_once(typed, |line| refusal(&line)).into_iter().flatten().collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn pictures_are_what_the_lines_beside_them_draw() {
    let (folder, mut drawn) = (tempdir().unwrap(), BTreeSet::new());
    for line in of_documents() {
        let Some((before, file)) = line.split_once(" -o docs/pictures/") else { continue };
        let (file, made) = (file.trim().to_owned(), folder.path().join(file.trim()));
        let words = shlex::split(before).unwrap();
        let ran = Ran::from(charz().current_dir(root()).args(words).arg("-o").arg(&made).output().unwrap());
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.err);
        check_golden(&format!("../../docs/pictures/{file}"), &std::fs::read_to_string(made).unwrap());
        drawn.insert(file);
    }
    let kept = std::fs::read_dir(root().join("docs/pictures")).unwrap().map(|entry| entry.unwrap().file_name());
    let kept: BTreeSet<String> =
        kept.filter_map(|name| name.into_string().ok()).filter(|name| name.ends_with(".svg")).collect();
    assert_eq!(drawn, kept);
}

/// `cargo xtask readers` runs those that need more than Python.
#[test]
fn the_example_in_python_prints_what_each_kernel_delivered() {
    let page = std::fs::read_to_string(root().join("docs/other-tools.md")).unwrap();
    let blocks = page.split("```python\n").skip(1).filter_map(|rest| rest.split("```").next());
    let example = blocks.into_iter().find(|block| !block.contains("pandas")).unwrap();
    let folder = tempdir().unwrap();
    std::fs::copy(root().join("tests/golden/reports/arithmetic.json"), folder.path().join("report.json")).unwrap();
    let own = Path::new(env!("CARGO_BIN_EXE_charz")).parent().unwrap().display();
    let path = format!("{own}:{}", std::env::var("PATH").unwrap_or_default());
    let mut python = Command::new("python3");
    let ran = python.args(["-c", example, "report.json"]).current_dir(folder.path()).env("PATH", path).output();
    let Ok(ran) = ran else { return println!("skipped: there is no python3") };
    let ran = Ran::from(ran);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let cells =
        charz().args(["render", "report.json", "--format", "json"]).current_dir(folder.path()).output().unwrap();
    let cells: Value = serde_json::from_slice(&cells.stdout).unwrap();
    let cells = cells["derived"]["cells"].as_array().unwrap();
    let delivered = cells.iter().filter(|cell| cell["delivered"].is_number());
    let kernels: BTreeSet<&str> = delivered.filter_map(|cell| cell["kernel"].as_str()).collect();
    let printed: BTreeSet<&str> = ran.out.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(printed, kernels, "{}", ran.out);
    assert!(!kernels.is_empty());
}
