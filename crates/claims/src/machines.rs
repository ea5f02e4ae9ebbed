//! In what machines differ, the most first.

use charz_data::card::{Access, Chase, Numbers};
use charz_data::{Arrange, Role};
use charz_estimate::MARGIN;
use serde::Serialize;

/// How many times as fast: above 1 is faster, for times too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// The ratio.
    pub times: f64,
    /// Where it lies with 95% confidence; null where one of the numbers has no interval.
    pub interval: Option<[f64; 2]>,
    /// Whether one of the numbers is noisy, or may be anything down to nothing.
    pub noisy: bool,
}

impl Ratio {
    /// The same for as much money, where the price of the one is so many times that of the other.
    #[must_use]
    pub fn for_price(self, dearer: f64) -> Self {
        Ratio { times: self.times / dearer, interval: self.interval.map(|ends| ends.map(|end| end / dearer)), ..self }
    }

    /// Whether another speed is shown, and by more than the margin.
    pub fn is_other(&self) -> bool {
        let is_apart = self.interval.is_some_and(|[low, high]| low > 1.0 || high < 1.0);
        is_apart && !self.noisy && self.distance() > MARGIN.ln_1p()
    }

    /// How far it is from 1, to either side alike.
    pub fn distance(&self) -> f64 {
        self.times.ln().abs()
    }

    /// How far its interval reaches from 1, as a fraction.
    fn reach(&self) -> f64 {
        let ends = self.interval.unwrap_or([self.times; 2]);
        ends.into_iter().map(|end| end.max(end.recip()) - 1.0).fold(0.0, f64::max)
    }
}

/// What a kernel is about, for readers of a headline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject<'a> {
    /// Dependent arithmetic.
    Arithmetic(Numbers),
    /// Arithmetic on vectors.
    Vectors(Numbers),
    /// One pass over memory.
    Memory(Access),
    /// Passes over a block in any level.
    Level(Access),
    /// Dependent loads.
    Loads(Chase),
    /// A kernel by its name.
    Kernel(&'a str),
}

impl<'a> Subject<'a> {
    /// That of a role, or the kernel by its name.
    pub fn of(role: &Role, name: &'a str) -> Self {
        match role {
            Role::Arithmetic(numbers) => Subject::Arithmetic(*numbers),
            Role::VectorArithmetic(numbers) => Subject::Vectors(*numbers),
            Role::MemoryBandwidth(access) => Subject::Memory(*access),
            Role::LevelBandwidth(access) => Subject::Level(*access),
            Role::Latency(chase) => Subject::Loads(*chase),
            _ => Subject::Kernel(name),
        }
    }
}

/// In what a machine differs from the first, and what is left.
#[derive(Clone, Debug, PartialEq)]
pub struct Differing<'a> {
    /// The most first.
    pub parts: Vec<Part<'a>>,
    /// How many kernels are not shown to differ, and how far their intervals reach from 1, as a fraction; `None` where all differ.
    pub rest: Option<(usize, f64)>,
}

/// What differs alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Part<'a> {
    /// What it is about.
    pub subjects: Vec<Subject<'a>>,
    /// The middle of the ratios, and the hull of their intervals.
    pub ratio: Ratio,
}

