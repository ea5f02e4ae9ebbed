//! What follows from several cells together: the best of each kernel, cliffs, collapses, the fastest of those that do the same, advice, latencies, words a
//! cycle, the classes of scaling problems, and how the system spread threads.
//!
//! A pure function of a report: the report is enough to draw the same conclusions again. Only cells that are `ok`
//! or `suspect` have a number; two numbers differ only where their intervals are apart.

mod advice;
mod beside;
mod classes;
mod cycles;
mod latency;
mod loaded;
mod pools;
mod products;
mod spread;
#[cfg(test)]
mod tests;
mod threads;
mod waits;

use charz_data::card::Card;
use charz_data::report::{Cell, FindingKind, Report, Status, Unit};
use charz_data::{Arrange, Role};
use charz_estimate::{Best, Estimate, Estimates, grouped};

use crate::verdict::{Verdict, verdicts};

pub use advice::Spin;
pub use beside::Late;
pub use classes::{Class, Scaling};
pub use cycles::{Efficiency, Siblings};
pub use latency::{Ahead, AtOnce, Levels, Misfit, Place, Reached};
pub use loaded::{Knee, Load, bandwidth, knee_delay};
pub use pools::{Fastest, Lock, Rivals};
pub use products::{Product, millis};
pub use spread::Spread;
pub use threads::{Cliff, Fall, NoCliff};
pub use waits::{Contexts, Hidden, Overlap, Waits};

/// A conclusion, and what it is about.
#[derive(Debug)]
pub struct Finding<'a> {
    pub kernel: &'a str,
    /// `None` where it is about several, or where noise may hide another.
    pub mapping: Option<&'a str>,
    /// The number of workers at which it shows; `None` where it is about all.
    pub workers: Option<u64>,
    /// The number that it results in.
    pub value: Option<f64>,
    /// The numbers that it follows from, where its sentence does not have them.
    pub evidence: Vec<Estimate<'a>>,
    pub claim: Claim<'a>,
}

