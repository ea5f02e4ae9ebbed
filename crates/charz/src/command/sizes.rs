//! A table of the latencies of loads by the size of the block that they go over.

use std::io::Read;
use std::path::Path;

use charz_claims::curve::{Bracket, Point, brackets};
use charz_data::{quantity, units};
use charz_topology::{Source, Strand, discover};

use super::stream;
use crate::exit::Error;
use crate::view::sizes::Sizes;

/// The longest table, and the most sizes that are compared.
const MOST_BYTES: u64 = 1 << 20;
const MOST_SIZES: usize = 4096;

/// Reads a table, and compares it with the caches that a machine claims: those of the CPU with the largest ones.
pub(super) fn compare(path: &Path, claim: &Source) -> Result<Sizes, Error> {
    let refuse = |why: String| Error::bad_input(format!("--latency-by-size: {path:?}{why}"));
    let mut text = String::new();
    let cannot = |error| refuse(format!(": cannot be read as text: {error}"));
    stream(path, &format!("the table {path:?}"))?.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(cannot)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(refuse(format!(" is longer than {}", units::iec(MOST_BYTES))));
    }
    let points = parse(&text).map_err(refuse)?;
    if points.is_empty() || points.len() > MOST_SIZES {
        return Err(refuse(format!(
            " has {} rows with a size and a latency; 1 to {MOST_SIZES} are compared",
            points.len()
        )));
    }
    let machine = discover(claim)?;
    let sizes = |strand: &Strand| machine.cache_sizes(strand);
    let caches = machine.strands.iter().max_by_key(|strand| sizes(strand)).map(sizes).unwrap_or_default();
    let levels = machine.strands.iter().max_by_key(|strand| sizes(strand)).map(|strand| machine.cache_levels(strand));
    let found: Vec<Bracket> = brackets(&points, &caches);
    Ok(Sizes { levels: levels.unwrap_or_default().into_iter().zip(found).collect(), source: claim.to_string(), points })
}

/// What a column holds.
#[derive(Clone, Copy, PartialEq)]
enum Column {
    /// A size in units of so many bytes.
    Size(u64),
    Latency,
    /// The kind of number: other rows than those of `latency` are left out.
    Operation,
    Machine,
    Other,
}

impl Column {
    fn of(heading: &str) -> Self {
        match heading.to_lowercase().replace([' ', '-'], "_").as_str() {
            "size_kib" | "kib" | "size_kb" => Column::Size(1 << 10),
            "size_mib" | "mib" | "size_mb" => Column::Size(1 << 20),
            "size" | "bytes" | "size_bytes" | "working_set" => Column::Size(1),
            "latency" | "latency_ns" | "ns" | "latency_(ns)" => Column::Latency,
            "operation" => Column::Operation,
            "machine" => Column::Machine,
            _ => Column::Other,
        }
    }
}

/// Rows of a size and a latency: with a heading, or the two as the first columns. Sizes are in bytes unless they or the heading have a
/// unit. Errors begin with the line, if one is wrong.
pub(crate) fn parse(text: &str) -> Result<Vec<Point>, String> {
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let (mut columns, mut machine, mut points) = (Vec::new(), None, Vec::new());
    for (at, line) in lines {
        let separator = ['\t', ';', ','].into_iter().find(|separator| line.contains(*separator));
        let fields: Vec<&str> = match separator {
            Some(separator) => line.split(separator).map(|field| field.trim().trim_matches('"')).collect(),
            None => line.split_whitespace().collect(),
        };
        if columns.is_empty() {
            columns = fields.iter().map(|field| Column::of(field)).collect();
            let has = |wanted: fn(&Column) -> bool| columns.iter().any(wanted);
            if has(|column| matches!(column, Column::Size(_))) && has(|column| *column == Column::Latency) {
                continue;
            }
            if fields.iter().any(|field| field.starts_with(|mark: char| mark.is_ascii_alphabetic())) {
                return Err(format!(", line {at}: the heading needs a column size (or size_kib) and one latency_ns"));
            }
            columns = vec![Column::Size(1), Column::Latency];
        }
        let field = |wanted: fn(&Column) -> bool| {
            columns.iter().zip(&fields).find(|(column, _)| wanted(column)).map(|(column, field)| (*column, *field))
        };
        if field(|column| *column == Column::Operation).is_some_and(|(_, operation)| operation != "latency") {
            continue;
        }
        if let Some((_, name)) = field(|column| *column == Column::Machine)
            && *machine.get_or_insert(name) != name
        {
            return Err(format!(", line {at}: a second machine, {name:?}; a table is of one, so keep the rows of one"));
        }
        let wrong = |what: &str, field: &str| format!(", line {at}: {field:?} is no {what}");
        let Some((Column::Size(unit), size)) = field(|column| matches!(column, Column::Size(_))) else {
            return Err(format!(", line {at}: it has no size"));
        };
        let bytes = size.parse::<u64>().ok().and_then(|size| size.checked_mul(unit));
        let size_bytes = bytes.or_else(|| quantity::bytes(size).ok()).ok_or_else(|| wrong("size", size))?;
        let Some((_, ns)) = field(|column| *column == Column::Latency) else {
            return Err(format!(", line {at}: it has no latency"));
        };
        let number = ns.trim_end_matches("ns").trim_end().parse::<f64>().ok();
        let ns = number.filter(|ns| ns.is_finite() && *ns > 0.0).ok_or_else(|| wrong("latency above 0 in ns", ns))?;
        points.push(Point { size_bytes, ns, slack: 0.0, doubtful: false });
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(u64, f64)>, String> {
        Ok(parse(text)?.iter().map(|point| (point.size_bytes, point.ns)).collect())
    }

    #[test]
    fn tables_of_sizes_have_many_forms() {
        let expected = Ok(vec![(16 << 10, 1.5), (8 << 20, 40.0)]);
        assert_eq!(read("size,latency\n16384,1.5\n8388608,40\n"), expected);
        assert_eq!(read("# of a guest\n16KiB 1.5\n8M 40ns\n"), expected);
        assert_eq!(read("name;size_kib;latency_ns\na;16;1.5\na;8192;40\n"), expected);
        let rows = "machine\tsize_kib\toperation\tmb_per_s\tlatency_ns\tthreads\n\
                    m\t16\tread\t900\t0\t4\nm\t16\tlatency\t0\t1.5\t1\nm\t8192\tlatency\t0\t40\t1\n";
        assert_eq!(read(rows), expected);
        assert!(read(&format!("{rows}n\t16\tlatency\t0\t1\t1\n")).unwrap_err().contains("line 5: a second machine"));
    }

    #[test]
    fn what_is_no_table_is_refused_with_its_line() {
        for (text, what) in [
            ("speed,latency\n1,2\n", "line 1: the heading"),
            ("size,latency\n1KiB,0\n", "line 2: \"0\" is no latency"),
            ("size,latency\nbig,3\n", "line 2: \"big\" is no size"),
            ("16384,1.5\n\n32768\n", "line 3: it has no latency"),
            ("size_mib,ns\n99999999999999999,3\n", "is no size"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(what), "{text:?}: {error}");
        }
        assert_eq!(read(""), Ok(Vec::new()));
    }
}
