//! Generated pages are what is kept in the project.

use crate::support::{output, root};

#[test]
fn pages_in_the_project_are_in_step() {
    let list = output(&["docs"]);
    assert!(list.lines().count() > 5, "{list}");
    for line in list.lines() {
        let (page, file) = line.split_once('\t').expect("a page and its file");
        let kept = std::fs::read_to_string(root().join(file)).unwrap_or_default();
        assert!(output(&["docs", page]) == kept, "{file} is out of step; cargo xtask docs rewrites it");
    }
}

#[test]
fn help_teaches() {
    let long = output(&["--help"]);
    for word in ["Exit codes", "Examples", "strand", "sweep", "130"] {
        assert!(long.contains(word), "{word} is missing:\n{long}");
    }
    let short = output(&["-h"]);
    assert!(short.lines().count() < long.lines().count());
}
