//! The numbers of a report in a document's units.

use super::cell::{self, Target};
use super::replication::{Clock, Gap, GapKind, Number};
use super::statistic::{Kind, ONE_REPORT, Quantity, Statistic, Time, factor, shorter};
use charz_claims::card;
use charz_data::CellSpec;
use charz_data::machine::CacheHolds;
use charz_data::report::{Cell, Report, Status};
use charz_data::units;

/// A report, and the clock that counts its cycles.
pub(super) struct Results<'a> {
    pub(super) report: &'a Report,
    pub(super) clock: Option<Clock>,
    /// Those of another machine.
    against: Option<Box<Results<'a>>>,
}

/// Of numbers that divide each other: those of their cells.
const QUOTIENT: &str = "";
const WORD_BYTES: f64 = 8.0;
/// The most by which a quotient of work may differ from that of rates.
const SAME_WORK: f64 = 1.05;
/// Bands of a distribution in a note: the first, if they hold enough of the times.
const MAX_BANDS: usize = 3;
const MIN_SHARE: f64 = 0.05;
/// Of the document's unit: bands below that are in a finer one.
const FINE: f64 = 0.1;

/// By how much cores run at another clock than the nominal one: cycles are those that they had.
const OTHER_CLOCK: f64 = 0.02;

impl<'a> Results<'a> {
    pub(super) fn new(report: &'a Report, against: Option<&'a Report>) -> Self {
        let clock = card::Clock::of(report);
        let known = |hz: Option<f64>, claimed: bool| {
            hz.filter(|hz| hz.is_finite() && *hz > 0.0).map(|hz| Clock { hz, claimed })
        };
        let clock = match (known(clock.claimed_hz, true), known(clock.measured_hz, false)) {
            (Some(claimed), Some(measured)) if (measured.hz / claimed.hz - 1.0).abs() > OTHER_CLOCK => Some(measured),
            (claimed, measured) => claimed.or(measured),
        };
        Results { report, clock, against: against.map(|other| Box::new(Results::new(other, None))) }
    }

    pub(super) fn number(
        &self,
        spec: &CellSpec,
        statistic: &Statistic,
        workers: u64,
        unit: &str,
    ) -> Result<Number, Gap> {
        match statistic {
            Statistic::Speedup | Statistic::WorkSpeedup => {
                let one = self
                    .sum(spec, statistic, 1, QUOTIENT)
                    .map_err(|gap| Gap { reason: format!("one thread, for comparison: {}", gap.reason), ..gap })?;
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
                let note = apart.then(|| format!("{} by rates", units::count_of(rates.value)));
                Ok(Number { suspect: times.suspect || apart, note, ..times })
            }
            Statistic::OverBestDepth => self.over_best_depth(spec, workers),
            Statistic::Faster { of } | Statistic::Slower { of } => self.faster(spec, statistic, *of, workers, unit),
            _ => self.sum(spec, statistic, workers, unit),
        }
    }

    /// The number of one side over that of the other.
    pub(super) fn over(&self, sides: [(&CellSpec, &Statistic, u64); 2]) -> Result<Number, Gap> {
        let [over, under] = sides.map(|(spec, statistic, workers)| self.number(spec, statistic, workers, QUOTIENT));
        quotient(&over?, &under?)
    }

