//! Judges each configuration of a report again and prints its status: `judge_again report.json`.
#![expect(clippy::print_stdout, reason = "it prints")]

use std::borrow::Cow;

use charz_data::report;
use charz_judge::{JudgeContext, judge_report};
use charz_kernels::Sizes;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut report = report::read(std::env::args_os().nth(1).ok_or("usage: judge_again REPORT")?.as_ref())?;
    judge_report(&mut report, |report, cell| {
        let kernel = charz_workloads::find(&cell.kernel)?;
        let sizes = kernel.axes().sizes;
        let about_memory = sizes == Sizes::Block || sizes == Sizes::Levels && cell.level.as_deref() == Some("memory");
        Some(JudgeContext::of(report, cell, Cow::Borrowed(kernel.card()), about_memory))
    });
    for cell in &report.cells {
        println!("{} {} {} {:?}", cell.kernel, cell.mapping, cell.workers, cell.status);
    }
    Ok(())
}
