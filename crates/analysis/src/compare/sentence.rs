//! The answer of a comparison, in words.

use super::{Caveat, Comparison, Design, Quantity, Row, Verdict};
use charz_data::escape::counted;
use charz_data::report::Interval;
use charz_data::{Arrange, units};
use charz_estimate::grouped;
use charz_words::point;

/// The most configurations that are named.
const MOST: usize = 3;

impl Comparison {
    /// `new is 1.31 ±0.04 times as fast at mem-read x2; 3 the same within ±4.0%, 1 inconclusive; 4 of the 8 skipped differ by
    /// 37 to 44%.`
    pub fn sentence(&self, new: &str) -> String {
        let of = |verdict| self.rows.iter().filter(move |row| row.verdict == verdict);
        let mut clauses = Vec::new();
        let mut differing: Vec<&Row> = of(Verdict::Slower).chain(of(Verdict::Faster)).collect();
        differing.arrange_by(|one, other| distance(other).total_cmp(&distance(one)));
        if !differing.is_empty() {
            let named = differing.iter().take(MOST).copied();
            let equal = grouped(named, |row| self.times(row));
            let mut last = "";
            let each = equal.iter().map(|rows| {
                let other = |row: &Row| if row.despite.contains(&Caveat::OtherPlan) { " (other plan)" } else { "" };
                let names: Vec<String> = rows.iter().map(|row| row.name() + other(row)).collect();
                let (verb, times) = self.times(rows[0]);
                let verb = if std::mem::replace(&mut last, verb) == verb { String::new() } else { format!("{verb} ") };
                format!("{verb}{times} at {}", names.join(" and "))
            });
            let named = each.collect::<Vec<_>>().join(", ");
            let more = differing.len().saturating_sub(MOST);
            let more = if more > 0 { format!(", and differs at {more} more") } else { String::new() };
            clauses.push(format!("{new} {named}{more}"));
        }
        let totals = &self.totals;
        let mut same: Vec<f64> = of(Verdict::Same).map(|row| row.margin).collect();
        same.arrange_by(f64::total_cmp);
        // Those with a margin of their own by the largest of these.
        let (usual, wide) = same.split_at(same.partition_point(|margin| *margin <= self.margin));
        let same = |margins: &[f64]| {
            let margin = units::percent(*margins.last()?);
            Some(format!("{} the same within ±{margin}", margins.len()))
        };
        let open = (totals.inconclusive > 0).then(|| format!("{} inconclusive", totals.inconclusive));
        let rest: Vec<String> = [same(usual), same(wide), open].into_iter().flatten().collect();
        clauses.extend((!rest.is_empty()).then(|| rest.join(", ")));
        if totals.compared() == 0 {
            clauses.push("nothing could be compared".to_owned());
        }
        clauses.extend(self.apart());
        let is_cross = self.rows.iter().any(|row| row.despite.contains(&Caveat::OtherMachine));
        let alone = self.rows.iter().filter(|row| row.base.is_none() || row.new.is_none()).count();
        if is_cross && alone > 0 {
            let rows = counted(alone, "configuration");
            clauses.push(format!(
                "{rows} of one machine only, such as other thread counts, left out: --machines compares whole machines"
            ));
        }
        if self.quantity == Quantity::Delivered {
            clauses.push("load included: without --delivered the machine itself is compared".to_owned());
        }
        format!("{}.", clauses.join("; "))
    }

    /// The verb, and how many times: `is`, `1.31 times as fast`; of joules `takes`, `0.80 times as much`.
    fn times(&self, row: &Row) -> (&'static str, String) {
        let (effect, interval) = (row.effect.unwrap_or(1.0), row.interval.map(|Interval { low, high }| [low, high]));
        match self.quantity {
            Quantity::Delivered => ("delivered", times(effect, interval, ["much", "little"])),
            Quantity::Capacity if row.unit.is_of_speed() => ("is", times(effect, interval, ["fast", "slow"])),
            Quantity::Capacity => {
                let interval = interval.map(|[low, high]| [high.recip(), low.recip()]);
                ("takes", times(effect.recip(), interval, ["much", "little"]))
            }
        }
    }

