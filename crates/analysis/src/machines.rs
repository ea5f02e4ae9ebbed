//! Several machines, each against the first: what one thread does, what the whole machine does, and what that is worth for its price.

use serde::Serialize;

use crate::answer::{Answer, Ratio, Reading, Row as Answered};
use crate::compare::{Options, guest_memory, obstacle};
use crate::figure::{self, Datum, State, Table};
use crate::number::left_by_quota;
use crate::page::{Page, Section, Source, page};
use charz_data::escape::counted;
use charz_data::report::{Report, Unit};

/// What came of holding machines against each other.
#[derive(Clone, Debug, Serialize)]
pub struct Machines {
    /// The machines, the one that all are held against first.
    pub machines: Vec<Machine>,
    /// Two rows for each kernel that all the rest is about, where both were measured.
    pub rows: Vec<Row>,
    /// What makes a ratio say less, a clause each.
    pub notes: Vec<String>,
}

/// One of the machines.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// The name of its report.
    pub name: String,
    /// Its host, if the report has it.
    pub host: Option<String>,
    /// Its processor, if the report has it.
    pub processor: Option<String>,
    /// How many CPUs could be used.
    pub cpus: u64,
    /// What it costs in an hour, in any currency; null where that was not said.
    pub price: Option<f64>,
}

/// A kernel, with one thread or on the whole machine.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name, with its parameters.
    pub kernel: String,
    /// With how many threads.
    pub scope: Scope,
    /// What the values count.
    pub unit: Unit,
    /// What it does on each machine, in their order; null where it was not measured.
    pub values: Vec<Option<Value>>,
}

/// With how many threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One.
    OneThread,
    /// As many as are the fastest on each machine.
    WholeMachine,
}

/// What a kernel does on a machine.
#[derive(Clone, Debug, Serialize)]
pub struct Value {
    /// The number.
    pub value: f64,
    /// The number of threads.
    pub threads: u64,
    /// Their mapping.
    pub mapping: String,
    /// Whether it is noisy.
    pub noisy: bool,
    /// How many times as fast as the first machine; null of that one, and where that has no number.
    pub times: Option<Ratio>,
    /// The same for as much money, of whole machines with prices.
    pub for_its_price: Option<Ratio>,
}