    /// How often a time is shorter, or longer, than one of the other machine.
    fn faster(
        &self,
        spec: &CellSpec,
        statistic: &Statistic,
        of: Time,
        workers: u64,
        unit: &str,
    ) -> Result<Number, Gap> {
        let open = |reason: String| Gap { reason, kind: GapKind::Open };
        let against = self.against.as_deref().ok_or_else(|| open(ONE_REPORT.into()))?;
        let spec = spec.cells(workers).next().ok_or("no kernel answers it")?;
        let sampled = |results: &Results<'a>| {
            let cell = results.cell(&spec)?;
            let clock = results.clock.ok_or("the clock is not known, so there is no number of cycles")?;
            cell.capacity.ok_or_else(|| why_none(cell))?;
            Ok((cell, clock.hz))
        };
        let here = sampled(self)?;
        let there = sampled(against).map_err(|gap: Gap| open(format!("the other report: {}", gap.reason)))?;
        let (share, interval) = shorter(of, [here, there])?;
        let (factor, slower) = (factor(unit, Kind::Fraction, None)?, matches!(statistic, Statistic::Slower { .. }));
        let number = |share: f64| factor * if slower { 1.0 - share } else { share };
        let ends = interval.map(|[low, high]| if slower { [high, low] } else { [low, high] }.map(number));
        Ok(Number {
            value: number(share),
            low: ends.map(|[low, _]| low),
            high: ends.map(|[_, high]| high),
            suspect: here.0.is_suspect() || there.0.is_suspect(),
            note: against.report.host.name.as_ref().map(|host| format!("against {host}")),
        })
    }

    fn over_best_depth(&self, spec: &CellSpec, workers: u64) -> Result<Number, Gap> {
        let rate = |spec: &CellSpec| self.sum(spec, &Statistic::Value, workers, "Mop/s");
        let own = rate(spec)?;
        let rates: Vec<(u64, Result<Number, Gap>)> = (1..=spec.depth.unwrap_or(0))
            .map(|depth| (depth, rate(&CellSpec { depth: Some(depth), ..spec.clone() })))
            .collect();
        let known = rates.iter().filter_map(|(depth, rate)| Some((*depth, rate.as_ref().ok()?)));
        let best = known.max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
        let (fastest, best) = best.ok_or("no depth was measured")?;
        // Deeper than one that is slower it only gets slower.
        let gap = rates
            .iter()
            .take_while(|(depth, _)| *depth <= fastest + 1)
            .find_map(|(depth, rate)| Some((depth, rate.as_ref().err()?)));
        if let Some((depth, gap)) = gap {
            return Err(Gap {
                reason: format!("depth {depth} may be the fastest, and has no number: {}", gap.reason),
                kind: gap.kind,
            });
        }
        Ok(Number { note: Some(format!("depth {fastest} is the fastest")), ..quotient(best, &own)? })
    }

    fn sum(&self, spec: &CellSpec, statistic: &Statistic, workers: u64, unit: &str) -> Result<Number, Gap> {
        let mut numbers = spec.cells(workers).map(|cell| self.of_cell(&cell, statistic, unit));
        let first = numbers.next().ok_or("no kernel answers it")??;
        numbers.try_fold(first, |sum, number| {
            let number = number?;
            Ok(Number {
                value: sum.value + number.value,
                low: sum.low.zip(number.low).map(|(one, other)| one + other),
                high: sum.high.zip(number.high).map(|(one, other)| one + other),
                suspect: sum.suspect || number.suspect,
                note: None,
            })
        })
    }

    fn of_cell(&self, spec: &CellSpec, statistic: &Statistic, unit: &str) -> Result<Number, Gap> {
        let cell = self.cell(spec)?;
        if cell.capacity.is_none() {
            return Err(why_none(cell));
        }
        let words = cell.params(&self.report.plan.params).size_bytes as f64 / WORD_BYTES;
        let hz = self.clock.map(|clock| clock.hz);
        let Quantity { kind, value, interval } = statistic.of(cell, words, hz).map_err(|reason| {
            let is_unasked = statistic.is_counted() && cell.hardware.is_none() && cell.no_counters().is_none();
            Gap { reason, kind: if is_unasked { GapKind::Open } else { GapKind::Final } }
        })?;
        // Of a hop its lap was stamped, which is divided by the workers.
        let stamped = if *statistic == Statistic::MinFirst { value * cell.workers as f64 } else { value };
        let skew = self.report.timer.as_ref().and_then(|timer| timer.skew_ns).filter(|_| statistic.is_smallest());
        if let Some(skew) = skew.map(|skew| skew as f64).filter(|skew| cell.workers > 1 && stamped <= *skew) {
            let skew = units::nanos(skew);
            return Err(format!("its smallest time is less than what the clocks of two CPUs differ by ({skew})").into());
        }
        let factor = if unit == QUOTIENT { 1.0 } else { factor(unit, kind, hz)? };
        Ok(Number {
            value: value * factor,
            low: interval.map(|[low, _]| low * factor),
            high: interval.map(|[_, high]| high * factor),
            suspect: cell.is_suspect(),
            note: note(cell, statistic, factor, unit),
        })
    }

    fn cell(&self, spec: &CellSpec) -> Result<&'a Cell, Gap> {
        self.report.cells.iter().find(|cell| spec.describes(cell, &self.report.plan)).ok_or_else(|| Gap {
            reason: format!("the report has no configuration {} with this number of threads", cell::label(spec)),
            kind: GapKind::Open,
        })
    }

    /// That the last caches do not hold the problem of a cell, whose time would not be that of memory.
    pub(super) fn beyond_caches(&self, spec: &CellSpec, workers: u64, target: &Target) -> Result<(), Gap> {
        let machine = &self.report.machine;
        let caches = || machine.caches.iter().filter(|cache| cache.holds != CacheHolds::Instruction);
        let last = caches().map(|cache| cache.level).max();
        let held = caches().filter(|cache| Some(cache.level) == last).filter_map(|cache| cache.size_bytes).sum();
        if held == 0 {
            return Err("it is about memory, and the sizes of the last caches are not known".into());
        }
        spec.cells(workers).try_for_each(|spec| {
            let params = self.cell(&spec)?.params(&self.report.plan.params);
            let bytes = (target.kernels.footprint)(&spec.kernel, &params, workers);
            match bytes.filter(|bytes| *bytes <= held) {
                None => Ok(()),
                Some(bytes) => Err(Gap {
                    reason: format!(
                        "it is about memory, and the last caches ({}) hold all {} of {} of class {}; a longer --budget takes a larger class",
                        units::iec(held),
                        units::iec(bytes),
                        spec.kernel,
                        params.class
                    ),
                    kind: GapKind::Open,
                }),
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

fn quotient(over: &Number, under: &Number) -> Result<Number, Gap> {
    let of = |over: Option<f64>, under: Option<f64>| Some(over? / under?).filter(|times| times.is_finite());
    Ok(Number {
        value: of(Some(over.value), Some(under.value)).ok_or("one of the two numbers is 0")?,
        low: of(over.low, under.high),
        high: of(over.high, under.low),
        suspect: over.suspect || under.suspect,
        note: None,
    })
}

fn why_none(cell: &Cell) -> Gap {
    let reason = || cell.reason.clone().filter(|reason| !reason.is_empty());
    let marks = || cell.marks.iter().map(|mark| mark.reason.as_str()).collect::<Vec<_>>().join("; ");
    let because = |word: &str| format!("{word}: {}", reason().unwrap_or_else(|| "the report has no reason".into()));
    let (reason, kind) = match cell.status {
        Status::Pending => ("not measured before the sweep ended".into(), GapKind::Open),
        Status::Failed => (because("given up"), GapKind::Open),
        Status::Invalid => (format!("invalid: {}", reason().unwrap_or_else(marks)), GapKind::Open),
        Status::Skipped => (because("skipped"), GapKind::Final),
        Status::Ok | Status::Suspect => ("nothing that counts was measured".into(), GapKind::Final),
    };
    Gap { reason, kind }
}

/// The number of samples, and the bands that hold most of them.
fn note(cell: &Cell, statistic: &Statistic, factor: f64, unit: &str) -> Option<String> {
    let distribution = cell.distribution.as_ref()?;
    let shape = match statistic {
        Statistic::First => &distribution.first,
        Statistic::Second => &distribution.second,
        _ => return None,
    };
    let bands = shape.peaks.iter().filter(|peak| peak.share >= MIN_SHARE).take(MAX_BANDS);
    let bands = bands.map(|peak| {
        let (low, high) = (peak.low_ns, peak.high_ns);
        // Two decimals of the document's unit leave nothing of a band near 0.
        let band = match high * factor < FINE {
            true => format!("{} to {}", units::nanos(low), units::nanos(high)),
            false => format!("{} to {} {unit}", units::count_of(low * factor), units::count_of(high * factor)),
        };
        format!("{} within {band}", units::percent(peak.share))
    });
    let samples = format!("{} samples", units::count(distribution.samples.count));
    Some(std::iter::once(samples).chain(bands).collect::<Vec<_>>().join(", "))
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
            let clock = Results::new(&report, None).clock.unwrap();
            assert_eq!((clock.claimed, clock.hz), (counts, if counts { measured * nominal } else { measured }));
        }
    }
}
