//! Rates by threads: how well they are predicted from four points, and tables of others.

use std::fs;

use super::{Bench, Json, Outcome, Part, Row, by_machine, each, percent, text};
use xtask::Failure;

/// The fewest CPUs of a machine whose scaling is predicted.
const LEAST_CPUS: usize = 16;

/// A model of a machine: the errors of its predictions, how many of their intervals hold, and whether its cores have siblings.
struct Model {
    errors: Vec<f64>,
    held: usize,
    has_siblings: bool,
}

pub(super) fn check(bench: &Bench) -> Outcome<Part> {
    let machines = by_machine(bench.table("scaling.tsv.gz")?);
    let of_lscpu = by_machine(bench.table("lscpu.tsv.gz")?);
    let siblings = |name: &str| {
        let row = of_lscpu.iter().find(|(machine, _)| machine == name).and_then(|(_, rows)| rows.first());
        row.is_some_and(|row| row["threads_per_core"] != "1")
    };
    let wanted: Vec<_> = machines
        .iter()
        .filter_map(|(name, rows)| Some((bench.xml(name)?, name, table(rows)?, siblings(name))))
        .collect();
    let found = each(&wanted, |(xml, name, table, siblings)| {
        let file = bench.write(&format!("{name}.tsv"), table)?;
        let predicted = bench.charz(&["predict", "--table", &file, "--topology", text(xml)])?;
        Ok::<_, String>(model(&predicted, *siblings))
    });
    let models: Vec<Model> = found.into_iter().flatten().flatten().collect();
    let mut part = Part::default();
    part.rows.push(format!("{} of {} machines with a model from four points", models.len(), wanted.len()));
    for (kind, has_siblings) in [("with SMT", true), ("without SMT", false)] {
        let of: Vec<&Model> = models.iter().filter(|model| model.has_siblings == has_siblings).collect();
        let errors: Vec<f64> = of.iter().flat_map(|model| model.errors.iter().copied()).collect();
        let held: usize = of.iter().map(|model| model.held).sum();
        let mean = 100.0 * errors.iter().sum::<f64>() / errors.len().max(1) as f64;
        part.rows.push(format!(
            "{kind}: {} machines, mean error {mean:.2}%, {} of {} points in their 90% interval",
            of.len(),
            percent(held, errors.len()),
            errors.len()
        ));
    }
    Ok(part)
}

/// Four points to fit, of one thread, a quarter and 0.6 of the CPUs, and all; the others to predict. `None` of a small machine.
fn table(rows: &[Row]) -> Option<String> {
    let point = |row: &Row| Some((row["threads"].parse::<usize>().ok()?, row["ops"].clone()));
    let mut points: Vec<(usize, String)> = rows.iter().filter_map(point).collect();
    points.sort();
    points.dedup_by_key(|(threads, _)| *threads);
    let most = points.last()?.0;
    let nearest =
        |wanted: usize| points.iter().map(|(threads, _)| *threads).min_by_key(|threads| threads.abs_diff(wanted));
    let fitted = [Some(1), nearest(most / 4), nearest(most * 3 / 5), Some(most)];
    let line = |(threads, ops): &(usize, String)| {
        format!("round-robin\t{threads}\t{ops}\t{}\n", u8::from(fitted.contains(&Some(*threads))))
    };
    let lines: String = points.iter().map(line).collect();
    (most >= LEAST_CPUS && points.len() > 4).then(|| format!("mapping\tthreads\tvalue\tfit\n{lines}"))
}

fn model(predicted: &Json, has_siblings: bool) -> Option<Model> {
    let mut model = Model { errors: Vec::new(), held: 0, has_siblings };
    for one in predicted["predictions"].list() {
        let (Some(value), Some(measured)) = (one["value"].number(), one["measured"].number()) else { continue };
        model.errors.push((value / measured - 1.0).abs());
        let ends: Vec<f64> = one["interval"].list().iter().filter_map(Json::number).collect();
        model.held += usize::from(matches!(ends[..], [low, high] if low <= measured && measured <= high));
    }
    (!model.errors.is_empty()).then_some(model)
}

/// Tables of bandwidth by threads that others published.
pub(super) fn tables(bench: &Bench) -> Outcome<Part> {
    let folder = bench.data.join("tables");
    let entries = fs::read_dir(&folder).map_err(|error| Failure::io(format!("read {}", folder.display()), &error))?;
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let found = each(&files, |file| {
        let told = fs::read_to_string(file).map_err(|error| error.to_string())?;
        let topology = told.lines().find_map(|line| line.strip_prefix("# --topology "));
        let topology = topology.ok_or("it names no topology")?.trim().trim_matches(['\'', '"']);
        bench.charz(&["predict", "--table", text(file), "--topology", topology])
    });
    let mut part = Part::default();
    for (file, found) in files.iter().zip(found) {
        let name = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        part.rows.push(match found.map(|found| model(&found, false)) {
            Ok(Some(Model { errors, held, .. })) => {
                let mean = 100.0 * errors.iter().sum::<f64>() / errors.len() as f64;
                format!("{name:<32} mean error {mean:.1}%, {held} of {} points in their interval", errors.len())
            }
            Ok(None) => format!("{name:<32} no model"),
            Err(why) => {
                part.wrong.push(format!("{name}: {why}"));
                format!("{name:<32} refused")
            }
        });
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_points_are_fitted_and_the_others_predicted() {
        let row = |threads: usize| {
            let fields = [("threads", threads.to_string()), ("ops", format!("{threads}00"))];
            fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
        };
        let rows: Vec<Row> = [1, 2, 4, 7, 10, 16].map(row).into();
        let table = table(&rows).unwrap();
        let fitted: Vec<&str> =
            table.lines().filter(|line| line.ends_with("\t1")).filter_map(|line| line.split('\t').nth(1)).collect();
        assert_eq!(fitted, ["1", "4", "10", "16"]);
        assert_eq!(super::table(&rows[..5]), None);
    }
}
