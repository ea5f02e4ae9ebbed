//! Rules about `unsafe`: where it may stand, and that each use has its reason.

use super::Finding;
use super::source::{Source, has_word};

/// The only places that may say `unsafe`. The examples of the kernels call the same loops as the kernels do.
const ALLOWED: &[&str] = &[
    "crates/kernels/src/sys",
    "crates/kernels/examples/",
    "crates/charz/src/harness/clock",
    "crates/charz/src/harness/counters",
];

/// The findings in one file.
pub fn check(path: &str, source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for at in source.lines_with("unsafe") {
        if !ALLOWED.iter().any(|place| path.starts_with(place)) {
            let sentence = format!("unsafe stands outside of {}; offer a safe type there", ALLOWED.join(", "));
            findings.push(Finding::new(path, at, sentence));
        }
        if needs_reason(source, at) && !has_reason(source, at) {
            findings.push(Finding::new(
                path,
                at,
                "this unsafe has no `// SAFETY:` line right above it; write its reason",
            ));
        }
    }
    findings
}

/// Blocks and implementations assert something; declarations (`unsafe fn`, `unsafe extern`) only ask for it.
fn needs_reason(source: &Source, at: usize) -> bool {
    let line = &source.code[at];
    let Some((_, after)) = line.split_once("unsafe") else { return false };
    let next = if after.trim().is_empty() { source.code.get(at + 1).map_or("", String::as_str) } else { after };
    next.trim_start().starts_with('{') || has_word(next.split('{').next().unwrap_or(""), "impl")
}

/// Whether the comment above line `at`, or at its end, gives a reason. The statement that holds the block may have begun
/// some lines above, and attributes may stand between.
fn has_reason(source: &Source, at: usize) -> bool {
    let says = |line: usize| source.comments[line].contains("SAFETY:");
    if says(at) {
        return true;
    }
    for line in (0..at).rev() {
        if says(line) {
            return true;
        }
        let (code, comment) = (source.code[line].trim(), source.comments[line].trim());
        let ended = code.ends_with([';', '{', '}']) || (code.is_empty() && comment.is_empty());
        if ended {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(path: &str, text: &str, expected: usize) {
        let findings = check(path, &Source::new(text));
        assert_eq!(findings.len(), expected, "{text:?}: {findings:?}");
    }

    const SYS: &str = "crates/kernels/src/sys/mmap.rs";

    #[test]
    fn a_reason_stands_above_or_beside() {
        found(SYS, "// SAFETY: p is valid.\nunsafe { *p }\n", 0);
        found(SYS, "// SAFETY: p is valid.\n// SAFETY: it is aligned.\nlet x =\n    unsafe { *p };\n", 0);
        found(SYS, "unsafe { *p } // SAFETY: p is valid.\n", 0);
        found(SYS, "// SAFETY: T is plain.\n#[allow(x)]\nunsafe impl Send for T {}\n", 0);
    }

    #[test]
    fn a_reason_of_something_else_does_not_count() {
        found(SYS, "// SAFETY: p is valid.\nunsafe { *p };\nunsafe { *q };\n", 1);
        found(SYS, "// SAFETY: p is valid.\n\nunsafe { *p };\n", 1);
        found(SYS, "// it is safe\nunsafe impl Send for T {}\n", 1);
        found(SYS, "let s = \"SAFETY: no\"; unsafe { *p };\n", 1);
    }

    #[test]
    fn declarations_need_none() {
        found(SYS, "pub unsafe fn f() {}\nunsafe extern \"C\" {}\n", 0);
    }

    #[test]
    fn words_in_comments_and_names_are_not_unsafe() {
        found(
            "crates/charz/src/plan.rs",
            "#![forbid(unsafe_code)] // unsafe { is not here\nlet s = \"unsafe {\";\n",
            0,
        );
    }

    #[test]
    fn other_places_may_not() {
        found("crates/charz/src/plan.rs", "// SAFETY: none.\nunsafe { f() }\n", 1);
        found("crates/charz/src/harness/clock/tsc.rs", "// SAFETY: none.\nunsafe { f() }\n", 0);
    }
}
