//! Several machines, each against the first: what one thread does, what the whole machine does, and what that is worth for its price.

use charz_data::Role;
use serde::Serialize;

use crate::answer::ratio::of_work;
use crate::answer::{Answer, Reading, Row as Answered};
use crate::figure::{self, Datum, State, Table};
use crate::page::{Page, Section, page};
use crate::source::{Source, in_quota, most_threads, quota_note, whole};
use charz_claims::compare::{Options, guest_memory, obstacle};
use charz_claims::machines::{Differing, Ratio, Subject, differing};
use charz_data::escape::counted;
use charz_data::report::{Cell, Report, Unit};
use charz_words::compare::{note, unlike};
use charz_words::machines as words;
use charz_words::point;

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
    /// Its role.
    #[serde(skip)]
    pub role: Role,
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
            let times = times.map(|first| of_work(first, &reading, is_each));
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
        is_more.then_some(Row { kernel: key.name.clone(), scope, unit: key.unit, role: key.role.clone(), values })
    });
    // Too few threads everywhere are in none of them.
    let rows = rows.flatten().filter(|row| row.values.iter().any(Option::is_some));
    let (rows, lone): (Vec<Row>, Vec<Row>) = rows.partition(|row| row.values.iter().flatten().count() > 1);
    let rules = Options { cross_machine: true, ..Options::default() };
    let unlike = |source: &Source<'_>| {
        let difference = unlike(&obstacle([sources[0].report, source.report], &rules)?);
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
    // By its kernel alone, where the machines have other parameters.
    let differs = |cell: &Cell| {
        let name = format!("{}{}", cell.kernel, point::label(&cell.point));
        differ.iter().any(|row| **row == name || **row == cell.kernel)
    };
    notes.extend(guest_memory(&reports, differs).map(|found| note(&found)));
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
    role: Role,
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
        let role = sources.iter().map(|source| source.report.role(&row.kernel)).find(|role| **role != Role::Other);
        let (name, role) = (row.name(), role.cloned().unwrap_or_default());
        let mut key = Key { name, unit: row.best.unit, kernel: row.kernel.clone(), role, label, note: None };
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

type Pick = fn(&Answered, &Report) -> Option<Reading>;

fn one(row: &Answered, _: &Report) -> Option<Reading> {
    row.one.clone()
}

/// What a machine differs in from the first.
#[derive(Clone, Debug)]
pub struct Against<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// With as many threads as are the fastest on each, with one, and for its price; `None` where neither has numbers.
    pub found: [Option<Differing<'a>>; 3],
}

impl Machines {
    /// In what each machine but the first differs from it.
    pub fn against<'m>(&'m self) -> Vec<Against<'m>> {
        let against = |(at, machine): (usize, &'m Machine)| {
            let of = |scope: Scope, of: fn(&Value) -> Option<Ratio>| {
                let rows = self.rows.iter().filter(|row| row.scope == scope);
                let ratio = |row: &Row| row.values[at].as_ref().and_then(of);
                let ratios = rows
                    .filter_map(|row| Some((Subject::of(&row.role, &row.kernel), row.kernel.as_str(), ratio(row)?)));
                differing(&ratios.collect::<Vec<_>>())
            };
            let found = [
                of(Scope::WholeMachine, |value| value.times),
                of(Scope::OneThread, |value| value.times),
                of(Scope::WholeMachine, |value| value.for_its_price),
            ];
            Against { machine, found }
        };
        self.machines.iter().enumerate().skip(1).map(against).collect()
    }

    /// A sentence for each machine but the first: what differs most, then what less, and how alike the rest is.
    pub fn sentences(&self) -> Vec<String> {
        let fast = if self.rows.iter().all(|row| row.unit.is_of_speed()) { "fast" } else { "good" };
        let sentence = |against: Against<'_>| {
            let (own, first) = (&against.machine.name, &self.machines[0].name);
            let parts = against.found.iter().zip(["as a whole", "with one thread", "for its price"]);
            let parts =
                parts.filter_map(|(found, what)| Some(format!("{what} {}", words::differing(found.as_ref()?, fast))));
            match parts.collect::<Vec<_>>().join("; ") {
                none if none.is_empty() => format!("{own} has no number that {first} has too"),
                parts => format!("{own} against {first}: {parts}"),
            }
        };
        self.against().into_iter().map(sentence).collect()
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
                    found.map_or_else(Datum::none, |found| Datum::number(words::ratio(&found), found.times))
                };
                if at > 0 {
                    data.push(ratio(|value| value.times));
                    data.extend(has_price.then(|| ratio(|value| value.for_its_price)));
                }
            }
            let is_noisy = row.values.iter().flatten().any(|value| value.noisy);
            figure::Row::new(data, if is_noisy { State::Suspect } else { State::Ok })
        });
        // Of many machines the last ones.
        let spare = (4..heading.len()).rev().collect();
        Table { spare, ..Table::new(&heading.iter().map(String::as_str).collect::<Vec<_>>(), rows) }
    }

    /// For a browser: the sentences and the table, then what each report has.
    pub fn page(&self, sources: &[Source<'_>]) -> Page {
        /// The most machines that the title names.
        const MOST_NAMED: usize = 4;
        let mut page = page(sources);
        let names = self.machines.iter().take(MOST_NAMED).map(|machine| machine.name.as_str()).collect::<Vec<_>>();
        let more = self.machines.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        page.title = format!("{} compared: {}{more}", counted(self.machines.len(), "machine"), names.join(", "));
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

#[cfg(test)]
mod tests;
