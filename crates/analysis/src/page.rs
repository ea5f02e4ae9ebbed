//! What a page says of one report, or of several side by side: the machine, what follows from the numbers, a figure for each thing
//! that was measured, what is to be doubted, and where it all comes from.
//!
//! Pure functions from reports to data. The renderers write the same page as HTML, as Markdown and on a terminal, so all three
//! agree. Numbers of cells that are `invalid` or `failed` are left out: they are gaps.

mod about;
mod bounds;
mod cells;
mod costs;
mod devices;
mod dots;
mod doubts;
mod families;
mod growth;
mod hardware;
pub mod history;
mod joint;
mod lines;
mod loads;
mod machine;
pub mod matrix;
mod nodes;
mod points;
mod products;
mod scaling;
mod sharing;
mod sizes;
mod squares;
mod table;
#[cfg(test)]
mod tests;
mod verdicts;
mod versus;

use std::collections::{BTreeSet, HashMap};

use crate::answer::Answer;
use crate::figure::{Figure, Table};
use cells::CellsByKernel;
use charz_claims::compare::Comparison;
use charz_claims::verdict::verdicts;
use charz_data::Role;
use charz_data::report::{Cell, Finding, FindingKind, Report};
use charz_estimate::Estimates;
use charz_estimate::grouped;
use charz_words::findings::findings;

pub use crate::source::Source;
pub use about::{About, Difference, Fact, about};
pub use devices::{DeviceRow, device_rows};
pub use doubts::Doubt;
use doubts::doubts;
pub use machine::{core_name, nest};
use versus::Found;

#[derive(Clone, Debug, Default)]
pub struct Page {
    pub title: String,
    /// The answer, a sentence each and the first before all others: how reports compare, what changed. Empty of one report, which has
    /// its own.
    pub summary: Vec<String>,
    /// What the first screen of each report says.
    pub answers: Vec<Answer>,
    pub sources: Vec<About>,
    /// In what the reports differ; empty for one.
    pub differences: Vec<Difference>,
    /// What follows, in words, each with the report that it follows from, by its place among the sources.
    pub findings: Vec<(usize, Finding)>,
    /// What is suspect, invalid or missing, and why; each kind once, the weightiest first.
    pub doubts: Vec<(usize, Doubt)>,
    pub sections: Vec<Section>,
    /// What was left out to keep the page small, one sentence each; the reports have it.
    pub left_out: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Its name among the sections of the page; as [`Figure::id`].
    pub id: &'static str,
    pub title: &'static str,
    /// What is measured here and how to read it, a sentence each.
    pub about: Vec<String>,
    /// A table before the figures.
    pub table: Option<Table>,
    pub figures: Vec<Figure>,
}

