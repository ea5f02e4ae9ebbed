//! Latencies by size: whether the brackets of edges hold the steepest rise, and which claimed caches are contradicted.

use std::collections::BTreeMap;

use super::{Bench, Json, Outcome, Part, Row, by_machine, each, percent, text};

/// The least share of curves whose steepest rise is in a bracket.
const LEAST_HELD: f64 = 0.98;

/// What a curve showed.
struct Seen {
    held: bool,
    levels: Vec<Claim>,
}

/// A claimed cache.
struct Claim {
    level: u32,
    verdict: String,
    /// Whether the curve allows a contradicted one by the definition alone.
    is_allowed: bool,
    /// The smallest size that contradicts it, as a share of it.
    share: Option<f64>,
}

/// Shares of a claimed size at which it is contradicted.
const SHARES: [(f64, &str); 3] = [(0.25, "a quarter"), (0.5, "half"), (0.75, "three quarters")];

pub(super) fn check(bench: &Bench) -> Outcome<Part> {
    let curves = bench.table("memory.tsv.gz")?.into_iter().filter(|row| row["operation"] == "latency").collect();
    let machines: Vec<_> =
        by_machine(curves).into_iter().filter_map(|(name, rows)| Some((bench.xml(&name)?, name, rows))).collect();
    let found = each(&machines, |(xml, name, rows)| one(bench, text(xml), name, rows));
    let (mut part, mut held, mut read) = (Part::default(), 0, 0);
    let mut verdicts: BTreeMap<u32, BTreeMap<String, usize>> = BTreeMap::new();
    let mut kinds: BTreeMap<(u32, &str, &str), usize> = BTreeMap::new();
    let models: BTreeMap<String, String> =
        bench.table("lscpu.tsv.gz")?.into_iter().map(|row| (row["machine"].clone(), row["model"].clone())).collect();
    for ((_, name, _), seen) in machines.iter().zip(found) {
        match seen {
            Ok(seen) => {
                (held, read) = (held + usize::from(seen.held), read + 1);
                for Claim { level, verdict, is_allowed, share } in seen.levels {
                    if let Some(share) = share {
                        let (_, at) = SHARES.iter().find(|(most, _)| share <= *most).unwrap_or(&SHARES[2]);
                        *kinds.entry((level, at, maker(models.get(name)))).or_default() += 1;
                    }
                    if is_allowed {
                        part.wrong.push(format!("{name}: L{level} is contradicted, and the curve allows it"));
                    }
                    *verdicts.entry(level).or_default().entry(verdict).or_default() += 1;
                }
            }
            Err(why) => part.wrong.push(format!("{name}: {why}")),
        }
    }
    part.rows.push(format!("{read} of {} curves read", machines.len()));
    part.rows.push(format!("{held} hold the steepest rise in a bracket of an edge ({})", percent(held, read)));
    for (level, verdicts) in verdicts {
        let counts: Vec<String> = verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
        part.rows.push(format!("L{level}: {}", counts.join(", ")));
    }
    for ((level, at, maker), count) in kinds {
        part.rows.push(format!("L{level} contradicted by a block of up to {at} of it: {count} of {maker}"));
    }
    if (held as f64) < LEAST_HELD * read as f64 {
        part.wrong.push(format!("only {held} of {read} curves have their steepest rise in a bracket"));
    }
    Ok(part)
}

fn one(bench: &Bench, xml: &str, name: &str, rows: &[Row]) -> Result<Seen, String> {
    let point = |row: &Row| Some((1024 * row["size_kib"].parse::<u64>().ok()?, row["latency_ns"].parse::<f64>().ok()?));
    let mut points: Vec<(u64, f64)> = rows.iter().filter_map(point).filter(|(_, ns)| *ns > 0.0).collect();
    points.sort_by_key(|(size, _)| *size);
    let lines: String = points.iter().map(|(size, ns)| format!("{size},{ns}\n")).collect();
    let table = bench.write(&format!("{name}.csv"), &format!("size,latency_ns\n{lines}"))?;
    let found = bench.charz(&["topo", "--latency-by-size", &table, "--topology", xml])?;
    let caches = found["caches"].list();
    let rise = |pair: &&[(u64, f64)]| pair[1].1 / pair[0].1;
    let steepest = points.windows(2).max_by(|a, b| rise(a).total_cmp(&rise(b)));
    let holds = |cache: &Json| {
        let edge: Vec<f64> = cache["edge_bytes"].list().iter().filter_map(Json::number).collect();
        steepest.is_none_or(|pair| edge == [pair[0].0 as f64, pair[1].0 as f64])
    };
    let mut inner = 0.0;
    let level = |cache: &Json| {
        let claimed = cache["claimed_bytes"].number().unwrap_or(0.0);
        let verdict = cache["verdict"].text().to_owned();
        let is_allowed = verdict == "contradicted" && allows(&points, inner, claimed);
        inner = claimed;
        let share = cache["evidence"]["size_bytes"].number().map(|size| size / claimed);
        Some(Claim { level: cache["level"].id()?, verdict, is_allowed, share })
    };
    Ok(Seen { held: caches.iter().any(holds), levels: caches.iter().filter_map(level).collect() })
}

fn maker(model: Option<&String>) -> &'static str {
    let model = model.map(|model| model.to_lowercase()).unwrap_or_default();
    match () {
        () if model.contains("intel") || model.contains("xeon") => "Intel",
        () if model.contains("amd") || model.contains("epyc") => "AMD",
        () => "others",
    }
}

/// Whether no size that is claimed to fit takes longer than halfway, by the ratio, from the fastest such size to the largest of all.
fn allows(points: &[(u64, f64)], inner: f64, claimed: f64) -> bool {
    let within = || points.iter().filter(|(size, _)| *size as f64 > inner && *size as f64 <= claimed);
    let fastest = within().map(|(_, ns)| *ns).fold(f64::INFINITY, f64::min);
    let memory = points.last().map_or(0.0, |(_, ns)| *ns);
    within().all(|(_, ns)| *ns <= (fastest * memory).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_allows_what_it_does_not_exclude() {
        let points = [(1000, 2.0), (5000, 20.0), (9000, 60.0), (40000, 100.0)];
        assert!(allows(&points, 1000.0, 8000.0));
        assert!(!allows(&points, 1000.0, 16000.0));
    }
}
