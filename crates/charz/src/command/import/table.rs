//! The table of values that another program measured.

use std::path::Path;

use charz_data::report::Point;
use charz_data::{Param, Params, ReportedUnit, params};
use charz_topology::Source;

use crate::exit::Error;

/// A table that was read.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
    /// The machine that a line `# topology: DESCRIPTION` names.
    pub(super) topology: Option<Source>,
}

/// One row: a configuration with its values.
#[derive(Debug, PartialEq)]
pub(super) struct Row {
    /// Counted from 1.
    pub(super) line: usize,
    pub(super) kernel: Option<String>,
    pub(super) mapping: String,
    pub(super) threads: usize,
    pub(super) point: Point,
    pub(super) values: Vec<f64>,
    /// The ends of the interval of the only value.
    pub(super) interval: Option<[f64; 2]>,
    pub(super) unit: Option<String>,
}

/// The most threads of a row.
const MOST_THREADS: usize = 1 << 16;

/// The most values of a table, and threads of all its configurations: a report keeps each.
const MOST_VALUES: usize = 200_000;
const MOST_SEATS: usize = 1 << 22;

/// The mapping of rows that name none: the system places the threads.
const UNBOUND: &str = "auto";

/// What a column holds.
#[derive(Clone, Debug, PartialEq)]
enum Column {
    Kernel,
    Mapping,
    /// A list of CPUs, one per thread, as in `0-3`.
    Cpus,
    Threads,
    /// With its unit, where the heading has one.
    Value(Option<String>),
    Low,
    High,
    /// How far the interval reaches to either side of the value.
    HalfWidth,
    Unit,
    Param(&'static Param),
    /// Whether a row may be fitted, as `charz predict --table` has it.
    Fit,
}

/// The headings of the columns that are no parameter of a kernel, in lower case.
const HEADINGS: [(&[&str], Column); 9] = [
    (&["kernel", "program", "benchmark", "test", "workload", "operation"], Column::Kernel),
    (&["mapping", "placement", "pinning"], Column::Mapping),
    (&["cpus", "cpu list"], Column::Cpus),
    (&["threads", "workers", "processes", "copies"], Column::Threads),
    (&["low", "ci low", "lower"], Column::Low),
    (&["high", "ci high", "upper"], Column::High),
    (&["half width", "±", "+-"], Column::HalfWidth),
    (&["unit"], Column::Unit),
    (&["fit"], Column::Fit),
];

/// The words of columns of values; a number may follow.
const VALUES: [&str; 6] = ["value", "run", "repetition", "sample", "mean", "median"];

impl Column {
    /// What a heading names; `None` where it is none of a table.
    fn of(heading: &str) -> Option<Self> {
        let name = heading.trim().to_lowercase().replace('_', " ");
        let known = HEADINGS.iter().find(|(names, _)| names.contains(&name.as_str())).map(|(_, column)| column.clone());
        let param = || params::PARAMS.iter().copied().find(|param| param.vary && param.name == name).map(Column::Param);
        known.or_else(param).or_else(|| Column::value(heading.trim()))
    }

    /// `value`, `value 2`, `run_3`, `value (GB/s)`, or a unit by itself.
    fn value(heading: &str) -> Option<Self> {
        let (word, unit) = match heading.split_once('(') {
            Some((word, rest)) => (word, rest.trim_end().strip_suffix(')').map(|unit| unit.trim().to_owned())),
            None => (heading, None),
        };
        let is_end = |mark: char| mark.is_ascii_digit() || " _".contains(mark);
        if VALUES.contains(&word.to_lowercase().trim_end_matches(is_end)) {
            return Some(Column::Value(unit));
        }
        ReportedUnit::usual(heading).map(|_| Column::Value(Some(heading.to_owned())))
    }
}

impl Table {
    /// Reads a table; errors name its file.
    pub(super) fn read(text: &str, file: &Path) -> Result<Self, Error> {
        let (mut topology, mut separator, mut columns) = (None, None, None);
        let (mut rows, mut values, mut seats) = (Vec::new(), 0, 0);
        for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let refuse = |why: String| Error::bad_input(format!("{file:?}, line {}: {why}", at + 1));
            if let Some(note) = line.trim_start().strip_prefix('#') {
                topology = topology.or_else(|| named_topology(note));
                continue;
            }
            if line.trim().is_empty() {
                continue;
            }
            let fields = fields(line, *separator.get_or_insert_with(|| separator_of(line)));
            if columns.is_none() {
                let found = heading(&fields).map_err(refuse)?;
                let is_heading = found.is_some();
                columns = Some(found.unwrap_or_else(without_heading));
                if is_heading {
                    continue;
                }
            }
            let row = row(at + 1, &fields, columns.as_deref().unwrap_or_default()).map_err(refuse)?;
            (values, seats) = (values + row.values.len(), seats + row.threads);
            if values > MOST_VALUES || seats > MOST_SEATS {
                return Err(refuse(format!(
                    "a table has at most {MOST_VALUES} values and {MOST_SEATS} threads in all"
                )));
            }
            rows.push(row);
        }
        rows.retain(|row| !row.values.is_empty());
        match rows.is_empty() {
            true => Err(Error::bad_input(format!("the table {file:?} has no row with a value"))),
            false => Ok(Table { rows, topology }),
        }
    }
}

