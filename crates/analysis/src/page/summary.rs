//! A report in a few sentences.

use super::cells::{CellsByKernel, Shape};
use super::verdicts::against;
use crate::card::{Card, Level, MEMORY};
use crate::number::time;
use crate::verdict::{Auto, Loss, Verdict};
use charz_data::Role;
use charz_data::card::{Access, Numbers};
use charz_data::escape::counted;
use charz_data::report::{Cell, Estimator, Report, Status, Unit};
use charz_data::units;

/// Roles that show what a machine can do, each with the beginning of its sentence.
const TELLING: [(Role, &str); 4] = [
    (Role::MemoryBandwidth(Access::Read), "Reading memory is fastest"),
    (Role::MemoryBandwidth(Access::Write), "Writing memory is fastest"),
    (Role::Arithmetic(Numbers::Integer), "Integer arithmetic is fastest"),
    (Role::Arithmetic(Numbers::Float), "Floating-point arithmetic is fastest"),
];
/// Below this share of the capacity something took the rest; above it are looks, clocks and the start of workers.
const TAKEN: f64 = 0.99;
/// How many other verdicts are reported if none of these was measured.
const OTHERS: usize = 3;

pub(super) fn summary(sorted: &CellsByKernel<'_>, source: usize, report: &Report) -> Vec<String> {
    let verdicts = sorted.verdicts.get(source).into_iter().flatten();
    let telling: Vec<&Verdict<'_>> = verdicts.filter(|verdict| verdict.mappings > 1).collect();
    let mut sentences = vec![machine(report)];
    sentences.extend(best(report, &telling));
    sentences.extend(auto(&telling));
    sentences.extend(memory(report));
    sentences.extend(nearest(sorted, source));
    sentences.push(soundness(report));
    sentences.extend(delivered(report));
    sentences
}

/// `Intel(R) Xeon(R): 2 usable strands of 2, on 1 core of 1 package`.
fn machine(report: &Report) -> String {
    let machine = &report.machine;
    let usable = machine.usable_strands().count();
    let name = report.host.processor.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let strands = match machine.strands.len() {
        all if all == usable => counted(all, "strand"),
        all => format!("{usable} usable of {}", counted(all, "strand")),
    };
    let parts =
        [(machine.cores.len(), "core"), (machine.packages.len(), "package"), (machine.numa_nodes.len(), "NUMA node")];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, noun)| counted(count, noun)).collect();
    let guest = if report.host.virtual_machine == Some(true) { ", in a virtual machine" } else { "" };
    format!("{}: {strands}; {}{guest}", name.unwrap_or("A processor that says no name"), parts.join(", "))
}

/// The best mapping for each of the telling roles.
fn best(report: &Report, telling: &[&Verdict<'_>]) -> Vec<String> {
    let of = |role: &Role| telling.iter().find(|verdict| report.role(verdict.kernel) == role);
    let known: Vec<String> = TELLING.iter().filter_map(|(role, words)| Some(of_verdict(words, of(role)?))).collect();
    if !known.is_empty() {
        return known;
    }
    let name = |verdict: &Verdict<'_>| match verdict.label.as_str() {
        "" => format!("{} is best", verdict.kernel),
        label => format!("{} {label} is best", verdict.kernel),
    };
    telling.iter().take(OTHERS).map(|verdict| of_verdict(&name(verdict), verdict)).collect()
}

fn of_verdict(words: &str, verdict: &Verdict<'_>) -> String {
    let best = verdict.best.cell;
    let alike = if verdict.alike.is_empty() { "" } else { ", and others are as good within their intervals" };
    format!(
        "{words} under {}{} with {}: {}{alike}",
        best.mapping,
        units::doubt(verdict.doubtful),
        counted(best.workers as usize, "worker"),
        verdict.best.shown()
    )
}