/// Holds each machine against the first. `prices` are in the order of the sources; `None` where there is none.
pub fn machines(sources: &[Source<'_>], prices: &[Option<f64>]) -> Machines {
    let answers: Vec<Answer> = sources.iter().map(|source| Answer::of(source.report)).collect();
    let price = |at: usize| prices.get(at).copied().flatten();
    let machine = |(at, (source, answer)): (usize, (&Source<'_>, &Answer))| Machine {
        name: source.name.to_owned(),
        host: source.report.host.name.clone(),
        processor: source.report.host.processor.clone(),
        cpus: answer.cpus,
        price: price(at),
    };
    let keys = keys(sources, &answers);
    let scopes = [(Scope::OneThread, one as Pick), (Scope::WholeMachine, whole)];
    let pairs = keys.iter().flat_map(|key| scopes.map(|(scope, pick)| (key, scope, pick)));
    let rows = pairs.map(|(key, scope, pick)| {
        let rows: Vec<Option<&Answered>> = answers.iter().map(|answer| key.row(answer)).collect();
        let reading = |(row, source): (&Option<&Answered>, &Source<'_>)| {
            Some(in_quota(pick((*row)?, source.report)?, source.report, &key.kernel))
        };
        let readings: Vec<Option<Reading>> = rows.iter().zip(sources).map(reading).collect();
        let first = readings[0].clone();
        // Each thread's or copy's work is its own.
        let is_each = rows.iter().flatten().any(|row| row.is_each);
        let value = |(at, reading): (usize, Option<Reading>)| {
            let reading = reading?;
            let times = first.as_ref().filter(|_| at > 0);
            let times = times.map(|first| Ratio::of_work(first, &reading, is_each));
            let dearer =
                price(0).zip(price(at)).filter(|_| scope == Scope::WholeMachine).map(|(first, own)| own / first);
            Some(Value {
                value: reading.value,
                threads: reading.threads,
                noisy: reading.is_noisy,
                times,
                for_its_price: times.zip(dearer).map(|(times, dearer)| times.for_price(dearer)),
                mapping: reading.mapping,
            })
        };
        // What is the fastest with one thread on machines of several CPUs is the row above.
        let is_more = scope == Scope::OneThread
            || readings.iter().zip(&answers).any(|(reading, answer)| {
                answer.cpus == 1 || reading.as_ref().is_some_and(|reading| reading.threads > 1)
            });
        let values = readings.into_iter().enumerate().map(value).collect();
        is_more.then_some(Row { kernel: key.name.clone(), scope, unit: key.unit, values })
    });
    // Too few threads everywhere are in none of them.
    let rows = rows.flatten().filter(|row| row.values.iter().any(Option::is_some));
    let (rows, lone): (Vec<Row>, Vec<Row>) = rows.partition(|row| row.values.iter().flatten().count() > 1);
    let rules = Options { cross_machine: true, ..Options::default() };
    let unlike = |source: &Source<'_>| {
        let (difference, _) = obstacle(sources[0].report, source.report, &rules)?;
        Some(format!("{} was not measured as {}: {difference}", source.name, sources[0].name))
    };
    let mut notes: Vec<String> = sources.iter().skip(1).filter_map(unlike).collect();
    let incomplete =
        |source: &Source<'_>| Some(format!("{} is incomplete: {}", source.name, source.report.incomplete()?));
    notes.extend(sources.iter().filter_map(incomplete));
    notes.extend(sources.iter().filter_map(quota_note));
    let reports: Vec<&Report> = sources.iter().map(|source| source.report).collect();
    let is_other = |ratio: Ratio| ratio.interval.is_some_and(|[low, high]| low > 1.0 || high < 1.0);
    let differ = |row: &&Row| row.values.iter().flatten().filter_map(|value| value.times).any(is_other);
    let differ: Vec<&str> = rows.iter().filter(differ).map(|row| row.kernel.as_str()).collect();
    notes.extend(guest_memory(&reports, |cell| differ.iter().any(|row| row.split(' ').next() == Some(&cell.kernel))));
    let is_whole = |kernel: &str| {
        let of = |(source, answer): (&Source<'_>, &Answer)| {
            answer.rows.iter().any(|row| row.kernel == kernel && whole(row, source.report).is_some())
        };
        sources.iter().zip(&answers).any(of)
    };
    let partial = |(source, answer): (&Source<'_>, &Answer)| {
        let rows = answer.rows.iter().filter(|row| whole(row, source.report).is_none());
        // One thread everywhere is not meant to be a whole machine.
        let rows = rows.filter(|row| most_threads(row) > 1 || is_whole(&row.kernel));
        let few =
            |row: &Answered| format!("{} with at most {}", row.name(), counted(most_threads(row) as usize, "thread"));
        let few: Vec<String> = rows.map(few).collect();
        let cpus = counted(source.report.machine.worth(), "CPU");
        (!few.is_empty()).then(|| format!("{} was not measured as a whole, {cpus}: {}", source.name, few.join(", ")))
    };
    notes.extend(sources.iter().zip(&answers).filter_map(partial));
    notes.extend(keys.into_iter().filter_map(|key| key.note));
    let mut lone: Vec<String> = lone.into_iter().map(|row| row.kernel).collect();
    lone.dedup();
    lone.retain(|kernel| rows.iter().all(|row| row.kernel != *kernel));
    notes.extend((!lone.is_empty()).then(|| format!("measured on one of them only: {}", lone.join(", "))));
    let is_priced = rows.iter().flat_map(|row| &row.values).flatten().any(|value| value.for_its_price.is_some());
    if prices.iter().flatten().count() > 0 && !is_priced {
        notes.push("no ratio for the price: it needs the price of the first machine and of another, and a kernel with several threads".into());
    }
    let unpriced: Vec<&str> =
        sources.iter().enumerate().filter(|(at, _)| price(*at).is_none()).map(|(_, one)| one.name).collect();
    if is_priced && !unpriced.is_empty() {
        notes.push(format!("no price of {}", unpriced.join(", ")));
    }
    Machines { machines: sources.iter().zip(&answers).enumerate().map(machine).collect(), rows, notes }
}

/// By what rows of several answers are the same.
struct Key {
    name: String,
    unit: Unit,
    kernel: String,
    /// `None` takes the only row of the kernel.
    label: Option<String>,
    /// What the machines differ in here.
    note: Option<String>,
}

impl Key {
    fn row<'a>(&self, answer: &'a Answer) -> Option<&'a Answered> {
        let is_own = |row: &&Answered| {
            row.kernel == self.kernel
                && row.best.unit == self.unit
                && self.label.as_ref().is_none_or(|label| *label == row.label)
        };
        answer.rows.iter().find(is_own)
    }
}

