//! Whether the gate sees a slowdown: one thing after the other is given about a tenth more work, and each has to fail.

use xtask::{Failure, Outcome};

use super::{CLOCKED, by_clock, by_instructions, differing, programs};
use crate::tree::Plant;

const PLANTS: [Plant; 6] = [
    Plant { what: "a kernel", by: "kernel/arith-int", from: "\"inc {n}\",", to: "\"inc {n}\", \"nop\", \"nop\"," },
    Plant {
        what: "the harness",
        by: "harness/",
        from: "let before = Fingerprint::read(cell.seats);",
        to: "let _ = Fingerprint::read(cell.seats);\n    let before = Fingerprint::read(cell.seats);",
    },
    Plant {
        what: "discovery",
        by: "discovery/",
        from: "let listing = sysfs::read(Path::new(sysfs::SYSTEM));\n    let nodes",
        to: "let listing = (0..40).map(|_| sysfs::read(Path::new(sysfs::SYSTEM))).last().unwrap();\n    let nodes",
    },
    Plant {
        what: "the reader",
        by: "report/",
        from: "    check(&report)?;\n    Ok(report)",
        to: "    (0..14).try_for_each(|_| check(&report))?;\n    Ok(report)",
    },
    Plant {
        what: "advice",
        by: "conclude/",
        from: "    let all: Vec<Advice<'a>> = Load::ALL.into_iter().flat_map(|load| on(load, table, &series)).collect();\n",
        to: "    let _ = table.series();\n    let all: Vec<Advice<'a>> = Load::ALL.into_iter().flat_map(|load| on(load, table, &series)).collect();\n",
    },
    Plant {
        what: "a renderer",
        by: "show/",
        from: "    out.write_all(document(page).0.as_bytes())\n",
        to: "    let _ = document(page);\n    out.write_all(document(page).0.as_bytes())\n",
    },
];

/// Compares the checkout with itself, where nothing may be slower, and then with each slowdown.
pub fn all() -> Outcome {
    Plant::check(&PLANTS)?;
    let sound = programs::unedited()?;
    let mut missed = Vec::new();
    for plant in &PLANTS {
        let Plant { what, by, .. } = plant;
        println!("\n== {what}");
        let slow = programs::edited(plant)?;
        let sides = [sound, slow];
        let is_seen = |slower: &[String]| slower.iter().any(|bench| bench.starts_with(by));
        let targets = differing(&sides, false);
        let seen = is_seen(&by_instructions(&sides, &targets, "")?)
            || is_seen(&by_clock(&sides, &targets, "", CLOCKED, false)?);
        println!("== {what}: {}", if seen { "seen" } else { "MISSED" });
        if !seen {
            missed.push(*what);
        }
    }
    match missed.is_empty() {
        true => Ok(()),
        false => Err(Failure::found(format!("the gate does not see a slowdown of {}", missed.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slowdown_still_has_its_place() {
        Plant::check(&PLANTS).unwrap();
    }
}
