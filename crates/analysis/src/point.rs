//! The parameters of a cell: from what a report says of them to what kernels take, and to what people read.

use charz_data::{MemoryPolicy, Param, Params};

use charz_data::report::{Cell, Point, Report};
use charz_data::units;

/// The parameters of a cell: those of the plan, but for what the point has for itself.
pub fn params(point: &Point, plan: &Params) -> Params {
    Params {
        size_bytes: point.size_bytes.unwrap_or(plan.size_bytes),
        pages: point.pages.unwrap_or(plan.pages),
        stride_bytes: point.stride_bytes.unwrap_or(plan.stride_bytes),
        chains: point.chains.unwrap_or(plan.chains),
        delay: point.delay.unwrap_or(plan.delay),
        ..*plan
    }
}

/// Where workers' memory is put.
pub fn memory(point: &Point) -> MemoryPolicy {
    point.memory.unwrap_or(MemoryPolicy::Local)
}

/// The names of what a point has, as they head columns.
pub const NAMES: [&str; 6] = ["size", "pages", "stride", "chains", "delay", "memory"];

/// What a point has, as people read it, in the order of [`NAMES`].
pub fn words(point: &Point) -> [Option<String>; NAMES.len()] {
    [
        point.size_bytes.map(units::iec),
        point.pages.map(|pages| pages.name().to_owned()),
        point.stride_bytes.map(|bytes| bytes.to_string()),
        point.chains.map(|chains| chains.to_string()),
        point.delay.map(|delay| delay.to_string()),
        point.memory.map(|_| memory(point).to_string()),
    ]
}

/// What stands behind the name of a cell: ` 32 KiB 4k stride 128`, or nothing where nothing is varied.
pub fn label(point: &Point) -> String {
    let named = |(name, word): (&str, String)| match name {
        "size" | "pages" => format!(" {word}"),
        _ => format!(" {name} {word}"),
    };
    NAMES.into_iter().zip(words(point)).filter_map(|(name, word)| Some(named((name, word?)))).collect()
}

/// A cell's name among those of its report: kernel, mapping, number of workers, and what else the sweep varies.
pub fn name(cell: &Cell) -> String {
    format!("{} {} x{}{}", cell.kernel, cell.mapping, cell.workers, label(&cell.point))
}

/// The parameters that a cell's kernel obeys, as the plan or its point has them: `size 65536 pages thp`. How long it is measured is
/// none of them.
pub fn parameters(cell: &Cell, report: &Report) -> String {
    let plan = &report.plan;
    let params = report.card(&cell.kernel).map_or(&[][..], |card| &card.params);
    let point = &cell.point;
    let word = |param: &&Param| {
        Some(match param.name {
            "size" => format!("size {}", point.size_bytes.unwrap_or(plan.size_bytes)),
            "memory" => match memory(point) {
                MemoryPolicy::Local => return None,
                home => format!("memory {home}"),
            },
            "pages" => format!("pages {}", point.pages.map_or(plan.pages.as_str(), |pages| pages.name())),
            "stride" => format!("stride {}", point.stride_bytes.unwrap_or(plan.stride_bytes)),
            "chains" => format!("chains {}", point.chains.unwrap_or(plan.chains)),
            "delay" => format!("delay {}", point.delay.unwrap_or(plan.delay)),
            "layout" => format!("layout {}", plan.layout),
            "inside-steps" => format!("inside-steps {}", plan.critical),
            "outside-steps" => format!("outside-steps {}", plan.parallel),
            "period" => format!("period {}", plan.period),
            "timeout" => format!("timeout {}", plan.timeout_ns),
            _ => return None,
        })
    };
    params.iter().filter_map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::{MemoryHome, PageKind, Unit, invented};

    #[track_caller]
    fn check_parameters(kernel: &str, point: Point, expected: &str) {
        let cell = invented::cell(kernel, 1, Unit::BytesPerSecond, 1e9).at(point);
        let mut report = invented::report(vec![cell.clone()]);
        let plan = &mut report.plan;
        (plan.size_bytes, plan.pages, plan.layout) = (1 << 20, "thp".into(), "padded".into());
        assert_eq!(parameters(&cell, &report), expected);
    }

    #[test]
    fn parameters_are_those_that_the_kernel_obeys() {
        let point = Point { size_bytes: Some(4096), memory: Some(MemoryHome::Node(1)), ..Point::default() };
        check_parameters("mem-read", point, "size 4096 memory node:1 pages thp");
        let local = Point { memory: Some(MemoryHome::Local), pages: Some(PageKind::Small), ..Point::default() };
        check_parameters("mem-read", local, "size 1048576 pages 4k");
        check_parameters("chase-stride", Point::default(), "size 1048576 pages thp stride 64");
        check_parameters("arith-int", point, "layout padded");
        check_parameters("noop", point, "");
        check_parameters("nobody-knows", point, "");
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

    #[test]
    fn a_point_overrules_what_it_has() {
        let plan = Params { size_bytes: 1 << 20, chains: 3, ..Params::SMALL };
        assert_eq!(params(&Point::default(), &plan), plan);
        let point = Point { size_bytes: Some(64), pages: Some(PageKind::Huge2M), ..Point::default() };
        let expected = Params { size_bytes: 64, pages: PageKind::Huge2M, ..plan };
        assert_eq!(params(&point, &plan), expected);
    }
}
