//! Core-to-core latencies out of a file: a matrix in text, or a report of charz.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use charz_audit::{Latencies, layout};
use charz_data::report::{MemoryHome, Report};
use charz_data::{Role, cpulist, units};
use charz_topology::{Machine, Source, discover};

use super::{render, stream};
use crate::exit::Error;
use crate::view::levels::{Levels, doubts};

/// A matrix of the largest machine that is read, with 24 digits and a separator a value.
const MOST_BYTES: u64 = 32 << 20;
/// The most CPUs: the time to find levels grows with the third power.
const MOST_CPUS: usize = 1024;
/// What stands for a value that is not known; an empty field does too.
const UNKNOWN: [&str; 7] = ["-", "--", "x", ".", "nan", "n/a", "inf"];

type Pairs = Vec<([u32; 2], f64)>;

/// Reads a file, or standard input where it is `-`, and infers the levels; compared with a description of the machine if one is named, and
/// with that of the report if the file is one.
pub(super) fn infer(path: &Path, claim: &Source) -> Result<Levels, Error> {
    let refuse = |why: String| Error::bad_input(format!("--latencies: {path:?}{why}"));
    let is_report = path.extension().is_some_and(|ending| ending == "json" || ending == "gz" || ending == "jsonl");
    let (pairs, own) = if is_report {
        let report = render::read(path)?;
        (of_report(&report).map_err(|why| refuse(format!(": {why}")))?, Some(report.machine))
    } else {
        let mut text = String::new();
        let cannot = |error| refuse(format!(": cannot be read as text: {error}"));
        let source = stream(path, &format!("the latencies {path:?}"))?;
        source.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(cannot)?;
        if text.len() as u64 > MOST_BYTES {
            return Err(refuse(format!(" is longer than {}", units::iec(MOST_BYTES))));
        }
        (parse(&text).map_err(refuse)?, None)
    };
    let latencies = of_few(pairs).map_err(refuse)?;
    let claim = if *claim == Source::ThisMachine { own } else { Some(discover(claim)?) };
    levels(latencies, claim.as_ref(), &path.display().to_string()).map_err(|why| refuse(format!(": {why}")))
}

/// The levels of latencies, compared with a machine of the same CPUs.
fn levels(latencies: Latencies, claim: Option<&Machine>, source: &str) -> Result<Levels, String> {
    let known = |claim: &Machine| {
        let missing = latencies.ids().iter().find(|id| !claim.strands.iter().any(|strand| strand.os_id == **id));
        missing.map_or(Ok(()), |id| Err(format!("it has CPU {id}, and the topology that it is compared with does not")))
    };
    claim.map_or(Ok(()), known)?;
    let mut layout = layout(&latencies);
    let mut machine = layout.machine(&latencies, source);
    let contradictions = claim.map(|claim| layout.compare(claim));
    machine.doubts = doubts(&layout, contradictions.as_deref().unwrap_or_default());
    Ok(Levels { latencies, layout, machine, contradictions })
}

/// Latencies of two CPUs or more, and of no more than are compared: a file can name far more than a square of them has room for.
fn of_few(pairs: Pairs) -> Result<Latencies, String> {
    let cpus = pairs.iter().flat_map(|(pair, _)| *pair).collect::<BTreeSet<u32>>().len();
    match cpus {
        0 | 1 => Err(" has no latency of two CPUs".to_owned()),
        _ if cpus > MOST_CPUS => Err(format!(" has {cpus} CPUs; at most {MOST_CPUS} are compared")),
        _ => Ok(Latencies::of(pairs)),
    }
}

/// How many CPUs a text has, and in how many levels they are.
pub(crate) fn from_text(text: &str) -> Result<(usize, usize), String> {
    let levels = levels(of_few(parse(text)?)?, None, "text")?;
    Ok((levels.latencies.len(), levels.layout.levels.len()))
}

