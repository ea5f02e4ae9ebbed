//! Rules about who may know whom.

use super::Finding;
use super::source::Source;

/// A name that only some places may say.
struct Reserved {
    /// The crate or macro.
    word: &'static str,
    /// Where the rule holds: prefixes of paths. Build scripts are outside of every rule: printing is how they answer.
    within: &'static [&'static str],
    /// Who may say it there: prefixes of paths. `/tests/` and test modules follow `tests`.
    allowed: &'static [&'static str],
    /// Whether test code may say it.
    tests: bool,
    /// The end of the sentence "… is for …".
    purpose: &'static str,
}

const PRINTERS: &[&str] = &["crates/charz/src/view", "crates/charz/src/program.rs"];
const OURS: &[&str] = &["crates/", "benches/", "tests/"];

const RESERVED: &[Reserved] = &[
    Reserved {
        word: "hwlocality",
        within: OURS,
        allowed: &["crates/topology/src/discover", "crates/topology/src/bind.rs"],
        tests: false,
        purpose: "the discovery and the binding of the topology crate",
    },
    Reserved {
        word: "core_affinity",
        within: OURS,
        allowed: &["crates/topology/src/bind.rs"],
        tests: false,
        purpose: "crates/topology/src/bind.rs",
    },
    Reserved { word: "clap", within: OURS, allowed: ARGS, tests: false, purpose: "crates/charz/src/args*" },
    Reserved { word: "clap_complete", within: OURS, allowed: ARGS, tests: false, purpose: "crates/charz/src/args*" },
    Reserved { word: "clap_mangen", within: OURS, allowed: ARGS, tests: false, purpose: "crates/charz/src/args*" },
    Reserved {
        word: "charz_topology",
        within: &["crates/kernels/", "xtask/"],
        allowed: &[],
        tests: false,
        purpose: "charz; kernels say what, not where, and xtask links nothing of ours",
    },
    Reserved {
        word: "charz_kernels",
        within: &["crates/topology/", "xtask/"],
        allowed: &[],
        tests: false,
        purpose: "charz; the topology says where, not what, and xtask links nothing of ours",
    },
    Reserved { word: "println!", within: OURS, allowed: PRINTERS, tests: true, purpose: "views and main" },
    Reserved { word: "print!", within: OURS, allowed: PRINTERS, tests: true, purpose: "views and main" },
    Reserved { word: "eprintln!", within: OURS, allowed: PRINTERS, tests: true, purpose: "views and main" },
    Reserved { word: "eprint!", within: OURS, allowed: PRINTERS, tests: true, purpose: "views and main" },
];

const ARGS: &[&str] = &["crates/charz/src/args"];

/// The modules of charz from the top: a module may name those in rows below its own, and itself. Cargo sees to the order of the crates.
#[rustfmt::skip]
const ROWS: &[&[&str]] = &[
    &["main", "lib"],
    &["program"],
    &["args", "parsers"],
    &["command"],
    &["view"],
    &["sweep"],
    &["plan"],
    &["predict", "signals", "doctor", "selftest", "history", "noise"],
    &["invoke", "judge"],
    &["harness", "limits"],
    &["exit"],
    &["journal"],
    &["lock"],
    &["atomic_file"],
    &["golden"],
];

/// The findings in one file.
pub fn check(path: &str, source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in RESERVED {
        findings.extend(reserved(rule, path, source));
    }
    if let Some(module) = module_of_charz(path) {
        findings.extend(direction(module, path, source));
    }
    findings
}

fn reserved(rule: &Reserved, path: &str, source: &Source) -> Vec<Finding> {
    let starts = |places: &[&str]| places.iter().any(|place| path.starts_with(place));
    let test_file = path.starts_with("tests/")
        || path.starts_with("benches/")
        || path.contains("/tests/")
        || path.ends_with("/tests.rs")
        || path.contains("/examples/");
    let script = path.ends_with("/build.rs");
    if !starts(rule.within) || starts(rule.allowed) || (rule.tests && test_file) || script {
        return vec![];
    }
    let end = if rule.tests { source.tests } else { source.code.len() };
    let lines = source.lines_with(rule.word).filter(|at| *at < end);
    lines.map(|at| Finding::new(path, at, format!("{} is for {} only", rule.word, rule.purpose))).collect()
}

/// The top-level module of charz that a file belongs to.
fn module_of_charz(path: &str) -> Option<&str> {
    let inside = path.strip_prefix("crates/charz/src/")?;
    let first = inside.split('/').next()?;
    Some(first.strip_suffix(".rs").unwrap_or(first))
}

fn row(module: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.contains(&module))
}

