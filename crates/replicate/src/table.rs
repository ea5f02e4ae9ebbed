//! The numbers of a report in a document's units.

use super::cell::Target;
use super::replication::{Band, Clock, Note, Number};
use super::statistic::{Basis, Kind, Quantity, Statistic, Time, factor, shorter, unmeasured};
use super::why::Why;
use charz_data::CellSpec;
use charz_data::machine::CacheHolds;
use charz_data::report::{Cell, Report};
use charz_estimate::{Caveat, Estimates, NEARLY_ALL, delivered_share};
use charz_stats::median;

/// A report, the clock that counts its cycles, and which numbers of its cells are taken.
#[derive(Clone)]
pub(super) struct Table<'a> {
    pub(super) report: &'a Report,
    pub(super) clock: Option<Clock>,
    basis: Basis,
    /// That of another machine.
    against: Option<Box<Table<'a>>>,
}

type Found<'a> = Result<Number<'a>, Why<'a>>;

/// Of numbers that divide each other: those of their cells.
const QUOTIENT: &str = "";
const WORD_BYTES: f64 = 8.0;
/// The most by which a quotient of work may differ from that of rates.
const SAME_WORK: f64 = 1.05;
/// Bands of a distribution in a note: the first, if they hold enough of the times.
const MAX_BANDS: usize = 3;
const MIN_SHARE: f64 = 0.05;

/// By how much cores run at another clock than the nominal one: cycles are those that they had.
const OTHER_CLOCK: f64 = 0.02;

impl<'a> Table<'a> {
    pub(super) fn new(report: &'a Report, against: Option<&'a Report>) -> Self {
        let known = |hz: Option<f64>, claimed: bool| {
            hz.filter(|hz| hz.is_finite() && *hz > 0.0).map(|hz| Clock { hz, claimed })
        };
        let clock = match (known(report.host.claimed_hz, true), known(measured_hz(report), false)) {
            (Some(claimed), Some(measured)) if (measured.hz / claimed.hz - 1.0).abs() > OTHER_CLOCK => Some(measured),
            (claimed, measured) => claimed.or(measured),
        };
        let basis = Basis::Capacity;
        Table { report, clock, basis, against: against.map(|other| Box::new(Table::new(other, None))) }
    }

    /// The same with these numbers.
    pub(super) fn by(&self, basis: Basis) -> Self {
        Table { basis, ..self.clone() }
    }

    pub(super) fn number(&self, spec: &CellSpec, statistic: &Statistic, workers: u64, unit: &'a str) -> Found<'a> {
        match statistic {
            Statistic::Speedup | Statistic::WorkSpeedup => {
                let one = self.sum(spec, statistic, 1, QUOTIENT).map_err(|why| Why::OneThread(Box::new(why)))?;
                let first = spec.cells(1).next().and_then(|spec| self.cell(&spec).ok());
                let is_rate = first.is_some_and(|cell| cell.unit.more_is_better());
                let several = self.sum(spec, statistic, workers, QUOTIENT)?;
                let times = if is_rate { quotient(&several, &one) } else { quotient(&one, &several) }?;
                if *statistic == Statistic::Speedup {
                    return Ok(times);
                }
                // Runs that last another time, or lose some to other programs, do other work at the same rate.
                let rates = self.number(spec, &Statistic::Speedup, workers, unit)?;
                let apart = (times.value / rates.value).max(rates.value / times.value) > SAME_WORK;
                let note = apart.then_some(Note::ByRates(rates.value));
                Ok(Number { suspect: times.suspect || apart, note, ..times })
            }
            Statistic::OverBestDepth => self.over_best_depth(spec, workers),
            Statistic::Faster { of } => self.faster(spec, *of, workers, unit, |share| share),
            Statistic::Slower { of } => self.faster(spec, *of, workers, unit, |share| 1.0 - share),
            _ => self.sum(spec, statistic, workers, unit),
        }
    }

    /// The number of one side over that of the other.
    pub(super) fn over(&self, sides: [(&CellSpec, &Statistic, u64); 2]) -> Found<'a> {
        let [over, under] = sides.map(|(spec, statistic, workers)| self.number(spec, statistic, workers, QUOTIENT));
        quotient(&over?, &under?)
    }

