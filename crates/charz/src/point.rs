//! The parameters of a cell: from what a report says of them to what kernels take, and to what people read.

use charz_kernels::{Bytes, PagePolicy, Params};
use charz_topology::MemoryPolicy;

use crate::render::human;
use crate::report::{Cell, MemoryHome, PageKind, Point};

/// The parameters of a cell: those of the plan, but for what the point has for itself.
pub fn params(point: &Point, plan: &Params) -> Params {
    Params {
        size: point.size_bytes.map_or(plan.size, Bytes),
        pages: point.pages.map_or(plan.pages, policy),
        stride: point.stride_bytes.map_or(plan.stride, Bytes),
        chains: point.chains.unwrap_or(plan.chains),
        delay: point.delay.unwrap_or(plan.delay),
        ..*plan
    }
}

/// What a kernel is asked for by this word.
pub fn policy(kind: PageKind) -> PagePolicy {
    match kind {
        PageKind::Small => PagePolicy::Small,
        PageKind::Transparent => PagePolicy::Transparent,
        PageKind::Huge2M => PagePolicy::Huge2M,
        PageKind::Huge1G => PagePolicy::Huge1G,
    }
}

/// The word for what a kernel is asked for.
pub fn kind(policy: PagePolicy) -> PageKind {
    match policy {
        PagePolicy::Small => PageKind::Small,
        PagePolicy::Transparent => PageKind::Transparent,
        PagePolicy::Huge2M => PageKind::Huge2M,
        PagePolicy::Huge1G => PageKind::Huge1G,
    }
}

/// Where workers' memory is put.
pub fn memory(point: &Point) -> MemoryPolicy {
    match point.memory {
        None | Some(MemoryHome::Local) => MemoryPolicy::Local,
        Some(MemoryHome::First) => MemoryPolicy::First,
        Some(MemoryHome::Remote) => MemoryPolicy::Remote,
        Some(MemoryHome::Interleaved) => MemoryPolicy::Interleaved,
        Some(MemoryHome::Node(id)) => MemoryPolicy::Node(id),
    }
}

/// What a report says of where workers' memory is put.
pub fn home(policy: MemoryPolicy) -> MemoryHome {
    match policy {
        MemoryPolicy::Local => MemoryHome::Local,
        MemoryPolicy::First => MemoryHome::First,
        MemoryPolicy::Remote => MemoryHome::Remote,
        MemoryPolicy::Interleaved => MemoryHome::Interleaved,
        MemoryPolicy::Node(id) => MemoryHome::Node(id),
    }
}

/// The names of what a point has, as they head columns.
pub const NAMES: [&str; 6] = ["size", "pages", "stride", "chains", "delay", "memory"];

/// What a point has, as people read it, in the order of [`NAMES`].
pub fn words(point: &Point) -> [Option<String>; NAMES.len()] {
    [
        point.size_bytes.map(human::iec),
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn kinds_of_pages_have_one_name() {
        for pages in PagePolicy::ALL {
            assert_eq!(policy(kind(pages)), pages);
            assert_eq!(kind(pages).name(), pages.name());
        }
    }

    #[test]
    fn places_of_memory_come_back() {
        for text in ["local", "first", "remote", "interleaved", "node:3"] {
            let policy: MemoryPolicy = text.parse().unwrap();
            assert_eq!(memory(&Point { memory: Some(home(policy)), ..Point::default() }), policy);
        }
    }

    #[test]
    fn a_point_overrules_what_it_has() {
        let plan = Params { size: Bytes(1 << 20), chains: 3, ..Params::SMALL };
        assert_eq!(params(&Point::default(), &plan), plan);
        let point = Point { size_bytes: Some(64), pages: Some(PageKind::Huge2M), ..Point::default() };
        let expected = Params { size: Bytes(64), pages: PagePolicy::Huge2M, ..plan };
        assert_eq!(params(&point, &plan), expected);
    }
}
