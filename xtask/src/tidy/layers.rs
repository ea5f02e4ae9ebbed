//! Rules about which crates and modules may use which words.

use super::Finding;
use super::source::Source;

/// A word that only some places may say.
struct Reserved {
    word: &'static str,
    /// Where the rule holds, and which files may use the word there: prefixes of paths.
    within: &'static [&'static str],
    allowed: &'static [&'static str],
    /// The end of the sentence "… is for …".
    purpose: &'static str,
}

const OURS: &[&str] = &["crates/", "benches/", "tests/"];

const RESERVED: &[Reserved] = &[
    Reserved {
        word: "hwlocality",
        within: OURS,
        allowed: &["crates/topology/src/discover", "crates/topology/src/bind.rs"],
        purpose: "the discovery and the binding of the topology crate",
    },
    Reserved {
        word: "core_affinity",
        within: OURS,
        allowed: &["crates/topology/src/bind.rs"],
        purpose: "crates/topology/src/bind.rs",
    },
    Reserved { word: "clap", within: OURS, allowed: ARGS, purpose: "crates/charz/src/args*" },
    Reserved { word: "clap_complete", within: OURS, allowed: ARGS, purpose: "crates/charz/src/args*" },
    Reserved {
        word: "charz_topology",
        within: &["crates/kernels/", "crates/workloads/", "xtask/"],
        allowed: &[],
        purpose: "charz and charz-measure; kernels say what, not where, and xtask links nothing of ours",
    },
    Reserved {
        word: "charz_kernels",
        within: &["crates/topology/", "xtask/"],
        allowed: &[],
        purpose: "charz and charz-measure; the topology says where, not what, and xtask links nothing of ours",
    },
    Reserved {
        word: "charz_workloads",
        within: &["crates/kernels/", "crates/topology/", "xtask/"],
        allowed: &[],
        purpose: "charz; it adds its kernels to those of charz-kernels",
    },
    Reserved { word: "charz_kernels::find", within: OURS, allowed: CATALOG, purpose: ALL_KERNELS },
    Reserved { word: "charz_kernels::kernels", within: OURS, allowed: CATALOG, purpose: ALL_KERNELS },
    Reserved { word: "charz_kernels::families", within: OURS, allowed: CATALOG, purpose: ALL_KERNELS },
    Reserved {
        word: "charz_data",
        within: &["crates/stats/src/"],
        allowed: &["crates/stats/src/changes.rs", "crates/stats/src/modes/tests.rs"],
        purpose: "the change points, whose work is shared by threads; stats knows no report, unit or kernel",
    },
    Reserved { word: "format", within: WORDLESS, allowed: &[], purpose: ENGLISH },
    Reserved {
        word: "format",
        within: &["crates/replicate/src/", "crates/model/src/", "crates/audit/src/"],
        allowed: &[
            "crates/replicate/src/count.rs",
            "crates/replicate/src/tests",
            "crates/model/src/topology.rs",
            "crates/model/src/fixtures.rs",
            "crates/model/src/tests",
        ],
        purpose: ENGLISH,
    },
    Reserved { word: "String", within: WORDLESS, allowed: &[], purpose: ENGLISH },
    Reserved { word: "charz_words", within: WORDLESS, allowed: &[], purpose: ENGLISH },
    Reserved {
        word: "format",
        within: &["crates/fleet/src/"],
        allowed: FLEETS_ENGLISH,
        purpose: "the words, pages and formats of fleets, on which nothing stands",
    },
    Reserved { word: "charz_system", within: PORTABLE, allowed: &[], purpose: ELSEWHERE },
    Reserved { word: "unix", within: PORTABLE, allowed: &[], purpose: ELSEWHERE },
    Reserved { word: "linux", within: PORTABLE, allowed: &[], purpose: ELSEWHERE },
    Reserved { word: "libc", within: PORTABLE, allowed: &[], purpose: ELSEWHERE },
    Reserved { word: "rustix", within: PORTABLE, allowed: &[], purpose: ELSEWHERE },
    Reserved {
        word: "unsafe",
        within: &[""],
        allowed: UNSAFE,
        purpose: "sys of the kernels and of launch, clock and counters",
    },
];

/// Who knows that there are other kernels than those of charz-kernels.
const CATALOG: &[&str] = &["crates/kernels/", "crates/workloads/"];

const ALL_KERNELS: &str = "the crates of kernels; charz_workloads has them all";

/// What concludes: it has enums, numbers, and names that it borrows from the report.
const WORDLESS: &[&str] = &["crates/estimate/src/", "crates/claims/src/"];