/// A subject is named where all of its kernels differ to one side; else the kernels are that do. What follows another by no more than the
/// margin is named with it.
pub fn differing<'a>(ratios: &[(Subject<'a>, &'a str, Ratio)]) -> Option<Differing<'a>> {
    let finite = || ratios.iter().copied().filter(|(.., ratio)| ratio.times.is_finite() && ratio.times > 0.0);
    let side = |ratio: &Ratio| ratio.is_other().then_some(ratio.times > 1.0);
    let is_alike = |subject: &Subject<'a>| {
        let mut sides = finite().filter(|(of, ..)| of == subject).map(|(.., ratio)| side(&ratio));
        let first = sides.next();
        sides.all(|side| Some(side) == first)
    };
    let (other, same): (Vec<_>, Vec<_>) = finite().partition(|(.., ratio)| ratio.is_other());
    let mut named: Vec<(Subject<'a>, Vec<Ratio>)> = Vec::new();
    for (subject, name, ratio) in other {
        let own = if is_alike(&subject) { subject } else { Subject::Kernel(name) };
        match named.iter_mut().find(|(known, _)| *known == own) {
            Some((_, all)) => all.push(ratio),
            None => named.push((own, vec![ratio])),
        }
    }
    let part = |(subject, all): (Subject<'a>, Vec<Ratio>)| Part { subjects: vec![subject], ratio: hull(&all) };
    let mut parts: Vec<Part<'a>> = named.into_iter().map(part).collect();
    parts.arrange_by(|one, other| other.ratio.distance().total_cmp(&one.ratio.distance()));
    let mut alike: Vec<Part<'a>> = Vec::new();
    for part in parts {
        match alike.last_mut() {
            Some(last) if (last.ratio.times / part.ratio.times).ln().abs() <= MARGIN => {
                last.ratio = hull(&[last.ratio, part.ratio]);
                last.subjects.extend(part.subjects);
            }
            _ => alike.push(part),
        }
    }
    let reach = same.iter().map(|(.., ratio)| ratio.reach()).reduce(f64::max);
    let rest = reach.map(|reach| (same.len(), reach));
    (!alike.is_empty() || rest.is_some()).then_some(Differing { parts: alike, rest })
}

/// The middle of several ratios, of at least one, and all that their intervals reach over.
fn hull(ratios: &[Ratio]) -> Ratio {
    let times = (ratios.iter().map(|ratio| ratio.times.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let end =
        |at: usize, end: fn(f64, f64) -> f64| ratios.iter().filter_map(|ratio| Some(ratio.interval?[at])).reduce(end);
    let interval = end(0, f64::min).zip(end(1, f64::max)).map(|(low, high)| [low, high]);
    Ratio { times, interval, noisy: ratios.iter().any(|ratio| ratio.noisy) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Subject::{Arithmetic, Kernel, Memory};

    /// What each kernel is about, its ratio with its half width, and what is concluded.
    #[test]
    fn what_differs_most_is_named_first() {
        let (read, write) = (Memory(Access::Read), Memory(Access::Write));
        let [int, float] = [Numbers::Integer, Numbers::Float].map(Arithmetic);
        type Parts<'a> = Vec<(Vec<Subject<'a>>, f64)>;
        type Kernels<'a> = &'a [(Subject<'a>, &'a str, f64, f64)];
        type Case<'a> = (Kernels<'a>, Parts<'a>, Option<(usize, f64)>);
        let table: [Case<'_>; 6] = [
            (&[(int, "a", 1.0, 0.01), (read, "m", 0.57, 0.02)], vec![(vec![read], 0.57)], Some((1, 0.01))),
            // What differs alike is one part, and the rest what is not shown to.
            (
                &[(int, "a", 1.5, 0.01), (float, "b", 1.51, 0.01), (read, "m", 2.0, 0.01), (write, "n", 0.9, 0.2)],
                vec![(vec![read], 2.0), (vec![float, int], 1.505)],
                Some((1, 0.39)),
            ),
            // Three tenths as fast is more than twice as fast.
            (&[(int, "a", 2.0, 0.01), (read, "m", 0.3, 0.01)], vec![(vec![read], 0.3), (vec![int], 2.0)], None),
            // A subject whose kernels do not differ to one side is named by these.
            (
                &[(read, "m 64 KiB", 1.0, 0.01), (read, "m 1 GiB", 0.5, 0.01)],
                vec![(vec![Kernel("m 1 GiB")], 0.5)],
                Some((1, 0.01)),
            ),
            (&[(int, "a", 1.01, 0.001)], vec![], Some((1, 0.011))),
            (&[(int, "a", f64::NAN, 0.0)], vec![], None),
        ];
        for (rows, parts, rest) in table {
            let ratio = |times: f64, half: f64| Ratio {
                times,
                interval: Some([times * (1.0 - half), times * (1.0 + half)]),
                noisy: false,
            };
            let rows: Vec<_> =
                rows.iter().map(|(subject, name, times, half)| (*subject, *name, ratio(*times, *half))).collect();
            let Some(found) = differing(&rows) else {
                assert!(parts.is_empty() && rest.is_none());
                continue;
            };
            assert_eq!(
                found.parts.iter().map(|part| part.subjects.clone()).collect::<Vec<_>>(),
                parts.iter().map(|part| part.0.clone()).collect::<Vec<_>>()
            );
            assert!(
                found.parts.iter().zip(&parts).all(|(part, (_, times))| (part.ratio.times - times).abs() < 0.001),
                "{found:?}"
            );
            assert_eq!(found.rest.map(|rest| rest.0), rest.map(|rest| rest.0));
            assert!(found.rest.zip(rest).is_none_or(|(one, other)| (one.1 - other.1).abs() < 0.02), "{found:?}");
        }
    }
}
