//! A model of placement beside a document's own table: a few of its values say what the others are, or that no model does.

use charz_model::explore::{Candidate, Known, Next, next};
use charz_model::{Missed, Outcome, Placed, Prediction, Table, Topology, fit, missed};

use super::document::Reference;
use super::replication::{FigureModel, Predicted, ReplicatedFigure, Replication};

/// Where the threads of each of these mappings and counts are on a machine in hwloc's synthetic words; `None` where that cannot be told.
pub type Placing = fn(machine: &str, placements: &[(&str, usize)]) -> Option<(Topology, Vec<Placed>)>;

/// A table with fewer values says nothing of a model.
const FEWEST: usize = 8;

/// So many values are fitted, or more where a machine has more levels.
const FITTED: usize = 4;

/// A value of the document that a model can have.
struct Value<'a> {
    row: usize,
    mapping: &'a str,
    threads: usize,
    value: f64,
}

/// The places of the values that a model is to be fitted to, as an adaptive sweep would choose what to measure.
fn chosen(topology: &Topology, all: &[(&Value<'_>, Placed)]) -> Vec<usize> {
    let open = |(_, placed): &(_, Placed)| Candidate { placed: placed.clone(), known: Known::Nothing };
    let mut candidates: Vec<Candidate> = all.iter().map(open).collect();
    let mut chosen = Vec::new();
    while chosen.len() < FITTED {
        let Next::Measure(places) = next(topology, &candidates) else { break };
        for at in places {
            candidates[at].known = Known::Rate(all[at].0.value);
            chosen.push(at);
        }
    }
    // Where mappings have the same places, all of their values are of that point.
    let is_chosen = |at: &usize| chosen.iter().any(|known| all[*known].1 == all[*at].1);
    (0..all.len()).filter(is_chosen).collect()
}

impl Replication {
    /// Sets what a model fitted to a few values says beside each of the others, in every figure that has throughputs of a whole machine.
    #[must_use]
    pub fn with_models(mut self, placing: Placing) -> Self {
        for figure in &mut self.figures {
            for machine in &self.machines {
                figure.model(machine, placing);
            }
        }
        self
    }
}

impl ReplicatedFigure {
    fn model(&mut self, machine: &Reference, placing: Placing) {
        let Some(words) = &machine.topology else { return };
        let values: Vec<Value<'_>> =
            self.rows.iter().enumerate().filter_map(|(at, _)| self.value(at, machine)).collect();
        if values.len() < FEWEST {
            return;
        }
        let placements: Vec<(&str, usize)> = values.iter().map(|value| (value.mapping, value.threads)).collect();
        let Some((topology, placed)) = placing(words, &placements) else { return };
        // No model of places says what several threads on a strand do.
        let within = values.iter().zip(placed).filter(|(_, placed)| topology.holds(placed));
        let all: Vec<(&Value<'_>, Placed)> = within.collect();
        let chosen = chosen(&topology, &all);
        if all.len() < FEWEST || chosen.len() == all.len() {
            return;
        }
        let points = |fitted: bool| {
            let own = all.iter().enumerate().filter(|(at, _)| chosen.contains(at) == fitted);
            own.map(|(_, (value, placed))| (placed.clone(), value.value)).collect::<Vec<_>>()
        };
        let table = Table { fitted: points(true), held_back: points(false) };
        let mut found = FigureModel {
            machine: machine.key.clone(),
            name: None,
            fitted: chosen.iter().map(|at| format!("{} {}", all[*at].0.mapping, all[*at].0.threads)).collect(),
            others: table.held_back.len(),
            mean: None,
            worst: None,
            held: None,
            why: None,
        };
        let mut predictions = Vec::new();
        match fit(&topology, &table) {
            Outcome::None(why) => found.why = Some(why),
            Outcome::Model(model) => {
                let pairs: Vec<(Prediction, f64)> =
                    table.held_back.iter().map(|(placed, value)| (model.predict(placed), *value)).collect();
                let Missed { mean, worst } = missed(pairs.iter().map(|(one, value)| (one.value, *value)));
                let holds = |(one, value): &&(Prediction, f64)| (one.interval[0]..=one.interval[1]).contains(value);
                found.name = Some(model.name.to_owned());
                (found.mean, found.worst) = (Some(mean), Some(worst));
                found.held = Some(pairs.iter().filter(holds).count());
                let each = all.iter().enumerate();
                predictions.extend(each.map(|(at, (value, placed))| {
                    let Prediction { value: predicted, interval, .. } = model.predict(placed);
                    (value.row, Predicted { value: predicted, interval, is_fitted: chosen.contains(&at) })
                }));
            }
        }
        for (row, predicted) in predictions {
            let own = self.rows[row].published.iter_mut().filter(|range| range.machine == machine.key);
            own.for_each(|range| range.predicted = Some(predicted.clone()));
        }
        self.models.push(found);
    }

    /// The throughput that a machine has in a row, if its place is known.
    fn value(&self, row: usize, machine: &Reference) -> Option<Value<'_>> {
        let of = &self.rows[row];
        let range = of.published.iter().find(|range| range.machine == machine.key && range.low == range.high)?;
        let is_rate = of.unit.ends_with("/s") || of.unit.ends_with("OPS");
        Some(Value { row, mapping: of.mapping.as_deref()?, threads: of.label.parse().ok()?, value: range.low })
            .filter(|value| is_rate && value.value > 0.0)
    }
}
