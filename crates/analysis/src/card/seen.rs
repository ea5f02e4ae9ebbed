//! What was seen while latencies were measured: the clock of the cores, and the pages that the blocks got.

use super::points;
use charz_data::report::{Cell, PageKind, Pages, Report};
use charz_stats::Sample;

/// The clock of the cores on which latencies were measured, else on which anything was: the median.
pub(super) fn clock(report: &Report) -> Option<f64> {
    median_clock(points(report)).or_else(|| median_clock(report.cells.iter()))
}

fn median_clock<'a>(cells: impl Iterator<Item = &'a Cell>) -> Option<f64> {
    let invocations = cells.flat_map(|cell| &cell.invocations);
    let clocks = invocations.filter_map(|one| Some(one.evidence.as_ref()?.frequency?.highest_hz));
    Sample::new(clocks.filter(|hz| hz.is_finite() && *hz > 0.0).collect()).map(|sample| sample.median())
}

/// Blocks that are smaller than two huge pages hold mostly what is left over.
const LARGE: u64 = 4 << 20;

/// The share of the memory that got the pages that were asked for, by their name: the worst of all cells on which it matters.
pub(super) fn obtained(report: &Report, pages: &str) -> Option<f64> {
    let asked = |cell: &&Cell| cell.point.params(&report.plan.params).pages.name() == pages;
    let cells = points(report).filter(asked);
    let large = cells.filter(|cell| cell.footprint_bytes >= LARGE);
    let seen = large.flat_map(|cell| &cell.invocations).filter_map(|one| one.evidence.as_ref()?.pages);
    seen.filter_map(|got| share(&got, pages)).min_by(f64::total_cmp)
}

fn share(got: &Pages, pages: &str) -> Option<f64> {
    let kinds = [
        (PageKind::Small, got.base_bytes),
        (PageKind::Transparent, got.transparent_bytes),
        (PageKind::Huge2M, got.huge_2m_bytes),
        (PageKind::Huge1G, got.huge_1g_bytes),
    ];
    let all: f64 = kinds.iter().map(|(_, bytes)| *bytes as f64).sum();
    let (_, bytes) = kinds.into_iter().find(|(kind, _)| kind.name() == pages)?;
    (all > 0.0).then(|| bytes as f64 / all)
}
