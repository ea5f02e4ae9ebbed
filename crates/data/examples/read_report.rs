//! Prints one line per configuration of a report: `read_report FILE`.
#![allow(clippy::print_stdout)]

use charz_data::{report, units};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args_os().nth(1).ok_or("the name of a report is required")?;
    let text = report::unpacked("the report", std::fs::File::open(file)?)?;
    // As the charz that wrote it judged it; `charz-judge` judges it anew.
    for cell in report::with_derived(&text)?.cells {
        let value = cell.value().map_or("-".to_owned(), |value| units::value(value, cell.unit));
        println!("{}\t{}\t{}\t{value}\t{:?}", cell.kernel, cell.mapping, cell.workers, cell.status);
    }
    Ok(())
}