/// The latencies of the first kernel that hands a line from CPU to CPU, with lines on the node of the first CPU.
fn of_report(report: &Report) -> Result<Pairs, String> {
    let cells = || report.cells.iter().filter(|cell| matches!(report.role(&cell.kernel), Role::LineTransfer(_)));
    let Some(first) = cells().next() else {
        return Err("the report has no core-to-core latencies; charz c2c measures them".to_owned());
    };
    let of_kernel = cells().filter(|cell| cell.kernel == first.kernel);
    let at_home = of_kernel.filter(|cell| cell.point.memory.is_none_or(|home| home == MemoryHome::Local));
    let pairs = at_home.filter_map(|cell| match cell.seats[..] {
        [Some(a), Some(b)] => Some(([a, b], cell.value()?)),
        _ => None,
    });
    Ok(pairs.collect())
}

/// A square or a triangle of numbers, with or without the CPUs' ids before rows and columns; or rows with a mapping such as `list:0,8` and a
/// value, as charz writes them. Errors begin with the line, if one is wrong.
fn parse(text: &str) -> Result<Pairs, String> {
    let lines = || {
        let all = text.trim_start_matches('\u{feff}').lines().map(str::trim_end).enumerate();
        all.map(|(at, line)| (at + 1, line)).filter(|(_, line)| !line.trim_start().starts_with('#'))
    };
    let pairs: Pairs = lines().filter_map(|(_, line)| pair(line)).collect();
    if !pairs.is_empty() {
        return Ok(pairs);
    }
    let widest = lines().map(|(_, line)| line).max_by_key(|line| line.len()).unwrap_or_default();
    let separator = ['\t', ';', ',', '|'].into_iter().find(|separator| widest.contains(*separator));
    // The first row of a triangle may be empty; other empty lines are none of it.
    let rows = lines().enumerate().filter(|(at, (_, line))| *at == 0 || !line.trim().is_empty());
    let rows: Vec<(usize, Vec<&str>)> = rows.map(|(_, (at, line))| (at, fields(line, separator))).collect();
    matrix(rows)
}

/// The fields of a line; a bar at its ends separates nothing.
fn fields(line: &str, separator: Option<char>) -> Vec<&str> {
    match separator {
        Some('|') => line.trim().trim_matches('|').split('|').map(str::trim).collect(),
        Some(separator) => line.split(separator).map(|field| field.trim().trim_matches('"')).collect(),
        None => line.split_whitespace().collect(),
    }
}

/// The pair and the value in nanoseconds of a row that names a mapping of two CPUs.
fn pair(line: &str) -> Option<([u32; 2], f64)> {
    let rest = &line[line.find("list:")? + "list:".len()..];
    let end = rest.find(|mark: char| !(mark.is_ascii_digit() || mark == ',' || mark == '-')).unwrap_or(rest.len());
    // A list without quotes in a CSV has no comma: what follows is the number of threads.
    let lists = [&rest[..end], rest.split(',').next()?];
    let two = |list: &&str| cpulist::parse(list).ok().filter(|ids| ids.len() == 2);
    let [a, b] = lists.iter().find_map(two)?[..] else { return None };
    let words: Vec<&str> =
        rest[end..].split(|mark: char| ",;|\t \"~".contains(mark)).filter(|word| !word.is_empty()).collect();
    // The unit is before the number in a CSV, and behind it in a table.
    let unit = words.iter().position(|word| *word == "ns")?;
    let at = if rest.contains(",ns,") { unit + 1 } else { unit.checked_sub(1)? };
    let value = words.get(at)?.parse().ok();
    Some(([a, b], value?))
}

/// `None` is a value that is not known.
fn value(field: &str) -> Result<Option<f64>, ()> {
    if field.is_empty() || UNKNOWN.contains(&field.to_lowercase().as_str()) {
        return Ok(None);
    }
    field.parse::<f64>().map(Some).map_err(|_| ())
}