fn direction(module: &str, path: &str, source: &Source) -> Vec<Finding> {
    let Some(own) = row(module) else {
        return vec![Finding::new(
            path,
            0,
            format!("{module} has no row among the layers; give it one in xtask's tidy"),
        )];
    };
    let upward = |(at, named): (usize, String)| {
        let theirs = row(&named)?;
        (named != module && theirs <= own).then(|| {
            Finding::new(path, at, format!("{module} names {named}, which is not below it; see docs/architecture.md"))
        })
    };
    named_modules(source).into_iter().filter_map(upward).collect()
}

/// The modules that follow `crate::`, also in braces, each with its line. Test modules may look around freely.
fn named_modules(source: &Source) -> Vec<(usize, String)> {
    let mut named = Vec::new();
    // The depth of braces since `crate::{`; 0 outside of such a list.
    let mut depth = 0_usize;
    for (at, line) in source.code[..source.tests].iter().enumerate() {
        let mut rest = line.as_str();
        while !rest.is_empty() {
            if depth == 0 {
                let Some((before, after)) = rest.split_once("crate::") else { break };
                rest = after;
                // `$crate::` in a macro and `that_crate::` are other things.
                if before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
                    continue;
                }
                match rest.strip_prefix('{') {
                    Some(list) => (depth, rest) = (1, list),
                    None => named.extend(word_at_start(rest).map(|word| (at, word))),
                }
                continue;
            }
            let item_starts = depth == 1 && rest.starts_with(|c: char| c.is_alphabetic());
            let length = match rest.chars().next() {
                Some('{') => (depth += 1, 1).1,
                Some('}') => (depth -= 1, 1).1,
                _ if item_starts => {
                    named.extend(word_at_start(rest).map(|word| (at, word)));
                    // The rest of the item's path names no module of the first level.
                    rest.find([',', '{', '}']).unwrap_or(rest.len())
                }
                Some(c) => c.len_utf8(),
                None => 0,
            };
            rest = &rest[length..];
        }
    }
    named
}

fn word_at_start(text: &str) -> Option<String> {
    let word: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn lines(path: &str, text: &str, expected: &[usize]) {
        let found: Vec<usize> = check(path, &Source::new(text)).iter().map(|finding| finding.line).collect();
        assert_eq!(found, expected, "{path}: {text:?}");
    }

    #[test]
    fn reserved_names() {
        lines("crates/topology/src/discover/xml.rs", "use hwlocality::Topology;\n", &[]);
        lines("crates/topology/src/machine.rs", "//! Not hwlocality.\nuse hwlocality::Topology;\n", &[2]);
        lines("crates/charz/src/args/values.rs", "use clap::ValueEnum;\n", &[]);
        lines("crates/charz/src/plan.rs", "use clap::ValueEnum;\n", &[1]);
        lines("crates/kernels/src/noop.rs", "use charz_topology::Machine;\n", &[1]);
        lines("crates/charz/src/plan.rs", "use charz_topology::Machine;\nuse charz_kernels::Card;\n", &[]);
    }

    #[test]
    fn printing_is_for_views_and_tests() {
        let text = "fn f() {\n    println!(\"x\");\n}\n\n#[cfg(test)]\nmod tests {\n    fn g() { eprintln!() }\n}\n";
        lines("crates/charz/src/plan.rs", text, &[2]);
        lines("crates/charz/src/view/table.rs", text, &[]);
        lines("crates/kernels/examples/kernel.rs", text, &[]);
        lines("xtask/src/run.rs", text, &[]);
    }

    #[test]
    fn build_scripts_answer_by_printing() {
        lines("crates/charz/build.rs", "fn main() { println!() }\n", &[]);
    }

    #[test]
    fn modules_name_only_those_below() {
        lines("crates/charz/src/command/topo.rs", "use crate::view::table;\nuse crate::command::Context;\n", &[]);
        lines("crates/charz/src/view/table.rs", "use crate::command::Context;\n", &[1]);
        lines("crates/charz/src/limits.rs", "use crate::exit::Error;\nuse crate::view::table;\n", &[2]);
        lines("crates/charz/src/new.rs", "use crate::exit::Error;\n", &[1]);
        lines(
            "crates/charz/src/harness/gate.rs",
            "use crate::{\n    exit::Error,\n    sweep::{Plan, args},\n};\n",
            &[3],
        );
        lines("crates/charz/src/plan.rs", "fn f() { crate::sweep::run(); crate::limits::best() }\n", &[1]);
        lines("crates/charz/src/limits.rs", "fn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::sweep::x;\n}\n", &[]);
        lines("crates/charz/src/plan.rs", "macro_rules! m { () => { $crate::args::x } }\n", &[]);
    }
}