const ENGLISH: &str = "charz-words and what is above it; conclusions are types";

const FLEETS_ENGLISH: &[&str] =
    &["crates/fleet/src/formats", "crates/fleet/src/page.rs", "crates/fleet/src/tests", "crates/fleet/src/words"];

/// What reads and draws reports, on any system.
const PORTABLE: &[&str] = &[
    "crates/data/",
    "crates/stats/",
    "crates/judge/",
    "crates/audit/",
    "crates/analysis/",
    "crates/claims/",
    "crates/estimate/",
    "crates/words/",
    "crates/fleet/",
    "crates/model/",
    "crates/replicate/",
    "crates/render/",
];

const ELSEWHERE: &str = "crates that measure; reports are read on any system";

/// The examples of the kernels call the same loops as the kernels do.
const UNSAFE: &[&str] = &[
    "crates/kernels/src/sys",
    "crates/workloads/src/sys",
    "crates/launch/src/sys",
    "crates/kernels/examples/",
    "crates/measure/src/harness/clock",
    "crates/measure/src/harness/counters",
];

const ARGS: &[&str] = &["crates/charz/src/args"];

/// The modules of a crate from the top, by its folder: a module may name those in rows below its own, and itself. Cargo sees to the order
/// of the crates.
#[rustfmt::skip]
const LAYERS: &[(&str, &[&[&str]])] = &[
    ("crates/charz/src/", &[
        &["main", "lib"],
        &["program"],
        &["planned"],
        &["args", "parsers"],
        &["command"],
        &["view"],
        &["signals", "selftest", "history", "collection", "permit"],
        &["anonymous", "database", "seal"],
        &["settings"],
        &["log"],
        &["exit", "provenance"],
        &["golden"],
    ]),
    ("crates/fleet/src/", &[
        &["lib", "tests"],
        &["formats"],
        &["page"],
        &["words"],
        &["baseline"],
        &["judge"],
        &["blame", "loads", "whole"],
        &["classes"],
        &["norms"],
        &["visit"],
        &["parts"],
        &["claim"],
        &["setting"],
    ]),
    ("crates/measure/src/", &[
        &["lib"],
        &["parsers", "fixtures"],
        &["sweep"],
        &["plan"],
        &["predict", "doctor", "disk"],
        &["invoke"],
        &["user_program"],
        &["harness", "limits"],
        &["journal"],
        &["lock"],
        &["atomic_file", "moment"],
        &["golden"],
    ]),
];

/// What files of the system are known by. Each has its parser, in charz-system.
const FACTS: &[&str] =
    &["Cpus_allowed_list", "Mems_allowed_list", "SigIgn", "/proc/self/cgroup", "/proc/self/mountinfo"];

/// Facts of the system that are parsed in another crate. Tests may write and read such files themselves.
pub fn facts(path: &str, text: &str, source: &Source) -> Vec<Finding> {
    if !path.starts_with("crates/") || path.starts_with("crates/system/") || is_test(path) {
        return vec![];
    }
    let lines = text.lines().enumerate().take(source.tests);
    let found =
        lines.flat_map(|(at, line)| FACTS.iter().filter(|fact| line.contains(**fact)).map(move |fact| (at, fact)));
    found.map(|(at, fact)| Finding::new(path, at, format!("{fact} is for charz-system only; ask it"))).collect()
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs")
}

pub fn check(path: &str, source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in RESERVED {
        findings.extend(reserved(rule, path, source));
    }
    if let Some((module, rows)) = layered(path).filter(|_| !is_test(path)) {
        findings.extend(direction(module, rows, path, source));
    }
    findings
}

fn reserved(rule: &Reserved, path: &str, source: &Source) -> Vec<Finding> {
    let starts = |places: &[&str]| places.iter().any(|place| path.starts_with(place));
    if !starts(rule.within) || starts(rule.allowed) {
        return vec![];
    }
    // Tests of types may say what they saw.
    let is_exempt = rule.within == WORDLESS && (is_test(path) || path.ends_with("fixtures.rs"));
    let most = if is_exempt {
        0
    } else if rule.within == WORDLESS {
        source.tests
    } else {
        usize::MAX
    };
    let lines = source.lines_with(rule.word).filter(|at| *at < most);
    lines.map(|at| Finding::new(path, at, format!("{} is for {} only", rule.word, rule.purpose))).collect()
}

