//! Many cells in few lines: what differs in one column only stands in one line.

use std::collections::BTreeMap;

use super::cells::Cell;

/// The order in which columns are put together; the last two are the mapping and the workers.
const ORDER: [&str; 14] = [
    "workers", "mapping", "size", "memory", "delay", "chains", "stride", "pages", "layout", "inside", "outside",
    "period", "timeout", "kernel",
];

/// A sweep's cells: `cells` with what there is, `skipped` with what of it is skipped, `rest` with a digest of everything else by
/// kernel, and `amounts` with how much is measured.
pub(super) fn list(sweep: &str, cells: &[Cell]) -> String {
    let mut text = String::new();
    let mut by_kernel: BTreeMap<&str, Vec<&Cell>> = BTreeMap::new();
    cells.iter().for_each(|cell| by_kernel.entry(cell.kernel).or_default().push(cell));
    for (kernel, cells) in &by_kernel {
        for line in merged(cells.iter().copied()) {
            text += &format!("cells\t{sweep}\t{kernel}\t{line}\n");
        }
        let skipped = cells.iter().copied().filter(|cell| cell.skipped && !cell.varies);
        for line in merged(skipped) {
            text += &format!("skipped\t{sweep}\t{kernel}\t{line}\n");
        }
        let mut lines: Vec<String> = cells
            .iter()
            .map(|cell| format!("{} {} {:?} {}", cell.mapping, cell.workers, cell.parameters, cell.rest))
            .collect();
        lines.sort_unstable();
        text += &format!("rest\t{sweep}\t{kernel}\t{} cells\t{:016x}\n", lines.len(), digest(&lines.join("\n")));
    }
    if !cells.iter().any(|cell| cell.varies) {
        let amounts: BTreeMap<_, _> =
            cells.iter().flat_map(|cell| &cell.amounts).map(|(name, value)| (*name, value)).collect();
        text += &format!("amounts\t{sweep}\t{amounts:?}\n");
    }
    text
}

/// Each line names, for each column, all values of which every combination is a cell.
fn merged<'a>(cells: impl Iterator<Item = &'a Cell>) -> Vec<String> {
    type Row = BTreeMap<&'static str, Vec<String>>;
    let row = |cell: &Cell| -> Row {
        let own = [("mapping", cell.mapping.clone()), ("workers", cell.workers.to_string())];
        let all = cell.parameters.iter().cloned().chain(own);
        all.map(|(name, value)| (name, vec![value])).collect()
    };
    let mut rows: Vec<Row> = cells.map(row).collect();
    for column in ORDER {
        let mut groups: BTreeMap<Row, Vec<String>> = BTreeMap::new();
        for mut row in rows {
            let Some(values) = row.remove(column) else {
                groups.entry(row).or_default();
                continue;
            };
            groups.entry(row).or_default().extend(values);
        }
        rows = groups
            .into_iter()
            .map(|(mut row, mut values)| {
                values.sort_by_key(|value| (value.parse().unwrap_or(u64::MAX), value.clone()));
                if !values.is_empty() {
                    row.insert(column, values);
                }
                row
            })
            .collect();
    }
    let value = |(name, values): (&&str, &Vec<String>)| format!("{name}={}", values.join("|"));
    rows.iter().map(|row| row.iter().map(value).collect::<Vec<_>>().join(" ")).collect()
}

/// FNV-1a, which never changes.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
