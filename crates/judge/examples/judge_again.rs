//! Judges each configuration of a report again and prints its status: `judge_again report.json`.
#![expect(clippy::print_stdout, reason = "it prints")]

use std::borrow::Cow;

use charz_data::report;
use charz_judge::{JudgeContext, judge};
use charz_kernels::Sizes;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let report = report::read(std::env::args_os().nth(1).ok_or("usage: judge_again REPORT")?.as_ref())?;
    for cell in &report.cells {
        let Some(kernel) = charz_workloads::find(&cell.kernel) else { continue };
        let sizes = kernel.axes().sizes;
        let about_memory = sizes == Sizes::Block || sizes == Sizes::Levels && cell.level.as_deref() == Some("memory");
        let mut again = cell.clone();
        judge(&mut again, &JudgeContext::of(&report, cell, Cow::Borrowed(kernel.card()), about_memory));
        println!("{} {} {} {:?}", cell.kernel, cell.mapping, cell.workers, again.status);
    }
    Ok(())
}