    /// How often a time is shorter than one of the other machine, or longer, as `often` makes of it.
    fn faster(&self, spec: &CellSpec, of: Time, workers: u64, unit: &'a str, often: fn(f64) -> f64) -> Found<'a> {
        let against = self.against.as_deref().ok_or(Why::OneReport)?;
        let spec = spec.cells(workers).next().ok_or(Why::Unanswered)?;
        let sampled = |table: &Table<'a>| {
            let cell = table.cell(&spec)?;
            let clock = table.clock.ok_or(Why::NoClock)?;
            if cell.capacity.is_some() { Ok((cell, clock.hz)) } else { Err(unmeasured(cell)) }
        };
        let here = sampled(self)?;
        let there = sampled(against).map_err(|why: Why<'a>| Why::Other(Box::new(why)))?;
        let (share, interval) = shorter(of, [here, there])?;
        let factor = factor(unit, Kind::Fraction, None)?;
        let number = |share: f64| factor * often(share);
        Ok(Number {
            value: number(share),
            interval: interval.map(|[low, high]| {
                let [one, other] = [number(low), number(high)];
                [one.min(other), one.max(other)]
            }),
            suspect: here.0.is_suspect() || there.0.is_suspect(),
            delivered_share: None,
            note: against.report.host.name.as_deref().map(Note::Against),
        })
    }

    fn over_best_depth(&self, spec: &CellSpec, workers: u64) -> Found<'a> {
        let rate = |spec: &CellSpec| self.sum(spec, &Statistic::Value, workers, "Mop/s");
        let own = rate(spec)?;
        let rates: Vec<(u64, Found<'a>)> = (1..=spec.depth.unwrap_or(0))
            .map(|depth| (depth, rate(&CellSpec { depth: Some(depth), ..spec.clone() })))
            .collect();
        let known = rates.iter().filter_map(|(depth, rate)| Some((*depth, rate.as_ref().ok()?)));
        let best = known.max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
        let (fastest, best) = best.ok_or(Why::Unanswered)?;
        let times = quotient(best, &own)?;
        // Deeper than one that is slower it only gets slower.
        for (depth, rate) in rates.into_iter().take_while(|(depth, _)| *depth <= fastest + 1) {
            rate.map_err(|why| Why::Depth(depth, Box::new(why)))?;
        }
        Ok(Number { note: Some(Note::FastestDepth(fastest)), ..times })
    }

    fn sum(&self, spec: &CellSpec, statistic: &Statistic, workers: u64, unit: &'a str) -> Found<'a> {
        let mut numbers = spec.cells(workers).map(|cell| self.of_cell(&cell, statistic, unit));
        let first = numbers.next().ok_or(Why::Unanswered)??;
        numbers.try_fold(first, |sum, number| {
            let number = number?;
            Ok(Number {
                value: sum.value + number.value,
                interval: sum.interval.zip(number.interval).map(|(one, other)| [0, 1].map(|end| one[end] + other[end])),
                suspect: sum.suspect || number.suspect,
                delivered_share: least(sum.delivered_share, number.delivered_share),
                note: None,
            })
        })
    }

    fn of_cell(&self, spec: &CellSpec, statistic: &Statistic, unit: &'a str) -> Found<'a> {
        let cell = self.cell(spec)?;
        let words = cell.params(&self.report.plan.params).size_bytes as f64 / WORD_BYTES;
        let hz = self.clock.map(|clock| clock.hz);
        let Quantity { kind, value, interval } = statistic.of(cell, self.basis, words, hz)?;
        // Of a hop its lap was stamped, which is divided by the workers.
        let stamped = if *statistic == Statistic::MinFirst { value * cell.workers as f64 } else { value };
        let skew = self.report.timer.as_ref().and_then(|timer| timer.skew_ns).filter(|_| statistic.is_smallest());
        if let Some(ns) = skew.map(|skew| skew as f64).filter(|skew| cell.workers > 1 && stamped <= *skew) {
            return Err(Why::WithinSkew { ns });
        }
        let factor = if unit == QUOTIENT { 1.0 } else { factor(unit, kind, hz)? };
        Ok(Number {
            value: value * factor,
            interval: interval.map(|ends| ends.map(|end| end * factor)),
            suspect: match self.basis {
                Basis::Delivered if statistic.is_rate() => self.is_doubted(cell),
                _ => cell.is_suspect(),
            },
            delivered_share: self.share(cell).filter(|share| statistic.is_rate() && *share < NEARLY_ALL),
            note: note(cell, statistic, factor),
        })
    }

    /// Whether a check doubts what a cell delivered.
    fn is_doubted(&self, cell: &'a Cell) -> bool {
        Estimates::shared(self.report).estimate(cell).is_some_and(|own| own.caveats.has(Caveat::Suspect))
    }

    /// The share of its capacity that a cell delivered; more threads than CPUs share them by request.
    fn share(&self, cell: &Cell) -> Option<f64> {
        let cpus = self.report.machine.usable_strands().count() as u64;
        delivered_share(self.report, cell).filter(|_| cell.workers <= cpus)
    }

    fn cell(&self, spec: &CellSpec) -> Result<&'a Cell, Why<'a>> {
        let own = self.report.cells.iter().find(|cell| spec.describes(cell, &self.report.plan));
        // Without the number of workers, so rows that lack the same cell share one reason.
        own.ok_or_else(|| Why::NotInReport(Box::new(CellSpec { workers: 0, ..spec.clone() })))
    }

    /// That the last caches do not hold the problem of a cell, whose time would not be that of memory.
    pub(super) fn beyond_caches(&self, spec: &CellSpec, workers: u64, target: &Target) -> Result<(), Why<'a>> {
        let machine = &self.report.machine;
        let caches = || machine.caches.iter().filter(|cache| cache.holds != CacheHolds::Instruction);
        let last = caches().map(|cache| cache.level).max();
        let held = caches().filter(|cache| Some(cache.level) == last).filter_map(|cache| cache.size_bytes).sum();
        if held == 0 {
            return Err(Why::UnknownCaches);
        }
        spec.cells(workers).try_for_each(|spec| {
            let params = self.cell(&spec)?.params(&self.report.plan.params);
            match (target.kernels.footprint)(&spec.kernel, &params, workers).filter(|bytes| *bytes <= held) {
                None => Ok(()),
                Some(bytes) => Err(Why::InCaches { held, bytes, kernel: spec.kernel.into(), class: params.class }),
            }
        })
    }

    /// Whether two cells of one kernel, under different mappings, have their workers on the same strands: where all strands have one, each
    /// worker on the same one, as mappings differ only by their order there.
    pub(super) fn share_seats(&self, one: &CellSpec, other: &CellSpec) -> bool {
        let all = self.report.machine.usable_strands().count() as u64;
        let seats = |spec: &CellSpec| {
            let is_it = |cell: &&Cell| {
                cell.kernel == spec.kernel && cell.mapping == spec.mapping && cell.workers == spec.workers
            };
            let mut seats: Vec<u32> =
                self.report.cells.iter().find(is_it)?.seats.iter().copied().collect::<Option<_>>()?;
            if spec.workers < all {
                seats.sort_unstable();
            }
            Some(seats)
        };
        let comparable = one.kernel == other.kernel && one.workers == other.workers && one.mapping != other.mapping;
        comparable && seats(one).is_some_and(|seats_of_one| seats(other) == Some(seats_of_one))
    }
}

/// The clock of the cores where one worker ran, else where any did.
fn measured_hz(report: &Report) -> Option<f64> {
    let of = |is_it: fn(&Cell) -> bool| {
        let runs = report.cells.iter().filter(|cell| is_it(cell)).flat_map(|cell| &cell.invocations);
        median(runs.filter_map(|run| run.evidence.as_ref()?.frequency.map(|seen| seen.highest_hz)))
    };
    of(|cell| cell.workers == 1).or_else(|| of(|_| true))
}

/// The smaller one of those that are known.
fn least(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::min)
}

fn quotient<'a>(over: &Number<'_>, under: &Number<'_>) -> Found<'a> {
    let of = |over: f64, under: f64| Some(over / under).filter(|times| times.is_finite());
    let ends = over.interval.zip(under.interval);
    Ok(Number {
        value: of(over.value, under.value).ok_or(Why::Zero)?,
        interval: ends.and_then(|(over, under)| Some([of(over[0], under[1])?, of(over[1], under[0])?])),
        suspect: over.suspect || under.suspect,
        delivered_share: least(over.delivered_share, under.delivered_share),
        note: None,
    })
}

/// The number of samples, and the bands that hold most of them.
fn note(cell: &Cell, statistic: &Statistic, factor: f64) -> Option<Note<'static>> {
    let distribution = cell.distribution.as_ref()?;
    let shape = match statistic {
        Statistic::First => &distribution.first,
        Statistic::Second => &distribution.second,
        _ => return None,
    };
    let bands = shape.peaks.iter().filter(|peak| peak.share >= MIN_SHARE).take(MAX_BANDS).map(|peak| {
        let ns = [peak.low_ns, peak.high_ns];
        Band { share: peak.share, ns, ends: ns.map(|end| end * factor) }
    });
    Some(Note::Samples { count: distribution.samples.count, bands: bands.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::{Evidence, Frequency, Unit, fixtures};

    /// Cycles are those of the clock that the cores had.
    #[test]
    fn the_nominal_clock_counts_where_cores_had_it() {
        let mut report = fixtures::report(vec![fixtures::cell("arith-int", 1, Unit::OpsPerSecond, 1e9)]);
        let measured = 2.8e9;
        let frequency = Frequency { before_hz: measured, after_hz: measured, highest_hz: measured, drift: 0.0 };
        for invocation in &mut report.cells[0].invocations {
            invocation.evidence = Some(Evidence { frequency: Some(frequency), ..Evidence::default() });
        }
        for (nominal, counts) in [(1.01, true), (0.99, true), (0.75, false)] {
            report.host.claimed_hz = Some(measured * nominal);
            let clock = Table::new(&report, None).clock.unwrap();
            assert_eq!((clock.claimed, clock.hz), (counts, if counts { measured * nominal } else { measured }));
        }
    }
}
