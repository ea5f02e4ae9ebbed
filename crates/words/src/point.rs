//! What people read of a cell's parameters.

use charz_data::params::{Param, Params};
use charz_data::report::{Cell, Point, Report};

/// The value of a parameter as a table shows it; `None` where the sweep does not vary it for this cell.
pub fn word(point: &Point, param: &Param) -> Option<String> {
    point.tell(param, param.brief)
}

/// The varied parameters after the name of a cell: ` 32 KiB 4k stride 128`; empty where nothing is varied.
pub fn label(point: &Point) -> String {
    let params = point.params(&Params::SMALL);
    point.varied().map(|param| format!(" {}", param.label(&params))).collect()
}

/// A cell's name among those of its report: kernel, mapping, number of workers, and what else the sweep varies.
pub fn name(cell: &Cell) -> String {
    format!("{} {} x{}{}", cell.kernel, cell.mapping, cell.workers, label(&cell.point))
}

/// The parameters that a cell's kernel obeys: `size 65536 pages thp`. The amounts of work are left out, and so are all parameters
/// of a kernel without a card.
pub fn parameters(cell: &Cell, report: &Report) -> String {
    let params = report.card(&cell.kernel).map_or(&[][..], |card| &card.params);
    let own = cell.params(&report.plan.params);
    let words =
        params.iter().filter(|param| !param.is_amount()).map(|param| format!("{} {}", param.name, (param.raw)(&own)));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::{MemoryHome, PageKind, Unit, fixtures};

    #[track_caller]
    fn check_parameters(kernel: &str, point: Point, expected: &str) {
        let cell = fixtures::cell(kernel, 1, Unit::BytesPerSecond, 1e9).at(point);
        let mut report = fixtures::report(vec![cell.clone()]);
        report.plan.params = Params { size_bytes: 1 << 20, ..Params::default() };
        assert_eq!(parameters(&cell, &report), expected);
    }

    #[test]
    fn parameters_are_those_that_the_kernel_obeys() {
        let point = Point { size_bytes: Some(4096), memory: Some(MemoryHome::Node(1)), ..Point::default() };
        check_parameters("mem-read", point, "size 4096 memory node:1 pages thp");
        let local = Point { memory: Some(MemoryHome::Local), pages: Some(PageKind::Small), ..Point::default() };
        check_parameters("mem-read", local, "size 1048576 memory local pages 4k");
        check_parameters("chase-stride", Point::default(), "size 1048576 memory local pages thp stride 64");
        check_parameters("arith-int", point, "layout padded");
        check_parameters("noop", point, "");
        check_parameters("unknown-kernel", point, "");
    }

    #[test]
    fn what_is_not_varied_is_not_named() {
        assert_eq!(label(&Point::default()), "");
        let point = Point { size_bytes: Some(3 << 14), chains: Some(4), ..Point::default() };
        assert_eq!(label(&point), " 48 KiB chains 4");
        let point =
            Point { pages: Some(PageKind::Small), stride_bytes: Some(4096), delay: Some(0), ..Point::default() };
        assert_eq!(label(&point), " 4k stride 4096 delay 0");
        let point = Point { memory: Some(MemoryHome::Node(2)), ..Point::default() };
        assert_eq!(label(&point), " memory node:2");
    }
}