/// A section: its name, its heading, what it says of itself, and what draws it.
struct Chapter {
    id: &'static str,
    title: &'static str,
    about: &'static str,
    draw: fn(&CellsByKernel<'_>) -> Vec<Figure>,
    /// What a table before the figures has of all of them.
    table: fn(&CellsByKernel<'_>) -> Option<Table>,
}

/// The sections in their order. One that has no figure for these reports is left out.
const CHAPTERS: &[Chapter] = &[
    Chapter {
        id: "machine",
        title: "The machine",
        about: "A box holds what shares a part of the machine; its cells are CPUs. A mapping is the order in which threads take CPUs",
        draw: machine::figures,
        table: |_| None,
    },
    Chapter {
        id: "throughput",
        title: "Throughput vs threads",
        about: "Points are medians over runs, bands their 95% intervals, hollow points noisy. Mappings whose intervals overlap everywhere share a line",
        draw: |sorted| scaling::figures(sorted, true),
        table: |_| None,
    },
    Chapter {
        id: "time",
        title: "Time or cost vs threads",
        about: "Lower is better. Points are medians over runs, bands their 95% intervals, hollow points noisy",
        draw: |sorted| scaling::figures(sorted, false),
        table: |_| None,
    },
    Chapter {
        id: "latency",
        title: "Latency vs working set",
        about: "Time of a load that depends on the one before it: flat while the block fits in a cache, higher beyond its edge",
        draw: |sorted| sizes::figures(sorted, Some(sizes::LATENCY)),
        table: |_| None,
    },
    Chapter {
        id: "bandwidth",
        title: "Bandwidth vs working set",
        about: "A block that fits in a cache is read from there; a larger one comes from the next level, and finally from memory",
        draw: |sorted| sizes::figures(sorted, Some(sizes::BANDWIDTH)),
        table: |_| None,
    },
    Chapter {
        id: "sizes",
        title: "Other kernels vs working set",
        about: "What threads do in a time, or how long it takes them, by the size of the block that each works on",
        draw: |sorted| sizes::figures(sorted, None),
        table: |_| None,
    },
    Chapter {
        id: "loaded",
        title: "Loaded latency",
        about: "Latency of one thread while all others move data at full speed, or pause between portions",
        draw: loads::figures,
        table: |_| None,
    },
    Chapter {
        id: "pairs",
        title: "Core-to-core latency",
        about: "Time for a cache line to pass between two CPUs; neighbours in the matrix are neighbours on the machine",
        draw: squares::figures,
        table: |_| None,
    },
    Chapter {
        id: "numa",
        title: "NUMA latency and bandwidth",
        about: "What the CPUs of each node get from the memory of each node",
        draw: nodes::figures,
        table: |_| None,
    },
    Chapter {
        id: "families",
        title: "Synchronization",
        about: "Kernels that do the same in different ways share a figure. Hollow points are noisy",
        draw: families::figures,
        table: |_| None,
    },
    Chapter {
        id: "single",
        title: "Results",
        about: "One row per kernel, one bar per mapping and number of threads; the line through its end is the 95% interval",
        draw: dots::figures,
        table: |_| None,
    },
    Chapter {
        id: "lone",
        title: "Single results",
        about: "Kernels that were measured in one configuration",
        draw: |_| Vec::new(),
        table: dots::table,
    },
    Chapter {
        id: "sharing",
        title: "Contention",
        about: "What threads that share a lock, a counter or a pool cost each other; configurations of several threads only",
        draw: |sorted| sharing::figures(sorted, "Contention"),
        table: sharing::table,
    },
    Chapter {
        id: "hardware",
        title: "Hardware counters",
        about: "User mode only, of runs of their own. Efficiency is MIPS over clock × cores × issue width; cost is what runs with \
                counters lost against those without; cache is the last level, on AMD Zen the second",
        draw: |sorted| sharing::figures(sorted, "Hardware counters"),
        table: hardware::table,
    },
    Chapter {
        id: "growth",
        title: "Threads for activities",
        about: "A program whose activities double from size to size; a runtime has a thread do each of them. Lower is better",
        draw: growth::figures,
        table: |_| None,
    },
    Chapter {
        id: "products",
        title: "Products of matrices",
        about: "The table has the best of each program, and what its numbers of levels (k) take: products are activities, 8 times as many at \
                each level. Each chart is a program. Lower is better",
        draw: products::figures,
        table: products::times,
    },
    Chapter {
        id: "times",
        title: "Distribution of times",
        about: "The first time runs to the right, the second upwards; darker is more frequent, and on the diagonal both are equal. Cycles \
                are of the core's clock, timed by dependent multiplications around each run",
        draw: joint::figures,
        table: joint::table,
    },
];

/// The section of several reports beside each other.
pub const VERSUS: &str = "versus";

impl Chapter {
    /// What the chapter has for these reports, its figures without a single result named only; `None` without any.
    fn section(&self, sorted: &CellsByKernel<'_>) -> Option<Section> {
        let table = (self.table)(sorted);
        let (mut figures, empty): (Vec<Figure>, Vec<Figure>) =
            (self.draw)(sorted).into_iter().partition(Figure::has_results);
        // The table has what a chart of one bar would show.
        figures.retain(|figure| table.is_none() || !figure.is_lone());
        let mut about = vec![self.about.to_owned()];
        let names: Vec<&str> = empty.iter().take(MOST_NAMED).map(|figure| figure.title.as_str()).collect();
        let more = empty.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        about.extend((!empty.is_empty()).then(|| format!("No result for {}{more}", names.join("; "))));
        let is_there = !figures.is_empty() || !empty.is_empty() || table.is_some();
        is_there.then_some(Section { id: self.id, title: self.title, about, table, figures })
    }
}

/// The most figures without results that a section names, and kernels that a title does.
const MOST_NAMED: usize = 4;

/// What these reports say, as far as a page has room for it. They may be of different machines, or of one at different times.
pub fn page(sources: &[Source<'_>]) -> Page {
    draw(sources, &versus::compared(sources), &[])
}

/// The same of two reports of which it is known how they compare, with notes of who compared them.
pub fn of_comparison(sources: &[Source<'_>; 2], comparison: &Comparison<'_>, asides: &[String]) -> Page {
    draw(sources, &[Ok(comparison.clone())], asides)
}

/// A page that is small enough, and in which each name is one figure's.
fn draw(sources: &[Source<'_>], compared: &[Found<'_>], asides: &[String]) -> Page {
    let each = || sources.iter().map(|source| source.report);
    let sorted = CellsByKernel::of(
        sources,
        each().map(|report| findings(&Estimates::of(report))).collect(),
        each().map(|report| verdicts(&Estimates::of(report))).collect(),
    );
    let answers: Vec<Answer> = each().map(Answer::of).collect();
    let versus = versus::figure(sources, &answers, compared).map(|figure| Section {
        id: VERSUS,
        title: "Reports side by side",
        figures: vec![figure],
        ..Section::default()
    });
    let costs = if let [answer] = &answers[..] { costs::section(answer) } else { None };
    let chapters = CHAPTERS.iter().filter_map(|chapter| chapter.section(&sorted));
    let sections = versus.into_iter().chain(costs).chain(chapters).collect();
    let abouts: Vec<About> = sources.iter().map(about).collect();
    let mut page = Page {
        title: title(sources),
        answers,
        differences: about::differences(&abouts),
        summary: versus::summary(sources, compared, asides),
        sources: abouts,
        doubts: with_source(each().map(doubts)),
        findings: of_all(with_source(sorted.findings), sources.len()),
        sections,
        left_out: Vec::new(),
    };
    bounds::bound(&mut page);
    make_ids_unique(&mut page);
    page
}

/// All of these, each with the place of its report among the sources.
fn with_source<T>(all: impl IntoIterator<Item = Vec<T>>) -> Vec<(usize, T)> {
    all.into_iter().enumerate().flat_map(|(at, own)| own.into_iter().map(move |one| (at, one))).collect()
}

/// Without the best of each kernel, which is in the answers; what follows from each of several reports once, as that of none of them.
fn of_all(findings: Vec<(usize, Finding)>, reports: usize) -> Vec<(usize, Finding)> {
    let count = |finding: &Finding| {
        let is_same = |other: &&(usize, Finding)| (other.1.kind, &other.1.text) == (finding.kind, &finding.text);
        findings.iter().filter(is_same).map(|(at, _)| at).collect::<BTreeSet<_>>().len()
    };
    let own = findings.iter().filter(|(_, found)| found.kind != FindingKind::Best);
    let told = own.filter_map(|(at, found)| match reports > 1 && count(found) == reports {
        true => (*at == 0).then(|| (reports, found.clone())),
        false => Some((*at, found.clone())),
    });
    told.collect()
}

impl Page {
    /// The report that a sentence is about, where there are several: ` (name)`.
    pub fn of(&self, source: usize) -> String {
        match self.sources.get(source).filter(|_| self.sources.len() > 1) {
            Some(source) => format!(" ({})", source.name),
            None => String::new(),
        }
    }

    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.sections.iter().flat_map(|section| &section.figures)
    }
}

/// What was measured, and on which machine.
fn title(sources: &[Source<'_>]) -> String {
    let each = |of: fn(&Report) -> String| -> Vec<String> {
        sources.iter().map(|source| of(source.report)).collect::<BTreeSet<_>>().into_iter().collect()
    };
    let (subjects, machines) = (each(subject), each(machine));
    let subject = if let [only] = &subjects[..] { format!("{only} ") } else { String::new() };
    let several = match sources {
        [_] => String::new(),
        _ if sources.len() <= MOST_NAMED => {
            format!("{}: ", sources.iter().map(|source| source.name).collect::<Vec<_>>().join(" and "))
        }
        _ => format!("{} reports: ", sources.len()),
    };
    let more = machines.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more machines") } else { String::new() };
    format!("{several}{subject}on {}{more}", machines[..machines.len().min(MOST_NAMED)].join(", "))
}

/// The kernels of a report: a few by their names, more by how many each family has.
fn subject(report: &Report) -> String {
    let kernels = grouped(&report.cells, |cell| cell.kernel.as_str());
    if kernels.len() <= MOST_NAMED {
        let program = report.plan.program.as_ref().map(|program| program.command.as_str());
        let name = |cells: &Vec<&Cell>| match report.role(&cells[0].kernel) {
            Role::Program => program.unwrap_or(&cells[0].kernel).to_owned(),
            _ => cells[0].kernel.clone(),
        };
        let names: Vec<String> = kernels.iter().map(name).collect();
        return if names.is_empty() { "nothing measured".to_owned() } else { names.join(", ") };
    }
    let family = |cells: &Vec<&Cell>| report.card(&cells[0].kernel).map_or("other", |card| card.family.name());
    let families = grouped(kernels, family);
    let counts: Vec<String> =
        families.iter().map(|kernels| format!("{} {}", kernels.len(), family(&kernels[0]))).collect();
    format!("{} kernels", counts.join(", "))
}

/// The host and its processor, as far as they are known.
fn machine(report: &Report) -> String {
    let known =
        |name: &Option<String>| name.as_deref().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
    match (known(&report.host.name), known(&report.host.processor)) {
        (Some(host), Some(processor)) => format!("{host} ({processor})"),
        (one, other) => one.or(other).unwrap_or_else(|| "an unnamed machine".to_owned()),
    }
}

/// Gives the figures of a page unique names, for any names of kernels and mappings in a report.
fn make_ids_unique(page: &mut Page) {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    // The last number given to a name.
    let mut last: HashMap<String, usize> = HashMap::new();
    for figure in page.sections.iter_mut().flat_map(|section| &mut section.figures) {
        let wanted = figure.id.clone();
        while !taken.insert(figure.id.clone()) {
            let count = last.entry(wanted.clone()).or_insert(1);
            *count += 1;
            figure.id = format!("{wanted}-{count}");
        }
    }
}
