//! Matrices of core-to-core latencies: which levels are found.

use std::collections::BTreeSet;

use super::{Bench, Json, Outcome, Part, each, text};

pub(super) fn check(bench: &Bench) -> Outcome<Part> {
    let rows = bench.table("c2c/expected.tsv")?;
    let files: Vec<&[super::Row]> = rows.chunk_by(|a, b| a["file"] == b["file"]).collect();
    let found = each(&files, |rows| {
        bench.charz(&["topo", "--latencies", text(&bench.data.join("c2c").join(&rows[0]["file"]))])
    });
    let mut part = Part::default();
    let mut counts = [0; 3];
    part.rows.push(format!("{:<48}  {:<8}  {:<9}  {:<10}  named", "machine", "level", "verdict", "confidence"));
    for (rows, found) in files.iter().zip(found) {
        let file = &rows[0]["file"];
        let machine = file.trim_end_matches(".csv");
        let found = match found {
            Ok(found) => found,
            Err(why) => {
                part.wrong.push(format!("{machine}: {why}"));
                continue;
            }
        };
        let mut open: BTreeSet<usize> = (0..found["levels"].list().len()).collect();
        for row in rows.iter().filter(|row| row["level"] != "-") {
            let at = open.iter().copied().find(|at| is_as(&found["levels"].list()[*at], row));
            let level = at.map(|at| &found["levels"].list()[at]);
            at.map(|at| open.remove(&at));
            let verdict = match level {
                Some(_) => 0,
                None if found["undecided"].list().iter().any(|open| has_first(open, row)) => 1,
                None => 2,
            };
            counts[verdict] += 1;
            let word = ["right", "undecided", "wrong"][verdict];
            let confidence = level
                .and_then(|level| level["confidence"].number())
                .map_or_else(|| "-".to_owned(), |c| format!("{c:.3}"));
            let named = level.map_or("-", |level| level["name"].text());
            part.rows.push(format!("{machine:<48}  {:<8}  {word:<9}  {confidence:<10}  {named}", row["level"]));
            if verdict == 2 {
                part.wrong.push(format!("{machine}: {} is not found", row["level"]));
            }
        }
        if rows.iter().all(|row| row["level"] == "-") && open.is_empty() {
            part.rows.push(format!("{machine:<48}  none      right"));
        }
        for level in open.into_iter().map(|at| &found["levels"].list()[at]) {
            counts[2] += 1;
            part.wrong.push(format!(
                "{machine}: {} of {} groups is invented",
                level["name"].text(),
                level["groups"].list().len()
            ));
        }
    }
    let [right, undecided, wrong] = counts;
    part.rows.push(format!("{} machines: {right} levels right, {undecided} undecided, {wrong} wrong", files.len()));
    Ok(part)
}

/// Whether a level has the groups that are right: their number, their size, and the first of them.
fn is_as(level: &Json, row: &super::Row) -> bool {
    let number = |name: &str| row[name].parse::<usize>().ok();
    let groups = level["groups"].list();
    let sizes_fit = groups.iter().all(|group| Some(group.list().len()) == number("size"));
    Some(groups.len()) == number("groups") && sizes_fit && has_first(level, row)
}

fn has_first(level: &Json, row: &super::Row) -> bool {
    let first = list(&row["first_group"]);
    level["groups"].list().iter().any(|group| group.ids() == first)
}

/// The numbers of `0-3,16`.
fn list(text: &str) -> Vec<u32> {
    let part = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        first.parse().ok().zip(last.parse::<u32>().ok()).map(|(first, last): (u32, u32)| first..=last)
    };
    text.split(',').filter_map(part).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_right_by_number_size_and_first_group() {
        let row: super::super::Row = [("groups", "2"), ("size", "3"), ("first_group", "0-1,8")]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let level = |text: &str| Json::parse(text).unwrap();
        assert!(is_as(&level("{\"groups\":[[0,1,8],[2,3,9]]}"), &row));
        assert!(!is_as(&level("{\"groups\":[[0,1,8],[2,3,9],[4,5,6]]}"), &row));
        assert!(!is_as(&level("{\"groups\":[[0,1,9],[2,3,8]]}"), &row));
    }
}