/// The rows of all answers, those of the first before others. A kernel with one row in each, such as one about memory whose blocks are made for
/// the caches of the machine, is the same whatever its parameters.
fn keys(sources: &[Source<'_>], answers: &[Answer]) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for row in answers.iter().flat_map(|answer| &answer.rows) {
        let of_kernel = |answer: &Answer| answer.rows.iter().filter(|other| other.kernel == row.kernel).count();
        let label = answers.iter().any(|answer| of_kernel(answer) > 1).then(|| row.label.clone());
        if keys.iter().any(|key| key.kernel == row.kernel && key.unit == row.best.unit && key.label == label) {
            continue;
        }
        let mut key = Key { name: row.name(), unit: row.best.unit, kernel: row.kernel.clone(), label, note: None };
        let labels =
            sources.iter().zip(answers).filter_map(|(source, answer)| Some((source.name, &key.row(answer)?.label)));
        let labels: Vec<(&str, &String)> = labels.collect();
        if labels.iter().any(|(_, label)| **label != row.label) {
            // What one sweep varies, another has one value of.
            let shown = |label: &str| if label.is_empty() { "not varied".to_owned() } else { label.to_owned() };
            let told: Vec<String> = labels.iter().map(|(name, label)| format!("{} on {name}", shown(label))).collect();
            key.note = Some(format!("{}: {}", row.kernel, told.join(", ")));
            key.name.clone_from(&row.kernel);
        }
        keys.push(key);
    }
    keys
}

pub(crate) fn quota_note(source: &Source<'_>) -> Option<String> {
    let cpus = source.report.machine.quota()?;
    Some(format!("{} has a CPU quota of {cpus:.2}: its numbers are what that has time for", source.name))
}

/// What the threads do in the time that a quota leaves them; the capacity is without its pauses.
pub(crate) fn in_quota(reading: Reading, report: &Report, kernel: &str) -> Reading {
    let share = left_by_quota(report, kernel, reading.threads, reading.origin);
    let share = if reading.unit.more_is_better() { share } else { share.recip() };
    Reading { value: reading.value * share, ..reading }
}

type Pick = fn(&Answered, &Report) -> Option<Reading>;

fn one(row: &Answered, _: &Report) -> Option<Reading> {
    row.one.clone()
}

/// Not the best number of an incomplete report, nor that of too few threads to show what all CPUs do.
pub(crate) fn whole(row: &Answered, report: &Report) -> Option<Reading> {
    let cpus = report.machine.worth();
    let takes_all = report.card(&row.kernel).is_none_or(|card| card.workers.allows(cpus));
    let is_known = !takes_all || row.knee.is_some() || most_threads(row) >= cpus as u64;
    (row.cut.is_none() && is_known).then(|| row.peak.clone())
}

/// The most threads, up to one per CPU, that have a number.
fn most_threads(row: &Answered) -> u64 {
    row.all.as_ref().or(row.one.as_ref()).unwrap_or(&row.peak).threads
}

impl Machines {
    /// A sentence for each machine but the first: the middle of its ratios and their range.
    pub fn sentences(&self) -> Vec<String> {
        let [first, others @ ..] = &self.machines[..] else { return Vec::new() };
        let good = if self.rows.iter().all(|row| row.unit.is_of_speed()) { "fast" } else { "good" };
        let sentence = |(at, own): (usize, &Machine)| {
            let values = |scope: Scope| {
                let rows = self.rows.iter().filter(move |row| row.scope == scope);
                rows.filter_map(move |row| row.values[at].as_ref())
            };
            let whole = middle(values(Scope::WholeMachine).filter_map(|value| value.times));
            let one = middle(values(Scope::OneThread).filter_map(|value| value.times));
            let price = middle(values(Scope::WholeMachine).filter_map(|value| value.for_its_price));
            let parts = [(whole, "as a whole"), (one, "with one thread"), (price, "for its price")];
            let parts: Vec<String> =
                parts.into_iter().filter_map(|(middle, what)| Some(format!("{what} {}", middle?))).collect();
            match parts.is_empty() {
                true => format!("{} has no number that {} has too", own.name, first.name),
                false => format!("{} against {}: {} as {good}", own.name, first.name, parts.join(", ")),
            }
        };
        (1..).zip(others).map(sentence).collect()
    }

