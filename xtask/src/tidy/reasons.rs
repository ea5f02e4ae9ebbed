//! Each `unsafe` block and implementation has its reason. Clippy checks the same, but only in what is compiled for its own
//! architecture.

use super::Finding;
use super::source::{Source, has_word};

pub fn check(path: &str, text: &str, source: &Source) -> Vec<Finding> {
    let lines: Vec<&str> = text.lines().collect();
    let lacks = |at: &usize| asserts(source, *at) && !has_reason(&lines, source, *at);
    let sentence = "this unsafe has no `// SAFETY:` line above its statement; write its reason";
    source.lines_with("unsafe").filter(lacks).map(|at| Finding::new(path, at, sentence)).collect()
}

/// Blocks and implementations assert something; declarations (`unsafe fn`, `unsafe extern`) only require it.
fn asserts(source: &Source, at: usize) -> bool {
    let after = source.code[at].split_once("unsafe").map_or("", |(_, after)| after.trim_start());
    after.starts_with('{') || has_word(after.split('{').next().unwrap_or(""), "impl")
}

/// The statement that holds the block may have begun some lines above, and attributes may stand between.
fn has_reason(lines: &[&str], source: &Source, at: usize) -> bool {
    let ends = |line: usize| source.code[line].trim_end().ends_with([';', '{', '}']) || lines[line].trim().is_empty();
    let statement = (0..at).rev().take_while(|line| lines[*line].contains("SAFETY:") || !ends(*line));
    statement.chain([at]).any(|line| lines[line].contains("SAFETY:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(text: &str, expected: usize) {
        assert_eq!(check("a.rs", text, &Source::new(text)).len(), expected, "{text:?}");
    }

    #[test]
    fn a_reason_stands_above_or_beside() {
        found("// SAFETY: p is valid.\nunsafe { *p }\n", 0);
        found("// SAFETY: p is valid.\n// SAFETY: it is aligned.\nlet x =\n    unsafe { *p };\n", 0);
        found("unsafe { *p } // SAFETY: p is valid.\n", 0);
        found("// SAFETY: T is plain.\n#[allow(x)]\nunsafe impl Send for T {}\n", 0);
        found("unsafe fn f();\nunsafe extern \"C\" {\n", 0);
    }

    #[test]
    fn a_reason_of_something_else_does_not_count() {
        found("// SAFETY: p is valid.\nunsafe { *p };\nunsafe { *q };\n", 1);
        found("// SAFETY: p is valid.\n\nunsafe { *p };\n", 1);
        found("// it is safe\nunsafe impl Send for T {}\n", 1);
    }
}
