//! Curves as the cells of a report give them.

use crate::curve::Point;
use charz_data::card::Chase;
use charz_data::machine::Strand;
use charz_data::report::{Cell, PageKind, Point as Place, Report, Unit};
use charz_data::{Arrange, Role};
use charz_estimate::{Estimate, grouped};
use charz_stats::median;

const LINE: u64 = 64;

/// How far a suspect number may be off, as a fraction, where its interval says less; and any number, where it says more: on a busy
/// machine an interval of few invocations reaches to several times the number, for some of them were disturbed, and all levels
/// would be one.
const DOUBT: f64 = 0.3;

/// The most sizes of a curve, as many as can be asked for, and the most curves: what has more was made up, and finding plateaus in it
/// would take for ever.
const MOST_POINTS: usize = 256;
const MOST_CURVES: usize = 512;

/// The cells of one worker that differ in the size of its block only.
#[derive(Clone, Debug)]
pub struct Curve<'a> {
    pub kernel: &'a str,
    pub mapping: &'a str,
    /// The kind, by name.
    pub pages: &'a str,
    /// In bytes.
    pub stride: u64,
    pub chains: u64,
    pub points: Vec<Point>,
    /// All sizes of its cells, those without a number included.
    pub asked: Vec<u64>,
    /// The strand of its worker, where the machine has it.
    pub strand: Option<&'a Strand>,
    /// What the operating system claims that the data caches of its strand hold, from the innermost outwards.
    pub caches: Vec<u64>,
    /// The levels of those caches: a machine may lack one.
    pub levels: Vec<u32>,
    /// The clock of its core in hertz, if that is known: the median of those of its cells with a number.
    pub hz: Option<f64>,
    /// What all of its cells have in common, including the kind of pages if the sweep does not vary it.
    pub place: Place,
}

impl<'a> Curve<'a> {
    /// The curves of the kernels that load in such an order, in the order of their first cells.
    pub fn of(report: &'a Report, chase: Chase) -> Vec<Self> {
        report
            .kernels_in(|role| *role == Role::Latency(chase))
            .into_iter()
            .flat_map(|kernel| Curve::of_kernel(report, kernel))
            .collect()
    }

    pub fn of_kernel(report: &'a Report, kernel: &str) -> Vec<Self> {
        let is_one = |cell: &&Cell| cell.kernel == kernel && cell.workers == 1 && cell.unit == Unit::NanosecondsPerStep;
        let own = |cell: &Cell| cell.point.params(&report.plan.params);
        let place = |cell: &Cell| Place { size_bytes: None, pages: Some(own(cell).pages), ..cell.point };
        let cells = report.cells.iter().filter(is_one);
        let groups = grouped(cells, |cell| (cell.mapping.as_str(), place(cell)));
        let curve = |cells: Vec<&'a Cell>| {
            let numbers = || cells.iter().filter_map(|cell| Estimate::of(cell));
            let first = numbers().next()?.cell;
            let mut curve = Curve::begin(report, first, place(first));
            curve.asked = cells.iter().map(|cell| own(cell).size_bytes).collect();
            curve.hz = median(numbers().filter_map(|number| clock(number.cell)));
            for number in numbers().take(MOST_POINTS) {
                let doubtful = number.is_doubtful();
                let slack = if doubtful { DOUBT } else { number.slack().min(DOUBT) };
                let size_bytes = own(number.cell).size_bytes;
                curve.points.push(Point { size_bytes, ns: number.value, slack, doubtful });
            }
            curve.points.arrange_by_key(|point| point.size_bytes);
            Some(curve)
        };
        groups.into_iter().filter_map(curve).take(MOST_CURVES).collect()
    }

    fn begin(report: &'a Report, cell: &'a Cell, place: Place) -> Self {
        let strands = || report.machine.strands.iter();
        let seat = cell.seats.first().copied().flatten();
        let strand = match seat {
            Some(seat) => strands().find(|strand| strand.os_id == seat),
            None => strands().find(|strand| strand.usable),
        };
        let own = cell.point.params(&report.plan.params);
        Curve {
            kernel: &cell.kernel,
            mapping: &cell.mapping,
            pages: own.pages.name(),
            stride: own.stride_bytes.max(LINE),
            chains: own.chains,
            points: Vec::new(),
            asked: Vec::new(),
            strand,
            caches: strand.map_or_else(Vec::new, |strand| report.machine.cache_sizes(strand)),
            levels: strand.map_or_else(Vec::new, |strand| report.machine.cache_levels(strand)),
            hz: None,
            place,
        }
    }

    /// The level of a cache: that of the one that is claimed, else its order.
    pub fn level_of(&self, cache: u8) -> u32 {
        let claimed = usize::from(cache).checked_sub(1).and_then(|at| self.levels.get(at));
        claimed.copied().unwrap_or(cache.into())
    }

    /// What those have in common that differ in their strides and chains as well.
    pub fn family(&self) -> (&'a str, &'a str, Place) {
        (self.kernel, self.mapping, Place { stride_bytes: None, chains: None, ..self.place })
    }

    /// Its points by the bytes of the lines that are touched: a load takes in a line, however far it is to the next.
    pub fn lines(&self) -> Vec<Point> {
        let lines = |point: &Point| Point { size_bytes: point.size_bytes / self.stride * LINE, ..*point };
        self.points.iter().map(lines).collect()
    }

    /// Whether its loads go to every line of memory that is the worker's own.
    pub fn is_plain(&self) -> bool {
        self.stride == LINE && self.place.memory.is_none()
    }

    /// Whether it is on base pages, and the other one is the same on larger ones.
    pub fn differs_in_pages(&self, other: &Curve<'_>) -> bool {
        let (small, pages) = (Some(PageKind::Small), other.place.pages);
        let alike = self.kernel == other.kernel
            && self.mapping == other.mapping
            && Place { pages, ..self.place } == other.place;
        self.place.pages == small && pages.is_some() && pages != small && alike
    }
}

/// The clock in hertz at which a cell has its number, which is that of the middle invocation.
pub fn clock(cell: &Cell) -> Option<f64> {
    median(clocks(cell))
}

/// The clocks that cores of a cell's invocations were found to have.
pub fn clocks(cell: &Cell) -> impl Iterator<Item = f64> {
    let evidence = cell.invocations.iter().filter_map(|invocation| invocation.evidence.as_ref());
    evidence.filter_map(|evidence| Some(evidence.frequency?.highest_hz))
}