/// What `# topology: Package:1 Core:12 PU:1` names. A table names no file: another user may have written it.
fn named_topology(note: &str) -> Option<Source> {
    let named = note.trim().trim_start_matches('-').strip_prefix("topology")?;
    let source = Source::of(named.trim_start_matches([':', '=', ' ']).trim().trim_matches(['\'', '"']));
    matches!(source, Source::Synthetic(_)).then_some(source)
}

/// Tabs where there is one, else semicolons, else commas, else spaces.
fn separator_of(line: &str) -> char {
    ['\t', ';', ','].into_iter().find(|separator| line.contains(*separator)).unwrap_or(' ')
}

/// The fields of a line; one between double quotes may have a separator in it, and two quotes for one.
fn fields(line: &str, separator: char) -> Vec<String> {
    let (mut fields, mut field, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut marks = line.trim_end_matches(['\r', ' ']).chars().peekable();
    while let Some(mark) = marks.next() {
        match mark {
            '"' if is_quoted && marks.next_if_eq(&'"').is_some() => field.push('"'),
            '"' if is_quoted || field.trim().is_empty() => is_quoted = !is_quoted,
            _ if mark == separator && !is_quoted => fields.push(std::mem::take(&mut field)),
            _ => field.push(mark),
        }
    }
    fields.push(field);
    if separator == ' ' {
        fields.retain(|field| !field.is_empty());
    }
    fields.iter().map(|field| field.trim().to_owned()).collect()
}

/// The columns of a table without a heading, as `charz predict --table` has them.
fn without_heading() -> Vec<Column> {
    vec![Column::Mapping, Column::Threads, Column::Value(None), Column::Fit]
}

/// The columns that the first line names; `None` where it is a row: it has a number.
fn heading(fields: &[String]) -> Result<Option<Vec<Column>>, String> {
    if fields.iter().any(|field| field.parse::<f64>().is_ok()) {
        return Ok(None);
    }
    let columns = fields.iter().map(|field| Column::of(field).ok_or_else(|| no_column(field)));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    match columns.iter().any(|column| matches!(column, Column::Value(_))) {
        true => Ok(Some(columns)),
        false => Err("no column has values; call it value, or by its unit, e.g. GB/s".to_owned()),
    }
}

fn no_column(field: &str) -> String {
    let params = params::PARAMS.iter().filter(|param| param.vary).map(|param| param.name);
    let known: Vec<&str> = HEADINGS.iter().map(|(names, _)| names[0]).chain(["value"]).chain(params).collect();
    format!("{field:?} is no column of a table; columns are {}", known.join(", "))
}

fn row(line: usize, fields: &[String], columns: &[Column]) -> Result<Row, String> {
    if fields.len() > columns.len() && fields[columns.len()..].iter().any(|field| !field.is_empty()) {
        return Err(format!("it has {} fields, and the table {} columns", fields.len(), columns.len()));
    }
    let (mapping, point) = (UNBOUND.to_owned(), Point::default());
    let mut row =
        Row { line, kernel: None, mapping, threads: 0, point, values: Vec::new(), interval: None, unit: None };
    let (mut low, mut high, mut half) = (None, None, None);
    // A dash is a value that is not known.
    for (field, column) in fields.iter().zip(columns).filter(|(field, _)| !matches!(field.as_str(), "" | "-")) {
        match column {
            Column::Kernel => row.kernel = Some(field.clone()),
            Column::Mapping => row.mapping.clone_from(field),
            Column::Cpus => row.mapping = format!("list:{field}"),
            Column::Threads => row.threads = threads(field)?,
            Column::Value(unit) => {
                row.values.push(number(field)?);
                row.unit = row.unit.or_else(|| unit.clone());
            }
            Column::Low => low = Some(number(field)?),
            Column::High => high = Some(number(field)?),
            Column::HalfWidth => half = Some(number(field)?),
            Column::Unit => row.unit = Some(field.clone()),
            Column::Param(param) => {
                let mut values = Params::default();
                (param.read)(field, &mut values).map_err(|why| format!("{} {field:?}: {why}", param.name))?;
                row.point = row.point.with(param, &values);
            }
            Column::Fit => {}
        }
    }
    if row.threads == 0 {
        return Err("it has no number of threads".to_owned());
    }
    row.interval = interval(&row.values, low.zip(high), half, low.xor(high).is_some())?;
    Ok(row)
}

fn interval(
    values: &[f64],
    ends: Option<(f64, f64)>,
    half: Option<f64>,
    is_one_end: bool,
) -> Result<Option<[f64; 2]>, String> {
    let found = match (ends, half) {
        (None, None) if !is_one_end => return Ok(None),
        (Some((low, high)), None) => [low, high],
        (None, Some(half)) if !is_one_end => values.first().map_or([0.0; 2], |value| [value - half, value + half]),
        _ => return Err("an interval has a low and a high end, or a half width".to_owned()),
    };
    match values {
        [] => Ok(None),
        [value] if found[0] > 0.0 && found[0] <= *value && *value <= found[1] => Ok(Some(found)),
        [_] => Err("its interval does not hold its value, or reaches 0".to_owned()),
        _ => Err("it has several values, from which their interval follows, and an interval".to_owned()),
    }
}

fn threads(field: &str) -> Result<usize, String> {
    let count = field.parse().ok().filter(|count| (1..=MOST_THREADS).contains(count));
    count.ok_or_else(|| format!("{field:?} is no number of threads from 1 to {MOST_THREADS}"))
}

fn number(field: &str) -> Result<f64, String> {
    let number = field.parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0);
    number.ok_or_else(|| format!("{field:?} is no number above 0, nor - for one that is not known"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Table, String> {
        Table::read(text, Path::new("t.tsv")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_table_has_a_heading_or_the_columns_of_predict() {
        let plain = read("# topology: Core:4 PU:1\nrr\t1\t10\t1\nrr\t2\t19\t0\n").unwrap();
        assert_eq!(plain.topology, Some(Source::Synthetic("Core:4 PU:1".into())));
        assert_eq!(
            plain.rows.iter().map(|row| (row.threads, row.values[0])).collect::<Vec<_>>(),
            [(1, 10.0), (2, 19.0)]
        );
        let row = &read("program,threads,value 1,value 2,size,unit\n\"a, b\",2,3.5,4,1MiB,GB/s\n").unwrap().rows[0];
        let found = (row.kernel.as_deref(), row.mapping.as_str(), &row.values[..], row.unit.as_deref());
        assert_eq!(found, (Some("a, b"), "auto", &[3.5, 4.0][..], Some("GB/s")));
        assert_eq!(row.point.size_bytes, Some(1 << 20));
        let row = &read("cpus threads GB/s half_width\n0-3 4 80 2\n").unwrap().rows[0];
        let found = (row.mapping.as_str(), row.interval, row.unit.as_deref());
        assert_eq!(found, ("list:0-3", Some([78.0, 82.0]), Some("GB/s")));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, words) in [
            ("threads\tcolour\tvalue\n1\tred\t2\n", "line 1: \"colour\" is no column"),
            ("threads\tmapping\nall\tauto\n", "no column has values"),
            ("threads\tvalue\n0\t2\n", "line 2: \"0\" is no number of threads"),
            ("threads\tvalue\n1\t-2\n", "line 2: \"-2\" is no number above 0"),
            ("threads\tvalue\tlow\thigh\n1\t5\t6\t7\n", "does not hold its value"),
            ("threads\tvalue\tlow\n1\t5\t4\n", "a low and a high end"),
            ("threads\tvalue\tvalue\tlow\thigh\n1\t5\t5\t4\t6\n", "several values"),
            ("threads\tvalue\n1\t5\t4\n", "3 fields, and the table 2 columns"),
            ("threads\tvalue\n1\t-\n", "no row with a value"),
        ] {
            let told = read(text).unwrap_err();
            assert!(told.contains(words), "{told}");
        }
    }
}