/// The id of `3`, `CPU3`, `cpu 3` or `P#3`.
fn id(field: &str) -> Option<u32> {
    let digits = field.trim_start_matches(|mark: char| !mark.is_ascii_digit());
    let word = &field[..field.len() - digits.len()];
    (!word.contains(['.', '-'])).then(|| digits.parse().ok()).flatten()
}

fn ids(fields: &[&str]) -> Option<Vec<u32>> {
    let found: Vec<u32> = fields.iter().map(|field| id(field)).collect::<Option<_>>()?;
    let mut sorted = found.clone();
    sorted.sort_unstable();
    sorted.dedup();
    (sorted.len() == found.len()).then_some(found)
}

fn matrix(mut rows: Vec<(usize, Vec<&str>)>) -> Result<Pairs, String> {
    let widest = rows.iter().map(|(_, row)| row.len()).max().unwrap_or(0);
    // A line of ids, whose corner may be empty, a word, or missing.
    let column = |rows: &[(usize, Vec<&str>)]| ids(&rows.iter().map(|(_, row)| row[0]).collect::<Vec<_>>());
    let head = rows.first().filter(|(_, row)| rows.len() > 1 && !row.is_empty());
    let corner = head.and_then(|(_, row)| {
        let behind = ids(&row[1..]).filter(|ids| ids.len() == rows.len() - 1 && is_heading(ids, &rows));
        behind.or_else(|| ids(row).filter(|ids| ids.len() == rows.len() - 1 && widest == rows.len()))
    });
    let both = corner.filter(|ids| column(&rows[1..]).as_ref() == Some(ids));
    let over = head.and_then(|(_, row)| ids(row)).filter(|ids| ids.len() == rows.len() - 1 && widest == ids.len());
    let beside = column_if(&rows, widest == rows.len() + 1, column);
    let names = if let Some(names) = both {
        rows.remove(0);
        rows.iter_mut().for_each(|(_, row)| *row = row.split_off(1));
        Some(names)
    } else if let Some(names) = over {
        rows.remove(0);
        Some(names)
    } else {
        beside.inspect(|_| rows.iter_mut().for_each(|(_, row)| *row = row.split_off(1)))
    };
    let mut values = Vec::with_capacity(rows.len());
    for (line, row) in &rows {
        let wrong = |field: &str| format!(", line {line}: {field:?} is neither a number nor the id of a CPU");
        let read = |field: &&str| value(field).map_err(|()| wrong(field));
        values.push(row.iter().map(read).collect::<Result<Vec<Option<f64>>, String>>()?);
    }
    let (count, widths) = (values.len(), values.iter().map(Vec::len).collect::<Vec<_>>());
    let is_known = |value: Option<&Option<f64>>| value.is_some_and(|value| value.is_some_and(|value| value > 0.0));
    // Row by row one value more, or one less: a triangle without what it leaves out. One with its diagonal has zeros or nothing there.
    let grows = count > 0 && widths.iter().copied().eq(1..=count) && values.iter().all(|row| is_known(row.last()));
    let shrinks = count > 0 && widths.iter().copied().eq((1..=count).rev());
    let upper = if shrinks && values.iter().all(|row| is_known(row.first())) { 1 } else { 0 };
    let place = |row: usize, column: usize| match () {
        () if grows => (row + 1, column),
        () if shrinks && count > 1 => (row, row + column + upper),
        () => (row, column),
    };
    let cpus = count + usize::from(grows || upper == 1);
    let mut pairs = Vec::new();
    for ((row, fields), (line, _)) in values.iter().enumerate().zip(&rows) {
        for (column, value) in fields.iter().enumerate() {
            let (a, b) = place(row, column);
            let Some(value) = value else { continue };
            if a.max(b) >= cpus {
                return Err(format!(
                    ", line {line}: it has {}, and the file {}; a matrix is a square or a triangle",
                    charz_data::escape::counted(fields.len(), "value"),
                    charz_data::escape::counted(count, "row")
                ));
            }
            let name = |at: usize| names.as_ref().and_then(|names| names.get(at).copied()).unwrap_or(at as u32);
            pairs.push(([name(a), name(b)], *value));
        }
    }
    Ok(pairs)
}