/// What leaving placement to the system costs at most.
fn auto(telling: &[&Verdict<'_>]) -> Option<String> {
    let losses = telling.iter().filter_map(|verdict| match &verdict.auto {
        Auto::Other(loss) => Some((*verdict, *loss)),
        Auto::Best | Auto::Unmeasured => None,
    });
    let apart = losses.clone().filter(|(_, loss)| loss.open == Some(false) && loss.share > 0.0);
    let share = |(_, loss): &(&Verdict<'_>, Loss<'_>)| loss.share;
    let worst = apart.max_by(|one, other| share(one).total_cmp(&share(other)));
    if let Some((verdict, loss)) = worst {
        let kernel = verdict.kernel;
        let count = counted(loss.number.cell.workers as usize, "worker");
        return Some(format!(
            "Leaving placement to the system costs most at {kernel}: with {count} it {}",
            against(&loss)
        ));
    }
    // Without an interval, or of suspect numbers, nothing follows from no loss.
    let is_shown = |verdict: &&Verdict<'_>| match &verdict.auto {
        Auto::Unmeasured => false,
        Auto::Best => !verdict.doubtful,
        Auto::Other(loss) => loss.open.is_some() && !loss.doubtful,
    };
    let measured = telling.iter().copied().any(|verdict| is_shown(&verdict));
    measured.then(|| "Leaving placement to the system costs nothing that the intervals show".to_owned())
}

/// What a load takes from the first cache and from memory.
fn memory(report: &Report) -> Option<String> {
    let card = Card::of(report);
    let time = |level: &Level| level.found.map(|found| time(found.ns, found.doubtful));
    let far = card.levels.iter().find(|level| level.name == MEMORY).and_then(time)?;
    let near = card.levels.iter().find(|level| level.name != MEMORY && level.found.is_some());
    let near = near.and_then(|level| Some(format!(", one from {} {}", level.name, time(level)?)));
    Some(format!("A load from memory takes {far}{}", near.unwrap_or_default()))
}

/// What a line takes from core to core, between the nearest and the farthest strands.
fn nearest(sorted: &CellsByKernel<'_>, source: usize) -> Option<String> {
    let kernel = sorted.shaped(Shape::Pairs).next()?;
    let own = kernel.cells.iter().filter(|own| own.source == source && own.cell.unit == Unit::NanosecondsPerOp);
    let timed: Vec<(f64, &Cell)> = own.filter_map(|own| Some((own.cell.value()?, own.cell))).collect();
    let least = timed.iter().min_by(|one, other| one.0.total_cmp(&other.0))?;
    let most = timed.iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
    let said = |(_, cell): &(f64, &Cell)| super::points::number(cell);
    Some(match timed.len() {
        1 => format!("A line of memory takes {} from strand to strand", said(least)),
        _ => {
            format!("A line of memory takes {} from strand to strand at least, and {} at most", said(least), said(most))
        }
    })
}

/// How much of its capacity the machine delivered while it was measured, by the cell in the middle of those that show both.
fn delivered(report: &Report) -> Option<String> {
    let shows_both = |cell: &&Cell| cell.estimator == Estimator::FastMode && cell.value().is_some();
    let mut shares: Vec<f64> = report.cells.iter().filter(shows_both).filter_map(Cell::delivered_share).collect();
    shares.sort_by(f64::total_cmp);
    let share = *shares.get(shares.len() / 2)?;
    let taken = if share < TAKEN { ": other programs or the host took the rest" } else { "" };
    Some(format!("While it was measured, the machine delivered {} of its capacity{taken}", units::percent(share)))
}

/// How many numbers there are, and how many of them can be believed.
fn soundness(report: &Report) -> String {
    let (sound, suspect) = (report.count(Status::Ok), report.count(Status::Suspect));
    let missing = report.cells.len() - sound - suspect;
    let are = |count| if count == 1 { "is" } else { "are" };
    let mut words = format!("Of {}, {sound} {} sound", counted(report.cells.len(), "number"), are(sound));
    if suspect > 0 {
        words += &format!("; {suspect} {} suspect, and marked with ?", are(suspect));
    }
    if missing > 0 {
        words += &format!("; {missing} {} missing", are(missing));
    }
    if let Some(why) = report.incomplete() {
        words += &format!("; the sweep was ended early by {}", super::points::short(why));
    }
    words
}
