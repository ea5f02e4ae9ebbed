//! Whether charz names what disturbed it, and nothing else.

use serde_json::{Value, json};

use super::table::Share;

/// What disturbs a sweep, by the name of its condition, and what a report may name for it: of these kinds, processes of these names.
pub struct Disturbance {
    pub condition: &'static str,
    kinds: &'static [&'static str],
    names: &'static [&'static str],
}

/// This program, whose hogs disturb.
const HOG: &str = env!("CARGO_PKG_NAME");

pub const DISTURBANCES: [Disturbance; 7] = [
    Disturbance { condition: "undisturbed", kinds: &[], names: &[] },
    Disturbance { condition: "spin", kinds: &[], names: &[HOG] },
    Disturbance { condition: "fork", kinds: &[], names: &[HOG, "true"] },
    Disturbance { condition: "compile", kinds: &[], names: &[HOG, "rustc"] },
    Disturbance { condition: "timers", kinds: &["interrupts"], names: &[HOG] },
    Disturbance { condition: "memory", kinds: &[], names: &[HOG] },
    Disturbance { condition: "quota-50%", kinds: &["quota"], names: &[] },
];

/// What used less of a CPU is not worth naming, as charz has it.
const LEAST: f64 = 0.05;

/// What a report names: its kind, the name of a process, and the CPUs that it used in the mean.
pub type Named = (String, String, f64);

/// What a report names, over all runs after which charz looked; of processes those that its reader was told, too.
pub fn named(report: &str, printed: &str) -> Result<Vec<Named>, String> {
    // Lines end where there is no more room.
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    let told = squeezed(printed);
    let report: Value = serde_json::from_str(report).map_err(|error| error.to_string())?;
    let all = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (mut looked, mut named) = (0, Vec::<(String, String, u64)>::new());
    for run in all(&report["cells"]).iter().flat_map(|cell| all(&cell["runs"])) {
        let Some(time) = run["evidence"]["looked_ns"].as_u64() else { continue };
        looked += time;
        for culprit in all(&run["evidence"]["culprits"]) {
            let text = |key: &str| culprit[key].as_str().map(str::to_owned).ok_or(format!("a culprit has no {key}"));
            let kind = text("kind")?;
            // That of one whose children used most.
            let name = if kind == "process" { text("name")?.replace(" and its children", "") } else { String::new() };
            let used = culprit["cpu_ns"].as_u64().ok_or("a culprit has no cpu_ns")?;
            match named.iter_mut().find(|(k, n, _)| (k, n) == (&kind, &name)) {
                Some((.., sum)) => *sum += used,
                None => named.push((kind, name, used)),
            }
        }
    }
    if looked == 0 {
        return Err("charz looked for nothing".to_owned());
    }
    let cpus = named.into_iter().map(|(kind, name, used)| (kind, name, used as f64 / looked as f64));
    let is_told = |kind: &str, name: &str| kind != "process" || told.contains(&squeezed(name));
    Ok(cpus.filter(|(kind, name, cpus)| *cpus >= LEAST && is_told(kind, name)).collect())
}

/// The sweeps of a disturbance: in how many it was named, and in how many something innocent was.
pub struct Found {
    condition: &'static str,
    right: Share,
    innocent: Vec<String>,
}

impl Found {
    pub fn new(of: &Disturbance, sweeps: &[Vec<Named>]) -> Self {
        let is_process = |(kind, ..): &Named| kind == "process";
        let guilty = |named: &Named| {
            if is_process(named) { of.names.contains(&named.1.as_str()) } else { of.kinds.contains(&named.0.as_str()) }
        };
        let is_right = |sweep: &Vec<Named>| match (of.kinds, of.names) {
            ([], []) => sweep.is_empty(),
            _ => sweep.iter().any(guilty),
        };
        // What the host, or a limit, takes away besides is true as well.
        let innocent = sweeps.iter().flatten().filter(|named| is_process(named) && !guilty(named));
        Found {
            condition: of.condition,
            right: Share { of: sweeps.len(), count: sweeps.iter().filter(|sweep| is_right(sweep)).count() },
            innocent: innocent.map(|(_, name, cpus)| format!("{name} ({cpus:.2} CPUs)")).collect(),
        }
    }

    pub const COLUMNS: [&'static str; 3] = ["disturbance", "named", "others named"];

    pub fn line(&self) -> Vec<String> {
        let others = if self.innocent.is_empty() { "-".to_owned() } else { self.innocent.join(", ") };
        vec![self.condition.to_owned(), self.right.to_string(), others]
    }

    pub fn json(&self) -> Value {
        json!({"disturbance": self.condition, "named": self.right.json(), "others": self.innocent})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(culprits: Value) -> String {
        let run = |culprits| json!({"evidence": {"looked_ns": 1_000, "culprits": culprits}});
        json!({"cells": [{"runs": [run(culprits), run(json!([])), {"evidence": null}]}]}).to_string()
    }

    #[test]
    fn what_used_little_is_not_named_and_sums_are_of_all_runs() {
        let culprit = |kind: &str, name: &str, used: u64| json!({"kind": kind, "name": name, "cpu_ns": used});
        let all = json!([
            culprit("process", "hog", 300),
            culprit("process", "hog and its children", 500),
            culprit("process", "ls", 90),
            culprit("quota", "x", 200)
        ]);
        let of = |kind: &str, name: &str, cpus| (kind.to_owned(), name.to_owned(), cpus);
        let all = report(all);
        let told = "Quality  fair; h\n         og (pid 1) used 0.4 CPUs";
        assert_eq!(named(&all, told), Ok(vec![of("process", "hog", 0.4), of("quota", "", 0.1)]));
        assert_eq!(named(&all, "Quality  good"), Ok(vec![of("quota", "", 0.1)]));
        assert_eq!(named(&report(json!([])), told), Ok(vec![]));
        assert!(named(r#"{"cells": []}"#, told).is_err());
    }

    #[test]
    fn guilty_and_innocent() {
        let process = |name: &str| ("process".to_owned(), name.to_owned(), 0.5);
        let quota = || ("quota".to_owned(), String::new(), 0.5);
        let found = |condition: &str, sweeps: &[Vec<Named>]| {
            let of = DISTURBANCES.iter().find(|of| of.condition == condition).unwrap();
            let found = Found::new(of, sweeps);
            (found.right.count, found.innocent.len())
        };
        assert_eq!(found("fork", &[vec![process("true")], vec![process("ls")], vec![]]), (1, 1));
        assert_eq!(found("undisturbed", &[vec![], vec![process("ls")]]), (1, 1));
        assert_eq!(found("quota-50%", &[vec![quota()], vec![process(HOG)]]), (1, 1));
        // A host that takes time beside a hog is no innocent.
        assert_eq!(found("spin", &[vec![process(HOG), quota()]]), (1, 0));
    }
}
