//! Only what decides the advice is measured: cells are chosen as numbers come in, and a model says what the others do.

use std::collections::{BTreeMap, HashMap, HashSet};

use charz_model::Topology;
use charz_model::explore::{Candidate, Known, Next, next};

use super::{Sweep, places};
use crate::plan::{FEW_CELLS, is_modelled};
use charz_data::report::{Cell, PREDICTED, Point, Status};
use charz_data::units;

/// A model needs so many numbers.
const ENOUGH: usize = 3;

/// The cells that were chosen so far; of a sweep that measures all, nothing.
#[derive(Default)]
pub struct Adaptive(Option<State>);

struct State {
    topology: Topology,
    /// The places of cells that are measured.
    chosen: HashSet<usize>,
    /// Those that a model may predict, by kernel and point.
    groups: Vec<Group>,
}

struct Group {
    places: Vec<usize>,
    /// The reasons of those that are predicted; `None` while it is not known which are.
    predicted: Option<BTreeMap<usize, String>>,
}

impl Adaptive {
    pub(super) fn is_chosen(&self, place: usize) -> bool {
        self.0.as_ref().is_none_or(|state| state.chosen.contains(&place))
    }

    /// Whether it is known of every cell that it need not be measured, or is chosen.
    pub(super) fn is_settled(&self) -> bool {
        self.0.as_ref().is_none_or(|state| state.groups.iter().all(|group| group.predicted.is_some()))
    }
}

impl Sweep<'_> {
    /// A number as what a thread more can do more of, and that as a number again: a time of a whole program turned over is a rate, of
    /// copies that of all of them, and one of a single operation is none.
    fn turned(&self, cell: &Cell, value: f64) -> f64 {
        let copies = cell.unit.is_time() && self.report.is_in_copies(&cell.kernel);
        let work = if copies { cell.workers as f64 } else { 1.0 };
        if cell.unit.more_is_better() { value } else { work / value }
    }

    /// Begins to choose, if the plan says so: what a model may predict, and all of the rest.
    pub(super) fn begin_choosing(&mut self) {
        if !self.report.plan.adaptive {
            return;
        }
        for cell in &mut self.report.cells {
            // It may be measured after all.
            if cell.is_predicted() {
                (cell.status, cell.reason, cell.skipped) = (Status::Pending, None, None);
            }
        }
        let mut groups: HashMap<(&str, Point), Vec<usize>> = HashMap::new();
        for place in self.report.floor.len()..places(self.report) {
            let cell = self.cell(place);
            if self.report.card(&cell.kernel).is_some_and(is_modelled) && cell.status != Status::Skipped {
                groups.entry((&cell.kernel, cell.point)).or_default().push(place);
            }
        }
        let groups: Vec<Group> = groups
            .into_values()
            .filter(|places| places.len() > FEW_CELLS)
            .map(|places| Group { places, predicted: None })
            .collect();
        let open: HashSet<usize> = groups.iter().flat_map(|group| &group.places).copied().collect();
        let has_runs = |place: &usize| !self.cell(*place).invocations.is_empty();
        let chosen = (0..places(self.report)).filter(|place| !open.contains(place) || has_runs(place)).collect();
        self.adaptive = Adaptive(Some(State { topology: Topology::of(&self.report.machine), chosen, groups }));
        self.choose();
    }

    /// Chooses more cells of each kernel whose chosen cells have their numbers, or have given up.
    pub(super) fn choose(&mut self) {
        let Some(mut state) = self.adaptive.0.take() else { return };
        for group in state.groups.iter_mut().filter(|group| group.predicted.is_none()) {
            // It is chosen, and waits for a number.
            let waits = |place: &usize| state.chosen.contains(place) && self.missing(*place) > 0;
            if group.places.iter().any(waits) {
                continue;
            }
            let chosen = || group.places.iter().filter(|place| state.chosen.contains(place));
            let sound = chosen().filter(|place| self.cell(**place).status == Status::Ok).count();
            // Noisy numbers are left out where there are others enough.
            let counts = |cell: &Cell| cell.status == Status::Ok || sound < ENOUGH;
            let is_noisy = chosen().map(|place| self.cell(*place)).any(|cell| cell.is_suspect() && counts(cell));
            let candidate = |place: &usize| {
                let cell = self.cell(*place);
                let seats: Vec<u32> = cell.seats.iter().copied().flatten().collect();
                let placed = match seats.len() == cell.seats.len() {
                    true => state.topology.seated(&seats),
                    false => state.topology.spread(cell.seats.len()),
                };
                let value = cell.value().filter(|value| *value > 0.0 && counts(cell));
                let known = match (state.chosen.contains(place), value) {
                    (false, _) => Known::Nothing,
                    (true, Some(value)) => Known::Rate(self.turned(cell, value)),
                    (true, None) => Known::NoNumber,
                };
                Candidate { placed, known }
            };
            let candidates: Vec<Candidate> = group.places.iter().map(candidate).collect();
            match next(&state.topology, &candidates) {
                Next::Measure(more) => state.chosen.extend(more.into_iter().map(|at| group.places[at])),
                Next::Enough(model, predicted) => {
                    let reason = |(at, found): (usize, charz_model::Prediction)| {
                        let cell = self.cell(group.places[at]);
                        let [low, high] = found.interval.map(|rate| self.turned(cell, rate));
                        let [low, high] = [low.min(high), low.max(high)].map(|end| units::value(end, cell.unit));
                        let value = units::value(self.turned(cell, found.value), cell.unit);
                        let doubt = units::doubt(is_noisy);
                        let reason = format!("{PREDICTED}{value}{doubt} ({low} to {high}, 90%) by the model {model}");
                        (group.places[at], reason)
                    };
                    group.predicted = Some(predicted.into_iter().map(reason).collect());
                }
            }
        }
        self.adaptive.0 = Some(state);
    }

    /// Says of each cell that was not chosen what is predicted.
    pub(super) fn tell_predicted(&mut self) {
        let Some(state) = self.adaptive.0.take() else { return };
        for (place, reason) in state.groups.iter().filter_map(|group| group.predicted.as_ref()).flatten() {
            let cell = super::cell_mut(self.report, *place);
            // A first run of the user's program counts where it was made.
            if !cell.invocations.is_empty() {
                continue;
            }
            (cell.status, cell.reason, cell.skipped) = (Status::Skipped, Some(reason.clone()), Some(reason.clone()));
        }
        self.adaptive.0 = Some(state);
    }
}