    /// A row for each kernel and scope: the values, and behind each the ratio to the first.
    pub fn table(&self) -> Table {
        let has_price =
            self.rows.iter().flat_map(|row| &row.values).flatten().any(|value| value.for_its_price.is_some());
        let mut heading = vec!["kernel".to_owned(), "threads".to_owned(), self.machines[0].name.clone()];
        for machine in &self.machines[1..] {
            heading.extend([machine.name.clone(), "times".to_owned()]);
            heading.extend(has_price.then(|| "for its price".to_owned()));
        }
        let rows = self.rows.iter().map(|row| {
            let scope = if row.scope == Scope::OneThread { "1" } else { "best" };
            let mut data = vec![Datum::word(&row.kernel), Datum::word(scope)];
            for (at, value) in row.values.iter().enumerate() {
                let text = |value: &Value| {
                    let doubt = charz_data::units::doubt(value.noisy);
                    format!("{}{doubt}", charz_data::units::value(value.value, row.unit))
                };
                data.push(value.as_ref().map_or_else(Datum::none, |value| Datum::number(text(value), value.value)));
                let ratio = |of: fn(&Value) -> Option<Ratio>| {
                    let found = value.as_ref().and_then(of);
                    found.map_or_else(Datum::none, |found| Datum::number(found.text(), found.times))
                };
                if at > 0 {
                    data.push(ratio(|value| value.times));
                    data.extend(has_price.then(|| ratio(|value| value.for_its_price)));
                }
            }
            let is_noisy = row.values.iter().flatten().any(|value| value.noisy);
            figure::Row::new(data, if is_noisy { State::Suspect } else { State::Ok })
        });
        Table::new(&heading.iter().map(String::as_str).collect::<Vec<_>>(), rows)
    }

