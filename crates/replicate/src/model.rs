//! A model of placement beside a document's own table: a few of its values say what the others are, or that no model does.

use charz_model::explore::{Candidate, Known, Next, next};
use charz_model::{self as model, Missed, Placed, Prediction, Table, Topology, fit, missed};

use super::document::Reference;
use super::replication::{FigureModel, Fitted, Outcome, Predicted, ReplicatedFigure, Replication, Row};

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

impl Replication<'_> {
    /// Sets what a model fitted to a few values says beside each of the others, in every figure that has throughputs of a whole machine.
    #[must_use]
    pub fn with_models(mut self, placing: Placing) -> Self {
        for figure in &mut self.figures {
            for machine in self.machines {
                figure.model(machine, placing);
            }
        }
        self
    }
}

impl<'a> ReplicatedFigure<'a> {
    fn model(&mut self, machine: &'a Reference, placing: Placing) {
        let Some(words) = &machine.topology else { return };
        let values = self.rows.iter().enumerate().filter_map(|(at, row)| value(at, row, machine));
        let values: Vec<Value<'a>> = values.collect();
        if values.len() < FEWEST {
            return;
        }
        let placements: Vec<(&str, usize)> = values.iter().map(|value| (value.mapping, value.threads)).collect();
        let Some((topology, placed)) = placing(words, &placements) else { return };
        // No model of places says what several threads on a strand do.
        let within = values.iter().zip(placed).filter(|(_, placed)| topology.holds(placed));
        let all: Vec<(&Value<'a>, Placed)> = within.collect();
        let chosen = chosen(&topology, &all);
        if all.len() < FEWEST || chosen.len() == all.len() {
            return;
        }
        let points = |fitted: bool| {
            let own = all.iter().enumerate().filter(|(at, _)| chosen.contains(at) == fitted);
            own.map(|(_, (value, placed))| (placed.clone(), value.value)).collect::<Vec<_>>()
        };
        let table = Table { fitted: points(true), held_back: points(false) };
        // With one thread and with all, every mapping takes the same CPUs.
        let most = all.iter().map(|(value, _)| value.threads).max().unwrap_or(0);
        let is_between = |at: &&usize| (2..most).contains(&all[**at].0.threads);
        let between: Vec<&str> = chosen.iter().filter(is_between).map(|at| all[*at].0.mapping).collect();
        let outcome = match fit(&topology, &table) {
            model::Outcome::None(why) => Outcome::None(why),
            model::Outcome::Model(model) => {
                let predict =
                    |own: &Value<'_>, placed: &Placed| model.predict_under(between.contains(&own.mapping), placed);
                let others = all.iter().enumerate().filter(|(at, _)| !chosen.contains(at)).map(|(_, one)| one);
                let pairs: Vec<(Prediction, f64)> =
                    others.map(|(own, placed)| (predict(own, placed), own.value)).collect();
                let Missed { mean, worst } = missed(pairs.iter().map(|(one, value)| (one.value, *value)));
                let holds = |(one, value): &&(Prediction, f64)| (one.interval[0]..=one.interval[1]).contains(value);
                for (at, (own, placed)) in all.iter().enumerate() {
                    let Prediction { value, interval, .. } = predict(own, placed);
                    let predicted = Some(Predicted { value, interval, is_fitted: chosen.contains(&at) });
                    let ranges = self.rows[own.row].published.iter_mut().filter(|range| range.machine == machine.key);
                    ranges.for_each(|range| range.predicted = predicted);
                }
                Outcome::Model { name: model.name, mean, worst, held: pairs.iter().filter(holds).count() }
            }
        };
        let fitted = chosen.iter().map(|at| Fitted { mapping: all[*at].0.mapping, threads: all[*at].0.threads });
        let (fitted, others) = (fitted.collect(), table.held_back.len());
        self.models.push(FigureModel { machine: &machine.key, fitted, others, outcome });
    }
}

/// The throughput that a machine has in a row, if its place is known.
fn value<'a>(at: usize, row: &Row<'a>, machine: &Reference) -> Option<Value<'a>> {
    let range = row.published.iter().find(|range| range.machine == machine.key && range.low == range.high)?;
    let is_rate = row.unit.ends_with("/s") || row.unit.ends_with("OPS");
    Some(Value { row: at, mapping: row.mapping?, threads: row.label.parse().ok()?, value: range.low })
        .filter(|value| is_rate && value.value > 0.0)
}
