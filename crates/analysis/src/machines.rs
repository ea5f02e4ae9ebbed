//! Several machines, each against the first: what one thread does, what the whole machine does, and what that is worth for its price.

use serde::Serialize;

use crate::answer::{Answer, Reading, Row as Answered};
use crate::compare::{Options, obstacle};
use crate::figure::{self, Datum, State, Table};
use crate::page::{Page, Section, Source, page};
use charz_data::escape::counted;
use charz_data::report::Unit;
use charz_stats::{Around, ratio_of_estimates};

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

/// How many times as fast: above 1 is faster, for times too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// The ratio.
    pub times: f64,
    /// Where it lies with 95% confidence; null where one of the numbers has no interval.
    pub interval: Option<[f64; 2]>,
}

impl Ratio {
    fn of(base: &Reading, own: &Reading) -> Self {
        let (base, own) = if base.unit.more_is_better() { (base, own) } else { (own, base) };
        let around = |one: &Reading| {
            let half = one.half_width.filter(|half| *half < 1.0)?;
            Some(Around { value: one.value, low: one.value * (1.0 - half), high: one.value * (1.0 + half) })
        };
        let ends = around(base).zip(around(own)).and_then(|(base, own)| ratio_of_estimates(base, own));
        Ratio { times: own.value / base.value, interval: ends.map(|(low, high)| [low, high]) }
    }

    fn scaled(self, by: f64) -> Self {
        Ratio { times: self.times * by, interval: self.interval.map(|ends| ends.map(|end| end * by)) }
    }

    /// `1.31 (1.27 to 1.35)`.
    fn text(self) -> String {
        let ends = self.interval.map(|[low, high]| format!(" ({low:.2} to {high:.2})")).unwrap_or_default();
        format!("{:.2}{ends}", self.times)
    }
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
    // Kernels in the order of the first machine, then those that only others have.
    let mut kernels: Vec<(String, Unit)> = Vec::new();
    for row in answers.iter().flat_map(|answer| &answer.rows) {
        let key = (row.name(), row.best.unit);
        if !kernels.contains(&key) {
            kernels.push(key);
        }
    }
    let scopes = [(Scope::OneThread, one as Pick), (Scope::WholeMachine, whole)];
    let rows = kernels.into_iter().flat_map(|key| scopes.map(|(scope, pick)| (key.clone(), scope, pick)));
    let rows = rows.map(|((kernel, unit), scope, pick)| {
        let of = |answer: &Answer| {
            answer.rows.iter().find(|row| row.name() == kernel && row.best.unit == unit).and_then(pick)
        };
        let readings: Vec<Option<Reading>> = answers.iter().map(of).collect();
        let first = readings[0].clone();
        let value = |(at, reading): (usize, Option<Reading>)| {
            let reading = reading?;
            let times = first.as_ref().filter(|_| at > 0).map(|first| Ratio::of(first, &reading));
            let cheaper =
                price(0).zip(price(at)).filter(|_| scope == Scope::WholeMachine).map(|(first, own)| first / own);
            Some(Value {
                value: reading.value,
                threads: reading.threads,
                noisy: reading.is_noisy,
                times,
                for_its_price: times.zip(cheaper).map(|(times, cheaper)| times.scaled(cheaper)),
                mapping: reading.mapping,
            })
        };
        let is_more = scope == Scope::OneThread || readings.iter().flatten().any(|reading| reading.threads > 1);
        let values = readings.into_iter().enumerate().map(value).collect();
        // What is the fastest with one thread everywhere is the row above.
        is_more.then_some(Row { kernel, scope, unit, values })
    });
    let rules = Options { cross_machine: true, ..Options::default() };
    let unlike = |source: &Source<'_>| {
        let (difference, _) = obstacle(sources[0].report, source.report, &rules)?;
        Some(format!("{} was not measured as {}: {difference}", source.name, sources[0].name))
    };
    Machines {
        machines: sources.iter().zip(&answers).enumerate().map(machine).collect(),
        rows: rows.flatten().filter(|row| row.values.iter().flatten().count() > 1).collect(),
        notes: sources.iter().skip(1).filter_map(unlike).collect(),
    }
}

type Pick = fn(&Answered) -> Option<Reading>;

fn one(row: &Answered) -> Option<Reading> {
    row.one.clone()
}

fn whole(row: &Answered) -> Option<Reading> {
    Some(row.best.clone())
}

impl Machines {
    /// A sentence for each machine but the first: the middle of its ratios and their range.
    pub fn sentences(&self) -> Vec<String> {
        let [first, others @ ..] = &self.machines[..] else { return Vec::new() };
        let sentence = |(at, own): (usize, &Machine)| {
            let values = |scope: Scope| {
                let rows = self.rows.iter().filter(move |row| row.scope == scope);
                rows.filter_map(move |row| row.values[at].as_ref())
            };
            let whole = middle(values(Scope::WholeMachine).filter_map(|value| value.times));
            let one = middle(values(Scope::OneThread).filter_map(|value| value.times));
            let price = middle(values(Scope::WholeMachine).filter_map(|value| value.for_its_price));
            let rest = [(one, "with one thread"), (price, "for its price")];
            let rest = rest.into_iter().filter_map(|(middle, what)| Some(format!("; {what} {}", middle?)));
            match whole {
                None => format!("{} has no number that {} has too", own.name, first.name),
                Some(whole) => {
                    format!("{} is {whole} as fast as {}{}", own.name, first.name, rest.collect::<String>())
                }
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
            let scope = if row.scope == Scope::OneThread { "1" } else { "all" };
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

/// `1.31 times (0.98 to 1.60 over 8 kernels)`.
fn middle(ratios: impl Iterator<Item = Ratio>) -> Option<String> {
    let mut times: Vec<f64> = ratios.map(|ratio| ratio.times).filter(|times| times.is_finite()).collect();
    times.sort_by(f64::total_cmp);
    let (low, high) = (times.first()?, times.last()?);
    let middle = (times[(times.len() - 1) / 2] * times[times.len() / 2]).sqrt();
    Some(match times.len() {
        1 => format!("{middle:.2} times"),
        all => format!("{middle:.2} times ({low:.2} to {high:.2} over {all} kernels)"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::{Report, fixtures};

    /// Of so many operations in a second with one thread and with two.
    fn report(of: [f64; 2]) -> Report {
        let cell = |threads: u32| {
            let value = of[threads as usize - 1];
            let cell = fixtures::cell("arith-int", threads.into(), Unit::OpsPerSecond, value);
            cell.seated(&(0..threads).collect::<Vec<_>>())
        };
        fixtures::report(vec![cell(1), cell(2)]).on(2)
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
        let expected = "b is 2.00 times as fast as a; with one thread 1.50 times; for its price 0.50 times";
        assert!(sentence.starts_with(expected), "{sentence}");
        assert_eq!(found.table().heading, ["kernel", "threads", "a", "b", "times", "for its price"]);
    }

    #[test]
    fn a_price_of_one_machine_alone_says_nothing() {
        let one = report([1e9, 2e9]);
        let sources = [Source { name: "a", report: &one }, Source { name: "b", report: &one }];
        let found = machines(&sources, &[None, Some(4.0)]);
        assert!(found.rows.iter().flat_map(|row| &row.values).flatten().all(|value| value.for_its_price.is_none()));
        assert!(found.sentences()[0].contains("1.00 times"));
    }
}