    /// For a browser: the sentences and the table, then what each report has.
    pub fn page(&self, sources: &[Source<'_>]) -> Page {
        let mut page = page(sources);
        page.title = format!("{} compared", counted(self.machines.len(), "machine"));
        page.summary = self.sentences();
        page.summary.extend(self.notes.iter().cloned());
        let about = "What one thread does, and what as many threads do as are the fastest on each machine. Above 1 is faster, for times too";
        page.sections.insert(
            0,
            Section {
                id: "machines",
                title: "Machine against machine",
                about: vec![about.to_owned()],
                table: Some(self.table()),
                figures: Vec::new(),
            },
        );
        page
    }
}

/// `1.31 times (from 0.98 to 1.60 by kernel, 8 of them)`; of one kernel with its interval.
fn middle(ratios: impl Iterator<Item = Ratio>) -> Option<String> {
    let mut ratios: Vec<Ratio> = ratios.filter(|ratio| ratio.times.is_finite()).collect();
    ratios.sort_by(|one, other| one.times.total_cmp(&other.times));
    let (low, high) = (ratios.first()?.times, ratios.last()?.times);
    let (under, over) = (ratios[(ratios.len() - 1) / 2], ratios[ratios.len() / 2]);
    let noisy = ratios.iter().any(|ratio| ratio.noisy);
    let middle = Ratio { times: (under.times * over.times).sqrt(), noisy, ..under };
    Some(match ratios.len() {
        1 => format!("{} times", middle.text()),
        all => format!("{} times (from {low:.2} to {high:.2} by kernel, {all} of them)", middle.number()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use charz_data::Role;
    use charz_data::report::{Cell, fixtures};

    /// Of so many operations in a second with one thread and with two.
    fn report(of: [f64; 2]) -> Report {
        let cell = |threads: u32| {
            let value = of[threads as usize - 1];
            let cell = fixtures::cell("arith-int", threads.into(), Unit::OpsPerSecond, value);
            cell.in_order()
        };
        fixtures::report(vec![cell(1), cell(2)]).on(2)
    }

    #[test]
    fn memory_of_a_guest_is_a_matter_of_the_hour() {
        let of = |value: f64, is_guest| {
            let cells = ["mem-read", "arith-int"].map(|kernel| fixtures::cell(kernel, 1, Unit::OpsPerSecond, value));
            let mut report = fixtures::report(cells.map(Cell::in_order).to_vec()).on(2);
            report.host.virtual_machine = Some(is_guest);
            report
        };
        let in_cache = |mut report: Report| {
            report.cells.iter_mut().for_each(|cell| cell.level = Some("L2".to_owned()));
            report
        };
        let few = |mut report: Report| {
            report.cells = report.cells.into_iter().map(Cell::without_interval).collect();
            report
        };
        let sides = |new: f64, is_guest| [of(50e9, is_guest), of(new, is_guest)];
        for ([base, new], is_told) in [
            (sides(40e9, true), true),
            (sides(40e9, false), false),
            (sides(50e9, true), false),
            (sides(40e9, true).map(in_cache), false),
            (sides(50e9, true).map(few), false),
        ] {
            let found = machines(&[("a", &base), ("b", &new)].map(|(name, report)| Source { name, report }), &[]).notes;
            let compared = compare(&base, &new, &Options::default()).map_or_else(|_| Vec::new(), |found| found.notes);
            for notes in [found, compared] {
                let told: Vec<&String> = notes.iter().filter(|note| note.contains("guest")).collect();
                assert_eq!(told.len(), usize::from(is_told), "{notes:?}");
                assert!(told.iter().all(|note| note.ends_with(": mem-read")), "{told:?}");
            }
        }
    }

    #[test]
    fn twice_as_fast_for_four_times_the_price_is_half_of_it() {
        let [slow, fast] = [report([1e9, 2e9]), report([1.5e9, 4e9])];
        let sources = [Source { name: "a", report: &slow }, Source { name: "b", report: &fast }];
        let found = machines(&sources, &[Some(1.0), Some(4.0)]);
        let of =
            |scope| found.rows.iter().find(|row| row.scope == scope).and_then(|row| row.values[1].clone()).unwrap();
        let (one, whole) = (of(Scope::OneThread), of(Scope::WholeMachine));
        assert_eq!((one.times.unwrap().times, one.for_its_price), (1.5, None));
        assert_eq!((whole.times.unwrap().times, whole.for_its_price.unwrap().times), (2.0, 0.5));
        let [low, high] = whole.times.unwrap().interval.unwrap();
        assert!(low <= 2.0 && 2.0 <= high);
        let sentence = &found.sentences()[0];
        for part in ["b against a: as a whole 2.00 (", "with one thread 1.50 (", "for its price 0.50 ("] {
            assert!(sentence.contains(part), "{sentence}");
        }
        assert_eq!(found.table().heading, ["kernel", "threads", "a", "b", "times", "for its price"]);
    }

    #[test]
    fn a_quota_has_time_for_its_share_of_what_threads_can_do() {
        // One thread all the time does more than two for three quarters of it; what counts of a program is what the quota did not stop.
        for (role, values) in [(Role::Other, vec![2.7e9]), (Role::Program, vec![2.7e9, 3e9])] {
            let mut part = report([2.7e9, 3e9]);
            part.machine.usable.quota_cpus = Some(1.5);
            part.cards.iter_mut().for_each(|card| card.role = role.clone());
            let sources = ["a", "b"].map(|name| Source { name, report: &part });
            let rows = machines(&sources, &[]).rows;
            let found: Vec<f64> = rows.iter().map(|row| row.values[1].as_ref().unwrap().value).collect();
            assert_eq!(found, values, "{role:?}");
        }
        let whole = report([1e9, 2e9]);
        for (cpus, [one, all]) in [(0.5, [0.5, 0.25]), (1.5, [1.0, 0.75]), (2.0, [1.0, 1.0])] {
            let mut part = report([1e9, 2e9]);
            part.machine.usable.quota_cpus = Some(cpus);
            let sources = [Source { name: "a", report: &whole }, Source { name: "b", report: &part }];
            let found = machines(&sources, &[Some(1.0), Some(0.5)]);
            let of = |scope| found.rows.iter().find(|row| row.scope == scope).and_then(|row| row.values[1].clone());
            assert_eq!(of(Scope::OneThread).unwrap().times.unwrap().times, one, "{cpus}");
            let whole =
                of(Scope::WholeMachine).map(|value| [value.times, value.for_its_price].map(|one| one.unwrap().times));
            assert!(whole.is_none_or(|whole| whole == [all, 2.0 * all]), "{cpus}: {whole:?}");
            assert_eq!(found.notes.iter().any(|note| note.contains("quota")), cpus < 2.0, "{:?}", found.notes);
        }
    }

    /// The fewest threads that are shown to be near the fastest depend on how wide an interval is.
    #[test]
    fn a_whole_machine_is_as_fast_as_with_the_threads_that_are_the_fastest() {
        let of = |width: f64| {
            let cell = |threads: u64, value| fixtures::cell("arith-int", threads, Unit::OpsPerSecond, value);
            fixtures::report(vec![cell(1, 50e6), cell(2, 100e6).within(width), cell(4, 103e6).within(0.005)]).on(4)
        };
        let (narrow, wide) = (of(0.005), of(0.04));
        let sources = [Source { name: "a", report: &narrow }, Source { name: "b", report: &wide }];
        let found = machines(&sources, &[]);
        let whole = found.rows.iter().find(|row| row.scope == Scope::WholeMachine).unwrap();
        let values = whole.values.iter().flatten().map(|value| (value.value, value.threads));
        assert_eq!(values.collect::<Vec<_>>(), [(103e6, 4), (103e6, 4)]);
    }

    #[test]
    fn too_few_threads_for_the_cpus_are_no_whole_machine() {
        let cells = |counts: &[u64]| {
            let cell = |n: &u64| fixtures::cell("arith-int", *n, Unit::OpsPerSecond, *n as f64 * 1e9);
            fixtures::report(counts.iter().map(cell).collect()).on(8)
        };
        let all = cells(&[1, 2, 4, 8]);
        for few in [&[1][..], &[1, 2, 4], &[4]] {
            let part = cells(few);
            let sources = [Source { name: "a", report: &all }, Source { name: "b", report: &part }];
            let found = machines(&sources, &[]);
            assert!(found.rows.iter().all(|row| row.scope == Scope::OneThread), "{few:?}: {:?}", found.rows);
            let is_told = |name: &str| found.notes.iter().any(|note| note.starts_with(name));
            assert!(is_told("b was not measured as a whole, 8 CPUs: arith-int"), "{:?}", found.notes);
            assert_eq!(is_told("measured on one"), few == [4], "{:?}", found.notes);
        }
        let part = cells(&[4]);
        let sources = ["a", "b"].map(|name| Source { name, report: &part });
        let notes = machines(&sources, &[]).notes;
        assert!(!notes.iter().any(|note| note.starts_with("measured on one")), "{notes:?}");
    }

    #[test]
    fn a_price_of_one_machine_alone_says_nothing() {
        let one = report([1e9, 2e9]);
        let sources = [Source { name: "a", report: &one }, Source { name: "b", report: &one }];
        let found = machines(&sources, &[None, Some(4.0)]);
        assert!(found.rows.iter().flat_map(|row| &row.values).flatten().all(|value| value.for_its_price.is_none()));
        assert!(found.sentences()[0].contains("1.00 ("));
        assert!(found.notes.iter().any(|note| note.contains("price")), "{:?}", found.notes);
    }

    #[test]
    fn one_thread_alone_is_told_and_blocks_of_other_sizes_are_held_against_each_other() {
        let small = fixtures::report(vec![fixtures::cell("arith-int", 1, Unit::OpsPerSecond, 1e9)]).on(4);
        let sources = [Source { name: "a", report: &small }, Source { name: "b", report: &small }];
        let sentence = &machines(&sources, &[]).sentences()[0];
        assert!(sentence.starts_with("b against a: with one thread 1.00"), "{sentence}");
        let of_size = |bytes| {
            let mut cell = fixtures::cell("mem-read", 1, Unit::BytesPerSecond, 1e10);
            cell.point.size_bytes = Some(bytes);
            fixtures::report(vec![cell]).on(4)
        };
        let (one, other) = (of_size(1 << 27), of_size(1 << 30));
        let sources = [Source { name: "a", report: &one }, Source { name: "b", report: &other }];
        let found = machines(&sources, &[]);
        assert_eq!(found.rows[0].kernel, "mem-read");
        assert!(found.notes.iter().any(|note| note.contains("128 MiB on a, 1 GiB on b")), "{:?}", found.notes);
    }
}