/// Whether these ids, behind the corner of a file whose first column has them too, are ids: whole numbers in the first row and column of a
/// symmetric square look the same. Then the corner is of the diagonal: a number, or nothing, as the rest of it.
fn is_heading(ids: &[u32], rows: &[(usize, Vec<&str>)]) -> bool {
    let head = &rows[0].1;
    let is_empty = |field: &str| value(field) == Ok(None);
    let is_fraction = |field: &&str| value(field).is_ok_and(|value| value.is_some_and(|value| value.fract() != 0.0));
    let body = || rows.iter().enumerate().skip(1);
    match value(head[0]) {
        Err(()) => true,
        Ok(Some(_)) => false,
        Ok(None) => {
            head[1..].iter().any(|field| value(field).is_err())
                || ids.contains(&0)
                || ids.windows(2).all(|two| two[1] == two[0] + 1)
                || body().any(|(at, (_, row))| row.get(at).is_none_or(|field| !is_empty(field)))
                || body().any(|(_, (_, row))| row[1..].iter().any(is_fraction))
        }
    }
}

fn column_if(
    rows: &[(usize, Vec<&str>)],
    may_be: bool,
    column: impl Fn(&[(usize, Vec<&str>)]) -> Option<Vec<u32>>,
) -> Option<Vec<u32>> {
    (may_be && rows.iter().all(|(_, row)| !row.is_empty())).then(|| column(rows)).flatten()
}

