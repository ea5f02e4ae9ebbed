//! Pages in the project are what the program prints, and what they name exists.

use std::path::{Path, PathBuf};

use charz_data::{report::File, schema_of};
use charz_replicate::Replication;
use charz_words::compare::wire::Comparison;
use serde_json::{Value, json};

use crate::support::{output, root};

#[test]
fn every_page_is_printed_and_those_in_the_project_are_in_step() {
    let list = output(&["docs"]);
    for word in ["man", "man-history-plot", "completions-bash", "completions-elvish", "schema"] {
        assert!(list.lines().any(|line| line == word), "{word} is not in {list}");
    }
    for line in list.lines() {
        let (page, file) = line.split_once('\t').unwrap_or((line, ""));
        let text = output(&["docs", page]);
        assert!(text.len() > 100, "{page}: {text}");
        if !file.is_empty() {
            let kept = std::fs::read_to_string(root().join(file)).unwrap_or_default();
            assert!(text == kept, "{file} is out of step; cargo xtask docs rewrites it");
        }
    }
}

#[test]
fn schemas_are_what_the_types_say() {
    for (page, schema) in [
        ("schema", schema_of::<File<'_>>()),
        ("comparison-schema", schema_of::<Comparison>()),
        ("replication-schema", schema_of::<Replication>()),
    ] {
        assert!(output(&["docs", page]) == schema, "{page} is out of step; cargo xtask docs rewrites it");
    }
}

/// What programs read instead of the help: the attack takes its command lines from it.
#[test]
fn the_grammar_lists_flags_formats_and_exit_codes() {
    let page: Value = serde_json::from_str(&output(&["docs", "grammar"])).unwrap();
    let flags = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let mut commands = page["commands"].as_array().unwrap().iter();
        commands.find(|command| command["words"] == json!(words)).unwrap()["flags"].as_array().unwrap().clone()
    };
    for line in ["sweep", "exec", "history add", "render"] {
        // The help of a sweep leaves the parameters of kernels to where these are described.
        let help = output(&["docs", &format!("man-{}", line.replace(' ', "-"))]).replace("\\-", "-");
        let flags = flags(line);
        assert!(flags.iter().all(|flag| help.contains(flag["name"].as_str().unwrap())), "{line}: {flags:?}");
        assert!(flags.len() > 2, "{line}: {flags:?}");
    }
    for line in ["kernels", "explain", "doctor"] {
        let flag = flags(line).into_iter().find(|flag| flag["name"] == "--format").unwrap();
        assert!(flag["takes_value"] == true && flag["values"].as_array().unwrap().len() > 1, "{flag}");
        for format in flag["values"].as_array().unwrap() {
            output(&[line, "--format", format.as_str().unwrap()]);
        }
    }
    let text = output(&["docs", "exit-codes"]);
    let codes = page["exit_codes"].as_array().unwrap();
    assert!(codes.iter().all(|exit| text.contains(&format!("\n| {} | ", exit["code"]))), "{codes:?}");
    assert_eq!(codes.len(), text.lines().filter(|line| line.starts_with("| ")).count() - 2);
}

#[test]
fn help_teaches() {
    let overview = output(&["--help"]);
    for word in ["sweep", "strand", "docs exit-codes"] {
        assert!(overview.contains(word), "{word} is missing:\n{overview}");
    }
    assert!(output(&["docs", "exit-codes"]).contains("130"));
    let [short, long] = ["-h", "--help"].map(|help| output(&["sweep", help]));
    assert!(short.lines().count() < long.lines().count() / 2);
    // Not {n}, which clap prints as a line break.
    let page = output(&["docs", "man-sweep"]);
    assert!(page.contains("(or n in braces)"), "{page}");
}

/// Help takes the time from the constant that a sweep obeys.
#[test]
fn a_sweep_takes_as_long_everywhere() {
    let help = output(&["--help"]);
    let line = help.lines().find(|line| line.contains("charz sweep")).expect("an example of a sweep");
    let times = line.split_once('(').expect("times in parentheses").1;
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert!(times.contains(" s") && readme.contains(times), "the README does not say ({times}");
    for command in ["cargo xtask run -- sweep", "cargo xtask test"] {
        assert!(readme.contains(command), "the README does not name {command:?}");
    }
}

/// All files below a folder but what was built and what the user keeps there.
pub fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !path.is_dir() {
            found.push(path);
        } else if !name.starts_with('.')
            && !name.starts_with("target")
            && name != "vendor"
            && !path.join("CACHEDIR.TAG").exists()
        {
            files(&path, found);
        }
    }
}

#[test]
fn what_the_docs_name_exists() {
    let root = root().canonicalize().unwrap();
    let mut all = Vec::new();
    files(&root, &mut all);
    let page = |path: &&PathBuf| path.extension().is_some_and(|end| end == "md");
    let mut missing = Vec::new();
    for path in all.iter().filter(page) {
        let text = std::fs::read_to_string(path).unwrap();
        let mut lost = |name: &str| missing.push(format!("{}: {name}", path.strip_prefix(&root).unwrap().display()));
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or_default();
            if !link.contains("://") && !file.is_empty() && !path.parent().unwrap().join(file).exists() {
                lost(link);
            }
        }
        // Sources by the end of their path: `catalog.rs` is in some folder.
        for word in text.split('`').skip(1).step_by(2) {
            let source = word.ends_with(".rs") || word.starts_with("crates/") || word.starts_with("docs/");
            let known = || all.iter().any(|file| file.ends_with(word)) || root.join(word).exists();
            if source && !word.contains(char::is_whitespace) && !known() {
                lost(word);
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