/// What is concluded.
#[derive(Debug)]
pub enum Claim<'a> {
    /// With how many workers, and under which mapping, a kernel does best.
    Best(Verdict<'a>),
    Cliff(Cliff<'a>),
    NoCliff(NoCliff<'a>),
    /// Each number of workers with which a kernel does less than half of the best with fewer, counted anew from there; and with how many
    /// more it was skipped, and given up.
    Collapse {
        falls: Vec<Fall<'a>>,
        skipped: Vec<u64>,
        failed: Vec<u64>,
    },
    /// Beside which other threads wake up late.
    Late(Late),
    Fastest(Fastest<'a>),
    Lock(Lock<'a>),
    Spin(Spin<'a>),
    /// How long retries may back off: so many times the longest transfer of a line, beside the pools that try again at once and that back off.
    BackOff {
        cap: f64,
        strands: u64,
        pools: Vec<[Estimate<'a>; 2]>,
    },
    /// What threads gain that add to words of their own, beside those that add to one, and whether that is worth it.
    Shards {
        own: Estimate<'a>,
        shared: Estimate<'a>,
        is_worth_it: bool,
    },
    /// What threads do that add to words on the two lines of 128 bytes, and to words further apart, and whether that is worth it.
    Padding {
        next: Estimate<'a>,
        apart: Estimate<'a>,
        is_far: bool,
    },
    Barrier(Winner<'a>),
    /// How to hand something to another thread, and a flag to spin on that is faster.
    WakeUp(Winner<'a>, Option<Estimate<'a>>),
    /// What more threads do under so many CPUs of a quota: the evidence, the fewest threads first.
    Quota(f64),
    /// Loads at random that are too fast for memory: in nanoseconds, how many times the fastest, and whether that is doubtful.
    NoLatency {
        curve: crate::curves::Curve<'a>,
        ns: f64,
        times: f64,
        doubtful: bool,
    },
    Levels(Levels<'a>),
    Reach(Reached<'a>),
    Ahead(Ahead<'a>),
    AtOnce(AtOnce<'a>),
    /// What hides the waits of a core.
    Waits(Waits<'a>),
    /// What strands of a core hide of a program's waits.
    Overlap(Overlap<'a>),
    /// How latency grows under load.
    Loaded(&'a Cell, Knee),
    Product(Product<'a>),
    Siblings(Siblings<'a>),
    Efficiency(Efficiency<'a>),
    Scaling(Scaling<'a>),
    /// A program that had so many threads at most, and by what.
    Limited(u64, &'a str),
    Spread(Spread<'a>),
}

impl Claim<'_> {
    /// What kind of conclusion it is.
    pub fn kind(&self) -> FindingKind {
        use Claim::*;
        match self {
            Best(_) => FindingKind::Best,
            Cliff(_) | NoCliff(_) => FindingKind::Cliff,
            Collapse { .. } => FindingKind::Collapse,
            Fastest(_) => FindingKind::Fastest,
            Late(_)
            | Waits(_)
            | Lock(_)
            | Spin(_)
            | BackOff { .. }
            | Shards { .. }
            | Padding { .. }
            | Barrier(_)
            | WakeUp(..)
            | Quota(_) => FindingKind::Advice,
            NoLatency { .. } | Levels(_) | Reach(_) | Ahead(_) | AtOnce(_) | Loaded(..) | Siblings(_) => {
                FindingKind::Latency
            }
            Product(_) => FindingKind::Products,
            Efficiency(_) => FindingKind::Efficiency,
            Overlap(_) | Scaling(_) | Limited(..) => FindingKind::Scaling,
            Spread(_) => FindingKind::Spread,
        }
    }
}

/// The best of numbers that do the same, with those that meet it.
#[derive(Debug)]
pub struct Winner<'a> {
    pub best: Estimate<'a>,
    pub alike: Vec<Estimate<'a>>,
    /// How many others should have a number and have none: any of them may be better.
    pub lacking: usize,
}

impl<'a> Winner<'a> {
    fn of(best: Best<'a>, lines: &[&Line<'a>]) -> Self {
        let workers = best.number.cell.workers;
        let lacks = |cell: &&&Cell| cell.workers == workers && cell.status != Status::Skipped && cell.value().is_none();
        let lacking = lines.iter().flat_map(|line| &line.cells).filter(lacks).count();
        Winner { best: best.number, alike: best.alike, lacking }
    }
}

impl<'a> Finding<'a> {
    fn on(cell: &'a Cell, value: Option<f64>, claim: Claim<'a>) -> Self {
        let Cell { kernel, mapping, workers, .. } = cell;
        Finding { kernel, mapping: Some(mapping), workers: Some(*workers), value, evidence: Vec::new(), claim }
    }

    /// The same from these numbers.
    fn from(self, evidence: impl Into<Vec<Estimate<'a>>>) -> Self {
        Finding { evidence: evidence.into(), ..self }
    }

    /// The same of several mappings and numbers of workers.
    fn of_several(self) -> Self {
        Finding { mapping: None, workers: None, ..self }
    }
}

/// What is asked of a report.
pub struct Rule {
    pub name: &'static str,
    conclude: for<'a> fn(&Facts<'_, 'a>) -> Vec<Finding<'a>>,
}

/// All rules, in the order in which what follows is said.
pub static RULES: [Rule; 22] = {
    const fn rule(name: &'static str, conclude: for<'a> fn(&Facts<'_, 'a>) -> Vec<Finding<'a>>) -> Rule {
        Rule { name, conclude }
    }
    [
        rule("best", best),
        rule("cliff", threads::cliffs),
        rule("collapse", threads::collapses),
        rule("late", beside::late),
        rule("fastest", pools::fastest),
        rule("lock", pools::lock),
        rule("spin", advice::spin_before_park),
        rule("back-off", advice::back_off),
        rule("shards", advice::shards),
        rule("padding", advice::padding),
        rule("barrier", advice::barriers),
        rule("wake-up", advice::wake_ups),
        rule("quota", threads::quota),
        rule("levels", latency::latency),
        rule("waits", waits::waits),
        rule("overlaps", waits::overlaps),
        rule("loaded", loaded::loaded),
        rule("products", products::products),
        rule("siblings", cycles::siblings),
        rule("efficiency", cycles::efficiency),
        rule("problems", classes::problems),
        rule("spread", spread::spread),
    ]
};

/// Everything that follows from the cells of a report, by rule, and then in the order of the cells.
pub fn findings<'a>(table: &Estimates<'a>) -> Vec<Finding<'a>> {
    let strands = table.report.machine.usable_strands().count() as u64;
    let facts = Facts { report: table.report, table, lines: Line::all(table), strands };
    RULES.iter().flat_map(|rule| (rule.conclude)(&facts)).collect()
}

/// What rules conclude from.
struct Facts<'f, 'a> {
    report: &'a Report,
    table: &'f Estimates<'a>,
    lines: Vec<Line<'a>>,
    strands: u64,
}

impl<'a> Facts<'_, 'a> {
    /// The lines of kernels of such a role, all of whose cells have a unit.
    fn lines_of(&self, unit: Unit, is_one: impl Fn(&Role) -> bool) -> impl Iterator<Item = &Line<'a>> {
        self.lines.iter().filter(move |line| is_one(line.role()) && line.counts(unit))
    }

    /// The numbers of these.
    fn numbers(&self, unit: Unit, is_one: impl Fn(&Role) -> bool) -> Vec<Estimate<'a>> {
        self.lines_of(unit, is_one).flat_map(Line::numbers).collect()
    }
}

/// The cells of a kernel under a mapping at a point, by ascending number of workers, with their estimates.
struct Line<'a> {
    card: Option<&'a Card>,
    cells: Vec<&'a Cell>,
    estimates: Vec<Option<Estimate<'a>>>,
}

impl<'a> Line<'a> {
    /// All of a report, in the order of their first cells.
    fn all(table: &Estimates<'a>) -> Vec<Self> {
        let groups = grouped(&table.report.cells, |cell| (cell.kernel.as_str(), cell.mapping.as_str(), cell.point));
        let line = |mut cells: Vec<&'a Cell>| {
            cells.arrange_by_key(|cell| cell.workers);
            let estimates = cells.iter().map(|cell| table.estimate(cell)).collect();
            Line { card: table.report.card(&cells[0].kernel), cells, estimates }
        };
        groups.into_iter().map(line).collect()
    }

    fn kernel(&self) -> &'a str {
        &self.cells[0].kernel
    }

    fn mapping(&self) -> &'a str {
        &self.cells[0].mapping
    }

    fn role(&self) -> &'a Role {
        self.card.map_or(&Role::Other, |card| &card.role)
    }

    fn numbers(&self) -> impl Iterator<Item = Estimate<'a>> {
        self.estimates.iter().copied().flatten()
    }

    fn counts(&self, unit: Unit) -> bool {
        self.cells.iter().all(|cell| cell.unit == unit)
    }
}

/// One for each verdict that compares mappings or numbers of workers.
fn best<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let decided = verdicts(facts.table).into_iter().filter(|verdict| verdict.decides(facts.report));
    let finding = decided.map(|verdict| {
        let is_one = verdict.alike.is_empty() && !verdict.doubtful;
        let (cell, value) = (verdict.best.cell, verdict.best.unscaled().value);
        let finding = Finding::on(cell, Some(value), Claim::Best(verdict));
        Finding { mapping: finding.mapping.filter(|_| is_one), ..finding }
    });
    finding.collect()
}
