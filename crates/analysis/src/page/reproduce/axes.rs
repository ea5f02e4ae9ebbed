//! The flags for what kernels may vary beside their workers.

use std::collections::BTreeSet;

use charz_kernels::{Axes, Kernel, PageKind, Param, Params, Sizes, params};

use super::{Flags, Own, size};
use crate::point;
use charz_data::report::{Cell, Plan, Point};

/// What `--size` comes to when it is not typed.
const USUAL_SIZE: u64 = 256 << 20;

/// Sizes, pages, strides, chains, delays, and where memory is.
pub(super) fn flags(plan: &Plan, own: &[(&str, Own<'_>)]) -> Flags {
    let usual = Params::SMALL;
    let pages = |axes: &Axes| axes.pages.iter().map(|policy| policy.name().to_owned()).collect();
    let numbers = |list: &[u64]| list.iter().map(u64::to_string).collect::<BTreeSet<String>>();
    let memory = |point: &Point| point.memory.map(|_| point::memory(point).to_string());
    let all = [
        ("--size", sizes(plan, own)),
        (
            "--pages",
            Axis {
                knob: &params::PAGES,
                of: &|point| Some(point.pages?.name().to_owned()),
                own: &pages,
                single: &plan.pages,
                usual: PageKind::default().name(),
            }
            .typed(own),
        ),
        (
            "--stride",
            Axis {
                knob: &params::STRIDE,
                of: &|point| Some(point.stride_bytes?.to_string()),
                own: &|axes| numbers(axes.strides),
                single: &plan.stride_bytes.to_string(),
                usual: &usual.stride_bytes.to_string(),
            }
            .typed(own),
        ),
        (
            "--chains",
            Axis {
                knob: &params::CHAINS,
                of: &|point| Some(point.chains?.to_string()),
                own: &|axes| numbers(axes.chains),
                single: &plan.chains.to_string(),
                usual: &usual.chains.to_string(),
            }
            .typed(own),
        ),
        (
            "--delay",
            Axis {
                knob: &params::DELAY,
                of: &|point| Some(point.delay?.to_string()),
                own: &|axes| numbers(axes.delays),
                single: &plan.delay.to_string(),
                usual: &usual.delay.to_string(),
            }
            .typed(own),
        ),
        (
            "--memory",
            Axis { knob: &params::SIZE, of: &memory, own: &|_| BTreeSet::new(), single: "local", usual: "local" }
                .typed(own),
        ),
    ];
    all.into_iter().filter_map(|(flag, value)| Some((flag, value?))).collect()
}

/// A parameter, in the words of its flag.
struct Axis<'a> {
    knob: &'static Param,
    /// What a cell has for itself.
    of: &'a dyn Fn(&Point) -> Option<String>,
    /// What a kernel varies by itself.
    own: &'a dyn Fn(&Axes) -> BTreeSet<String>,
    /// What the plan has for cells that have nothing for themselves.
    single: &'a str,
    /// The same where nothing was asked for.
    usual: &'a str,
}

impl Axis<'_> {
    fn typed(&self, own: &[(&str, Own<'_>)]) -> Option<String> {
        let obeying = obeying(own, self.knob);
        let values: Vec<(BTreeSet<String>, bool)> = obeying
            .map(|(kernel, cells)| {
                let values: BTreeSet<String> = cells.iter().filter_map(|cell| (self.of)(&cell.point)).collect();
                let is_own = values == (self.own)(&kernel.axes());
                (values, is_own)
            })
            .collect();
        let ordered = |wanted: &BTreeSet<String>| {
            let cells = own.iter().flat_map(|(_, own)| &own.cells);
            in_order(cells.filter_map(|cell| (self.of)(&cell.point)), wanted)
        };
        choose(&values, (self.single, self.usual), ordered)
    }
}

/// The kernels that obey, each with its cells.
fn obeying<'a, 'b>(
    own: &'b [(&str, Own<'a>)],
    knob: &'static Param,
) -> impl Iterator<Item = (&'static dyn Kernel, &'b Vec<&'a Cell>)> {
    let known = own.iter().filter_map(|(_, own)| Some((own.kernel?, &own.cells)));
    known.filter(move |(kernel, _)| kernel.card().obeys(knob))
}

/// What to type: nothing where that comes to the same, or where only that can.
fn choose(
    values: &[(BTreeSet<String>, bool)],
    (single, usual): (&str, &str),
    ordered: impl Fn(&BTreeSet<String>) -> String,
) -> Option<String> {
    let (first, _) = values.first()?;
    if single == usual && values.iter().all(|(_, is_own)| *is_own) {
        return None;
    }
    let same = values.iter().all(|(others, _)| others == first);
    match same {
        true if first.is_empty() => Some(single.to_owned()),
        true => Some(ordered(first)),
        false => None,
    }
}

/// In the order in which they come, each once.
fn in_order(all: impl Iterator<Item = String>, wanted: &BTreeSet<String>) -> String {
    let mut seen = BTreeSet::new();
    let each: Vec<String> = all.filter(|value| wanted.contains(value) && seen.insert(value.clone())).collect();
    each.join(",")
}

fn sizes(plan: &Plan, own: &[(&str, Own<'_>)]) -> Option<String> {
    let values: Vec<(BTreeSet<u64>, bool)> = obeying(own, &params::SIZE)
        .map(|(kernel, cells)| {
            let sizes: BTreeSet<u64> = cells.iter().filter_map(|cell| cell.point.size_bytes).collect();
            let is_own = match kernel.axes().sizes {
                Sizes::Block => sizes.is_empty(),
                Sizes::Fixed(size) => sizes == BTreeSet::from([size]),
                Sizes::Curve => is_curve(&sizes),
                // Which sizes are one in each level depends on the machine.
                Sizes::Levels => false,
            };
            (sizes, is_own)
        })
        .collect();
    let (first, _) = values.first()?;
    let same = values.iter().all(|(others, _)| others == first);
    if same && is_curve(first) && plan.size_bytes == USUAL_SIZE && values.iter().any(|(_, is_own)| !is_own) {
        return Some("curve".into());
    }
    let words: Vec<(BTreeSet<String>, bool)> =
        values.iter().map(|(sizes, is_own)| (sizes.iter().map(|bytes| size(*bytes)).collect(), *is_own)).collect();
    let ascending = |_: &BTreeSet<String>| first.iter().map(|bytes| size(*bytes)).collect::<Vec<_>>().join(",");
    choose(&words, (&size(plan.size_bytes), &size(USUAL_SIZE)), ascending)
}

/// Whether sizes are those of a curve: from 4 KiB to a power of two, with one between any two powers.
fn is_curve(sizes: &BTreeSet<u64>) -> bool {
    const FROM: u64 = 4 << 10;
    let Some(&last) = sizes.last().filter(|last| last.is_power_of_two() && **last > FROM) else { return false };
    let between = |power: u32| ((1_u64 << power) as f64 * 2_f64.sqrt()) as u64 / 64 * 64;
    let steps = (FROM.ilog2()..last.ilog2()).flat_map(|power| [1 << power, between(power)]);
    steps.chain([last]).collect::<BTreeSet<u64>>() == *sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_known_by_its_sizes() {
        let curve = BTreeSet::from([4096, 5760, 8192, 11584, 16384]);
        assert!(is_curve(&curve), "{curve:?}");
        assert!(!is_curve(&BTreeSet::from([4096, 8192])));
        assert!(!is_curve(&BTreeSet::new()));
        assert!(!is_curve(&BTreeSet::from([u64::MAX])));
    }
}