/// The levels of a report's pairs; `None` of fewer than three CPUs, or where half of the pairs were not measured.
pub(super) fn of_measured(report: &Report) -> Option<Levels> {
    let latencies = Latencies::of(of_report(report).ok()?);
    let (known, cpus) = (latencies.pairs().count(), latencies.len());
    let is_enough = cpus > 2 && cpus <= MOST_CPUS && 4 * known >= cpus * (cpus - 1);
    is_enough.then(|| levels(latencies, Some(&report.machine), &report.machine.source).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four CPUs of two cores.
    const NS: [[f64; 4]; 4] =
        [[0.0, 7.5, 20.5, 21.5], [7.5, 0.0, 22.5, 23.5], [20.5, 22.5, 0.0, 8.5], [21.5, 23.5, 8.5, 0.0]];

    fn expected(ids: [u32; 4]) -> Latencies {
        let pairs = (0..4).flat_map(|a| (0..a).map(move |b| (a, b)));
        Latencies::of(pairs.map(|(a, b)| ([ids[a], ids[b]], NS[a][b])))
    }

    fn text(cells: impl Fn(usize, usize) -> String, separator: &str) -> String {
        let line = |a: usize| (0..4).map(|b| cells(a, b)).collect::<Vec<_>>().join(separator);
        (0..4).map(|a| line(a) + "\n").collect()
    }

    #[track_caller]
    fn check(text: &str, ids: [u32; 4]) {
        let of = |all: Latencies| (all.ids().to_vec(), all.pairs().collect::<Vec<_>>());
        assert_eq!(parse(text).map(|pairs| of(Latencies::of(pairs))), Ok(of(expected(ids))), "{text}");
    }

    #[test]
    fn squares_and_triangles_are_read_with_and_without_ids() {
        let plain = [0, 1, 2, 3];
        for separator in [",", ";", "\t", ", ", " | "] {
            check(&text(|a, b| NS[a][b].to_string(), separator), plain);
            check(&text(|a, b| if a == b { String::new() } else { NS[a][b].to_string() }, separator), plain);
            check(&text(|a, b| if a > b { NS[a][b].to_string() } else { String::new() }, separator), plain);
            check(&text(|a, b| if a < b { NS[a][b].to_string() } else { "NaN".to_owned() }, separator), plain);
        }
        check(&text(|a, b| NS[a][b].to_string(), " "), plain);
        check("\n7.5\n20.5 22.5\n21.5 23.5 8.5\n", plain);
        check("7.5\n20.5,22.5\n21.5,23.5,8.5\n", plain);
        check("0\n7.5,0\n20.5,22.5,0\n21.5,23.5,8.5,0\n", plain);
        check("7.5 20.5 21.5\n22.5 23.5\n8.5\n", plain);
        check("0 7.5 20.5 21.5\n0 22.5 23.5\n0 8.5\n0\n", plain);
        let ids = [4, 5, 16, 17];
        let body = |a: usize, b: usize| NS[a][b].to_string();
        let beside = |a: usize, b: usize| if b == 0 { format!("CPU{},{}", ids[a], body(a, b)) } else { body(a, b) };
        check(&format!("4,5,16,17\n{}", text(body, ",")), ids);
        check(&format!("cpu,4,5,16,17\n{}", text(beside, ",").replace("CPU", "")), ids);
        check(&format!(",CPU4,CPU5,CPU16,CPU17\n{}", text(beside, ",")), ids);
        check(&format!("# by a program\n4,5,16,17\n{}", text(beside, ",").replace("CPU", "")), ids);
        check(&text(beside, ","), ids);
    }

    /// The first row of a symmetric square is its first column, as ids would be.
    #[test]
    fn whole_numbers_of_a_square_are_no_ids() {
        const WHOLE: [[u32; 4]; 4] = [[0, 7, 20, 21], [7, 0, 22, 23], [20, 22, 0, 8], [21, 23, 8, 0]];
        for diagonal in ["0", "", "-"] {
            let cell = |a: usize, b: usize| if a == b { diagonal.to_owned() } else { WHOLE[a][b].to_string() };
            let latencies = Latencies::of(parse(&text(cell, ",")).unwrap());
            assert_eq!(latencies.ids(), [0, 1, 2, 3], "{diagonal:?}");
            let ids = |heading: [u32; 4]| {
                let beside = |a: usize, b: usize| {
                    format!("{}{}", if b == 0 { format!("{},", heading[a]) } else { String::new() }, cell(a, b))
                };
                let heading = heading.map(|id| id.to_string()).join(",");
                Latencies::of(parse(&format!(",{heading}\n{}", text(beside, ","))).unwrap()).ids().to_vec()
            };
            assert_eq!(ids([4, 5, 6, 7]), [4, 5, 6, 7], "{diagonal:?}");
            assert_eq!(ids([0, 9, 2, 3]), [0, 2, 3, 9], "{diagonal:?}");
        }
    }

    #[test]
    fn rows_of_charz_are_read() {
        let csv = "kernel,mapping,workers,unit,value\nc2c-cas,list:0-1,2,ns,7.5\nc2c-cas,\"list:0,16\",2,ns,20.5\n";
        let expected = [([0, 1], 7.5), ([0, 16], 20.5)];
        assert_eq!(parse(csv), Ok(expected.into()));
        let table =
            "mapping    threads   value\nlist:0-1   2  7.50 ns ±2.8%~\nlist:0,16  2  20.5 ns ±1.0%  20 ns to 21 ns\n";
        assert_eq!(parse(table), Ok(expected.into()));
        let markdown = "| list:0-1 | 2 | 7.5 ns ±1.6% | 27.3 ns |\n| list:0,16 | 2 | 20.5 ns | |\n";
        assert_eq!(parse(markdown), Ok(expected.into()));
    }

    #[test]
    fn what_is_no_matrix_is_refused_with_its_line() {
        assert!(parse("1,2\n3,four\n").unwrap_err().contains("line 2: \"four\""));
        assert!(parse("0.5,2,3,4\n2,0,4,5\n").unwrap_err().contains("line 1: it has 4 values"));
        for text in ["", "\n\n", ",,\n,,\n", "-\n", "a|", "list:", "list:0,1,2,7\n", "0", "\u{feff}"] {
            assert!(parse(text).is_err() || Latencies::of(parse(text).unwrap()).len() < 2, "{text:?}");
        }
    }
}
