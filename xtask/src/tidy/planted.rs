//! Whether tidy sees: it has a finding for each fault that is planted in the checkout.

use super::{findings, read};

/// What is planted, and how the sentence about it begins.
struct Fault {
    file: &'static str,
    /// A text of the file, whose first place is edited; empty for a new file.
    from: &'static str,
    to: &'static str,
    sentence: &'static str,
}

const FAULTS: &[Fault] = &[
    // Files that declare their tests before their code.
    Fault {
        file: "crates/estimate/src/estimate.rs",
        from: "use crate::quantity::",
        to: "use crate::relation::Peers;\nuse crate::quantity::",
        sentence: "a circle of files",
    },
    Fault {
        file: "crates/measure/src/harness/blocks.rs",
        from: "use super::worker::Stamped;\n",
        to: "use super::cell::measure;\nuse super::worker::Stamped;\n",
        sentence: "a circle of files",
    },
    Fault {
        file: "crates/measure/src/plan.rs",
        from: "use crate::predict::Predictor;\n",
        to: "use crate::predict::Predictor;\nuse crate::sweep::Sweep;\n",
        sentence: "plan names sweep, which is not below it",
    },
    Fault {
        file: "crates/measure/src/predict.rs",
        from: "use crate::invoke::",
        to: "use crate::plan::Plan;\nuse crate::invoke::",
        sentence: "predict names plan, which is not below it",
    },
    Fault {
        file: "crates/charz/src/planted.rs",
        from: "",
        to: "fn f() {}\n",
        sentence: "planted has no row among the layers",
    },
    Fault {
        file: "crates/estimate/src/relation.rs",
        from: "use crate::quantity::",
        to: "use rustix::process::getpid;\nuse crate::quantity::",
        sentence: "rustix is for crates that measure",
    },
    Fault {
        file: "crates/claims/src/verdict.rs",
        from: "use charz_data::Role;\n",
        to: "use charz_data::Role;\nfn planted() -> String { format!(\"\") }\n",
        sentence: "format is for charz-words",
    },
    Fault {
        file: "crates/kernels/src/noop.rs",
        from: "use ",
        to: "use charz_topology::Machine;\nuse ",
        sentence: "charz_topology is for charz and charz-measure",
    },
    Fault {
        file: "crates/measure/src/sweep.rs",
        from: "impl Sweep<'_> {\n",
        to: "fn planted(at: *const u8) -> u8 {\n    // SAFETY: it is planted.\n    unsafe { *at }\n}\n\nimpl Sweep<'_> {\n",
        sentence: "unsafe is for sys",
    },
    Fault {
        file: "crates/kernels/src/sys/strand.rs",
        from: "// SAFETY: ",
        to: "// ",
        sentence: "this unsafe has no `// SAFETY:` line",
    },
    Fault {
        file: "crates/launch/src/lib.rs",
        from: "mod ",
        to: "const PLANTED: &str = \"SigIgn\";\nmod ",
        sentence: "SigIgn is for charz-system only",
    },
    Fault { file: "docs/methodology.md", from: "\n\n", to: "\n\nIt is so, so\u{20}that it is. ", sentence: "\"so t" },
];

/// Circles are those of a crate, so each fault is looked for among the files of its own.
#[test]
fn each_planted_fault_is_found() {
    let all = read().unwrap();
    for Fault { file, from, to, sentence } in FAULTS {
        let folder = file.split_inclusive("/src/").next().unwrap_or_default();
        let mut files = all.clone();
        files.retain(|path, _| path.starts_with(folder));
        let text = all.get(*file).map_or("", String::as_str);
        assert!(text.contains(from), "{from:?} is not in {file}");
        files.insert((*file).to_owned(), if from.is_empty() { (*to).to_owned() } else { text.replacen(from, to, 1) });
        let found = findings(&files);
        assert!(found.iter().any(|one| one.sentence.starts_with(sentence)), "{sentence} in {file}: {found:?}");
    }
}