/// The top-level module that a file belongs to, and the rows of its crate.
fn layered(path: &str) -> Option<(&str, &'static [&'static [&'static str]])> {
    let (inside, rows) = LAYERS.iter().find_map(|(folder, rows)| Some((path.strip_prefix(folder)?, *rows)))?;
    let first = inside.split('/').next()?;
    Some((first.strip_suffix(".rs").unwrap_or(first), rows))
}

fn direction(module: &str, rows: &[&[&str]], path: &str, source: &Source) -> Vec<Finding> {
    let row = |module: &str| rows.iter().position(|row| row.contains(&module));
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
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let code = source.code[..source.tests].join("\n");
    let mut named = Vec::new();
    let mut name = |at: usize| {
        let module: String = code[at..].chars().take_while(|c| is_word(*c)).collect();
        named.extend((!module.is_empty()).then(|| (code[..at].matches('\n').count(), module)));
    };
    for (before, path) in code.match_indices("crate::") {
        // `$crate::` in a macro and `that_crate::` are other things.
        if code[..before].ends_with(|c| is_word(c) || c == '$') {
            continue;
        }
        let after = before + path.len();
        if !code[after..].starts_with('{') {
            name(after);
            continue;
        }
        // The names at the first level of the list.
        let (mut depth, mut begins) = (0, false);
        for (at, c) in code[after..].char_indices() {
            match c {
                '{' => (depth, begins) = (depth + 1, depth == 0),
                '}' if depth == 1 => break,
                '}' => depth -= 1,
                ',' => begins = depth == 1,
                _ if begins && is_word(c) => {
                    name(after + at);
                    begins = false;
                }
                _ => {}
            }
        }
    }
    named
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
        lines("crates/measure/src/plan.rs", "use clap::ValueEnum;\n", &[1]);
        lines("crates/kernels/src/noop.rs", "use charz_topology::Machine;\n", &[1]);
        lines("crates/measure/src/plan.rs", "use charz_topology::Machine;\nuse charz_kernels::Card;\n", &[]);
    }

    #[test]
    fn reports_are_read_on_any_system() {
        lines("crates/data/src/report/read.rs", "use std::os::unix::fs::MetadataExt;\n", &[1]);
        lines(
            "crates/render/src/look.rs",
            "#[cfg(target_family = \"unix\")]\nlet size = rustix::termios::size();\n",
            &[2],
        );
        lines("crates/topology/src/usable.rs", "use std::os::unix::fs::MetadataExt;\n", &[]);
    }

    #[test]
    fn files_of_the_system_have_one_parser() {
        let text = "let status = \"SigIgn:\";\n#[cfg(test)]\nmod tests {\n    let status = \"SigIgn:\";\n}\n";
        let lines = |path| facts(path, text, &Source::new(text)).iter().map(|found| found.line).collect::<Vec<_>>();
        assert_eq!(lines("crates/launch/src/relay.rs"), [1]);
        assert_eq!(lines("crates/system/src/status.rs"), [0; 0]);
        assert_eq!(lines("crates/measure/src/doctor/tests.rs"), [0; 0]);
    }

    #[test]
    fn unsafe_code_is_for_some_places() {
        lines("crates/measure/src/plan.rs", "unsafe { f() }\n", &[1]);
        lines("crates/measure/src/harness/clock/tsc.rs", "unsafe { f() }\n", &[]);
        lines("xtask/src/run.rs", "#![forbid(unsafe_code)] // unsafe { is not here\nlet s = \"unsafe {\";\n", &[]);
    }

    #[test]
    fn modules_name_only_those_below() {
        lines("crates/charz/src/command/topo.rs", "use crate::view::table;\nuse crate::command::Context;\n", &[]);
        lines("crates/charz/src/view/table.rs", "use crate::command::Context;\n", &[1]);
        lines("crates/charz/src/signals.rs", "use crate::exit::Error;\nuse crate::view::table;\n", &[2]);
        lines("crates/charz/src/new.rs", "use crate::exit::Error;\n", &[1]);
        lines(
            "crates/measure/src/harness/gate.rs",
            "use crate::{\n    lock::Error,\n    sweep::{Plan, args},\n};\n",
            &[3],
        );
        lines("crates/measure/src/plan.rs", "fn f() { crate::sweep::run(); crate::limits::best() }\n", &[1]);
        lines(
            "crates/measure/src/limits.rs",
            "fn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::sweep::x;\n}\n",
            &[],
        );
        lines("crates/measure/src/plan.rs", "macro_rules! m { () => { $crate::sweep::x } }\n", &[]);
    }
}
