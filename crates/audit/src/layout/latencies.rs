//! Latencies of pairs of CPUs.

use std::collections::BTreeMap;

/// The time in which a line goes from one CPU to another, in nanoseconds or any other unit, of as many pairs as are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies {
    ids: Vec<u32>,
    /// By rows, both ways; not a number where it is not known.
    values: Vec<f64>,
}

impl Latencies {
    /// Of pairs of OS ids. Of several values of a pair, also of both ways, the lowest counts: what disturbs a transfer makes it longer.
    /// What is not a positive number is left out.
    pub fn of(pairs: impl IntoIterator<Item = ([u32; 2], f64)>) -> Self {
        let mut known: BTreeMap<[u32; 2], f64> = BTreeMap::new();
        let mut places: BTreeMap<u32, usize> = BTreeMap::new();
        for ([a, b], value) in pairs {
            places.extend([(a, 0), (b, 0)]);
            if a != b && value.is_finite() && value > 0.0 {
                known.entry([a.min(b), a.max(b)]).and_modify(|low| *low = low.min(value)).or_insert(value);
            }
        }
        places.values_mut().enumerate().for_each(|(at, place)| *place = at);
        let cpus = places.len();
        let mut values = vec![f64::NAN; cpus * cpus];
        for ([a, b], value) in known {
            let (a, b) = (places[&a], places[&b]);
            (values[a * cpus + b], values[b * cpus + a]) = (value, value);
        }
        Latencies { ids: places.into_keys().collect(), values }
    }

    /// OS ids, ascending.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// How many CPUs there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no CPU.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The value of the CPUs at two positions in [`Latencies::ids`], if it is known.
    pub fn get(&self, a: usize, b: usize) -> Option<f64> {
        Some(self.values[a * self.ids.len() + b]).filter(|value| !value.is_nan())
    }

    /// The known pairs, each once.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        (0..self.len()).flat_map(move |a| (0..a).filter_map(move |b| Some((b, a, self.get(b, a)?))))
    }
}
