//! Whether the net sees: a rule or a word is changed in each room that concludes, one after the other, and what is recorded of reports has
//! to differ.

use std::time::Instant;

use xtask::{Failure, Outcome, workspace};

use crate::tree::{Plant, Tree};

const PLANTS: [Plant; 13] = [
    Plant {
        what: "runs have several speeds where they are further apart",
        by: "net",
        from: "const LEAST_GAP: f64 = 0.05;",
        to: "const LEAST_GAP: f64 = 0.5;",
    },
    Plant {
        what: "a narrower interval is wide",
        by: "net",
        from: "pub const WIDEST: f64 = 0.05;",
        to: "pub const WIDEST: f64 = 0.02;",
    },
    Plant {
        what: "the margin within which placements are alike",
        by: "net",
        from: "pub const MARGIN: f64 = 0.02;",
        to: "pub const MARGIN: f64 = 0.2;",
    },
    Plant {
        what: "a word of advice",
        by: "net",
        from: "\"; within 5% of the peak at {}\"",
        to: "\"; near the peak at {}\"",
    },
    Plant {
        what: "the name of a cause",
        by: "net",
        from: "    (\"other programs at work\", &[\"V34\"], QUIETEN),",
        to: "    (\"programs at work\", &[\"V34\"], QUIETEN),",
    },
    Plant {
        what: "the collapse of a kernel",
        by: "net",
        from: "const HALF: f64 = 0.5;",
        to: "const HALF: f64 = 0.05;",
    },
    Plant {
        what: "how well the likeness of successive runs is known",
        by: "net",
        from: "const LEAST_ERROR: f64 = 0.3;",
        to: "const LEAST_ERROR: f64 = 0.9;",
    },
    Plant {
        what: "a word of a comparison",
        by: "net",
        from: "\"runs not interleaved\"",
        to: "\"one after the other\"",
    },
    Plant {
        what: "how much better another model has to be",
        by: "net",
        from: "const MISFIT: f64 = 0.06;",
        to: "const MISFIT: f64 = 1e-6;",
    },
    Plant {
        what: "how many visits make a slow node",
        by: "net",
        from: "const VISITS: usize = 3;",
        to: "const VISITS: usize = 5;",
    },
    Plant {
        what: "a word of a fleet",
        by: "net",
        from: "Remedy::Again => \"sweep it again when it is idle\"",
        to: "Remedy::Again => \"sweep again when idle\"",
    },
    Plant {
        what: "the name of an environment's fact in a history",
        by: "net",
        from: "fact(\"clock\", Told, |report| Some(Text(&report.plan.clock)))",
        to: "fact(\"clock\", Told, |report| Some(Text(&report.started)))",
    },
    Plant { what: "a column of a table", by: "net", from: "(\"per_worker\", |row|", to: "(\"of_each\", |row|" },
];

pub fn start(words: &[String]) -> Outcome {
    if words != ["--planted"] {
        return Err(Failure::usage("`net` takes --planted; cargo test -p charz --test net compares what is printed"));
    }
    Plant::check(&PLANTS)?;
    let folder = workspace::target().join("net");
    let tree = Tree::of_checkout(folder.join("tree"))?;
    let differs = || -> Outcome<Option<String>> {
        let mut cargo = workspace::cargo();
        // From the checkout's root: the tree's own configuration would be merged into the checkout's around it.
        cargo.current_dir(workspace::root()).env("CARGO_TARGET_DIR", folder.join("target"));
        cargo.env("INSTA_UPDATE", "no").env("RUST_BACKTRACE", "0").env("CARGO_PROFILE_DEV_DEBUG", "false");
        cargo.args(["test", "--quiet", "--locked", "--package", "charz", "--test", "net", "--manifest-path"]);
        cargo.arg(tree.path().join("Cargo.toml"));
        let ran = cargo.output().map_err(|error| Failure::io("start cargo", &error))?;
        let out = String::from_utf8_lossy(&ran.stdout).into_owned();
        let all = || out.lines().filter_map(|line| line.split_once(" differ: ").map(|(count, _)| count.to_owned()));
        match (ran.status.success(), all().collect::<Vec<_>>()) {
            (true, _) => Ok(None),
            (false, counts) if !counts.is_empty() => Ok(Some(counts.join(" + "))),
            _ => Err(Failure::found(format!("the net does not run: {}", String::from_utf8_lossy(&ran.stderr)))),
        }
    };
    if let Some(count) = differs()? {
        return Err(Failure::found(format!("without a change, {count} differ: accept them, or fix what changed them")));
    }
    let mut missed = Vec::new();
    for plant in &PLANTS {
        let (what, begun) = (plant.what, Instant::now());
        let seen = tree.with(plant, differs).map_err(|failure| failure.within(what))?;
        let said = seen.as_deref().map_or("MISSED".to_owned(), |count| format!("seen: {count} differ"));
        println!("{what}: {said} ({:.0?})", begun.elapsed());
        if seen.is_none() {
            missed.push(what);
        }
    }
    match missed.is_empty() {
        true => Ok(()),
        false => Err(Failure::found(format!("what is recorded of reports does not show {}", missed.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_still_has_its_place() {
        Plant::check(&PLANTS).unwrap();
    }
}