    /// The differences without a verdict that are beyond the margin, few by their names: `4 of the 8 skipped differ by −44.0% to +37.2%, surely
    /// beyond ±4.0%`. Of too few runs for an interval there is only their size.
    pub fn apart(&self) -> Option<String> {
        let clause = |verdict: Verdict, word: &str, is_sure: bool| {
            let all = || self.rows.iter().filter(|row| row.verdict == verdict);
            let own = all().filter(|row| row.apart && row.interval.is_some() == is_sure);
            let own: Vec<(&Row, f64)> = own.filter_map(|row| Some((row, row.effect? - 1.0))).collect();
            let [low, high] = [f64::min, f64::max].map(|end| own.iter().map(|(_, share)| *share).reduce(end));
            let size = match own.len() {
                ..=FEW => {
                    let named = own.iter().map(|(row, share)| format!("{} by {}", row.name(), signed(*share)));
                    named.collect::<Vec<_>>().join(" and ")
                }
                _ => format!("by {} to {}", signed(low?), signed(high?)),
            };
            let (of, verb) = (all().count(), if own.len() == 1 { "differs" } else { "differ" });
            let which = if of == 1 { format!("the one {word}") } else { format!("{} of the {of} {word}", own.len()) };
            low.map(|_| format!("{which} {verb}{}{size}", if own.len() <= FEW { ": " } else { " " }))
        };
        let both = |is_sure: bool, end: String| {
            let clauses = [(Verdict::Uncompared, "skipped"), (Verdict::Inconclusive, "inconclusive")];
            let clauses: Vec<String> =
                clauses.into_iter().filter_map(|(verdict, word)| clause(verdict, word, is_sure)).collect();
            (!clauses.is_empty()).then(|| clauses.join(", ") + &end)
        };
        let sure = both(true, format!(", surely beyond ±{}", units::percent(self.margin)));
        let all: Vec<String> = sure.into_iter().chain(both(false, ", in too few runs".to_owned())).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// The most differences without a verdict that are named.
const FEW: usize = 2;

/// What matters first. Verdicts in this order, cells of one verdict in the comparison's.
const ORDER: [Verdict; 5] =
    [Verdict::Slower, Verdict::Faster, Verdict::Inconclusive, Verdict::Uncompared, Verdict::Same];

impl Comparison {
    pub fn sorted(&self) -> Vec<&Row> {
        let of = |verdict| self.rows.iter().filter(move |row| row.verdict == verdict);
        ORDER.into_iter().flat_map(of).collect()
    }

    /// The counts in one line.
    pub fn counts(&self) -> String {
        let totals = &self.totals;
        let rest = format!("{} inconclusive, {} skipped", totals.inconclusive, totals.uncompared);
        if totals.has_no_verdict() {
            return format!("No verdict: {rest}");
        }
        format!("{} slower, {} faster, {} same, {rest}", totals.slower, totals.faster, totals.same)
    }

    /// Sentences about the comparison as a whole.
    pub fn remarks(&self) -> Vec<String> {
        let totals = &self.totals;
        let mut remarks = Vec::new();
        if totals.fewest < totals.needed && totals.inconclusive > 0 {
            let (needed, all) = (totals.needed, counted(totals.compared(), "comparison"));
            // Who measured both knows what ended them.
            let fix = match self.design {
                Design::Sequential => format!("; measure both with --invocations {needed}"),
                Design::Interleaved => String::new(),
            };
            remarks.push(format!("too few runs: {} per side, {needed} needed for {all}{fix}", totals.fewest));
        }
        remarks.extend(self.differences.iter().map(|difference| format!("compared despite: {difference}")));
        remarks.extend(self.notes.iter().map(|note| format!("note: {note}")));
        remarks
    }

    /// What the verdicts rest on: the margin, and what widens it most.
    pub fn rule(&self) -> String {
        let wide = self.rows.iter().filter(|row| row.verdict != Verdict::Uncompared && row.margin > self.margin);
        let shown = self.noise_floor.zip(self.noise_shown_by.as_ref()).filter(|(floor, _)| *floor > self.margin);
        let wider = shown.map(|(floor, shown_by)| {
            format!(", up to {} for {} ({shown_by})", units::percent(floor), counted(wide.count(), "configuration"))
        });
        let runs = match self.design {
            Design::Sequential => "runs not interleaved",
            Design::Interleaved => "runs interleaved",
        };
        format!(
            "{}, threshold {}{}, α = {} (FDR), {} CI, {runs}",
            self.quantity.name(),
            units::percent(self.margin),
            wider.unwrap_or_default(),
            units::percent(self.alpha),
            units::percent(1.0 - self.alpha),
        )
    }
}

impl Row {
    /// What the clock of the cores has to do with it.
    pub fn of_clock(&self) -> Option<String> {
        let clock = self.clock?;
        let higher = signed(clock.ratio - 1.0);
        Some(match clock.is_counted {
            true => format!("clock {higher}"),
            false => format!("compared at one clock, the second side's was {higher}"),
        })
    }

    /// Its configuration: `mem-read 4k round-robin x2`.
    pub fn name(&self) -> String {
        format!("{}{} {} x{}", self.kernel, point::label(&self.point), self.mapping, self.workers)
    }
}

fn distance(row: &Row) -> f64 {
    row.effect.map_or(0.0, |effect| effect.ln().abs())
}

/// `1.31 ±0.04 times as fast`, or `0.46 to 0.95 times as fast` where the ends are not as far from the middle, or too far for one number;
/// of very little how many times as slow, as `0.004` shows fewer digits.
fn times(effect: f64, ends: Option<[f64; 2]>, [fast, slow]: [&str; 2]) -> String {
    let (effect, ends, word) = match effect < LITTLE {
        true => (effect.recip(), ends.map(|[low, high]| [high.recip(), low.recip()]), slow),
        false => (effect, ends, fast),
    };
    let Some([low, high]) = ends else { return format!("{} times as {word}", units::ratio(effect)) };
    // Of the last digit that is shown.
    let digits = [10.0, 100.0].iter().filter(|more| effect < **more).count();
    let step = 0.1_f64.powi(digits as i32);
    let [less, more] = [effect - low, high - effect];
    if (less - more).abs() > LOPSIDED * step || less.max(more) > WIDE * effect {
        return format!("{} to {} times as {word}", units::ratio(low), units::ratio(high));
    }
    // Rounded up, so none seems to be certain.
    let half = (less.max(more) / step - SAME).ceil().max(1.0) * step;
    format!("{} ±{half:.digits$} times as {word}", units::ratio(effect))
}

/// Below so many times as fast it is said how many times as slow.
const LITTLE: f64 = 0.1;
/// What two ends may differ by in digits that are shown.
const LOPSIDED: f64 = 1.5;
/// What makes two numbers different in spite of their arithmetic, in digits that are shown.
const SAME: f64 = 1e-6;
/// The widest half of an interval that is given as one, as a fraction.
const WIDE: f64 = 0.3;

/// A change in percent: `+4.2%`, and `0.0%` without a sign.
pub fn signed(share: f64) -> String {
    let text = format!("{:+.1}%", share * 100.0);
    if ["+0.0%", "-0.0%"].contains(&text.as_str()) { "0.0%".to_owned() } else { text.replace('-', "−") }
}
