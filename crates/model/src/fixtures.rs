//! Machines whose values are known, and how many of these the intervals hold.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::path::Path;

use charz_data::machine::Machine;
use charz_data::report::unpacked;
use charz_topology::{Mapping, Source, discover, place};

use crate::{Outcome, Placed, Table, Topology, fit};

/// A machine by its synthetic description, and its mappings.
pub struct Place {
    /// Its parts.
    pub topology: Topology,
    pub(crate) machine: Machine,
}

impl Place {
    /// The machine of a description as `charz topo` takes it.
    #[track_caller]
    pub fn new(description: &str) -> Self {
        let machine = discover(&Source::of(description)).unwrap();
        Place { topology: Topology::of(&machine), machine }
    }

    /// How many CPUs it has.
    pub fn cpus(&self) -> usize {
        self.machine.strands.len()
    }

    /// The CPUs of threads under a mapping, by their ids; none of floating ones.
    pub fn seats(&self, mapping: &str, threads: usize) -> Vec<u32> {
        let order = mapping.parse::<Mapping>().unwrap().order(&self.machine).unwrap();
        place(&order, threads).seats.into_iter().flatten().collect()
    }

    /// Threads under a mapping.
    pub fn at(&self, mapping: &str, threads: usize) -> Placed {
        if mapping == "auto" {
            return self.topology.spread(threads);
        }
        self.topology.seated(&self.seats(mapping, threads))
    }
}

/// How predictions fare at points that were not fitted.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// How many machines have a model.
    pub models: usize,
    /// How many have none.
    pub refused: usize,
    /// How many points were predicted.
    pub points: usize,
    /// How many of these their intervals hold.
    pub held: usize,
    /// The sum of their errors, as fractions.
    pub errors: f64,
    /// Half the width of each interval, as a logarithm.
    pub halves: Vec<f64>,
}

impl Coverage {
    /// The share of points that their intervals hold.
    pub fn share(&self) -> f64 {
        self.held as f64 / self.points as f64
    }

    /// By how much they are missed in the mean, as a fraction.
    pub fn error(&self) -> f64 {
        self.errors / self.points as f64
    }

    /// Adds what became of fitting a machine's points, and how others are predicted, of a mapping that was measured or not.
    pub fn add(&mut self, outcome: &Outcome, points: &[(Placed, f64)], is_measured: bool) {
        let Outcome::Model(model) = outcome else {
            self.refused += 1;
            return;
        };
        self.models += 1;
        for (placed, value) in points {
            let found = model.predict_under(is_measured, placed);
            let [low, high] = found.interval;
            self.points += 1;
            self.held += usize::from((low..=high).contains(value));
            self.errors += (found.value / value - 1.0).abs();
            self.halves.push((high / low).ln() / 2.0);
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut halves = self.halves.clone();
        halves.sort_unstable_by(f64::total_cmp);
        let half = halves.get(halves.len() / 2).copied().unwrap_or(f64::NAN);
        let [error, held, half] = [self.error(), self.share(), half.exp_m1()].map(|one| 100.0 * one);
        let (models, refused, points) = (self.models, self.refused, self.points);
        write!(f, "{models:5} {refused:7} {points:6} {error:9.2}% {held:6.1}% {half:8.1}%")
    }
}

/// How published values are predicted, by kind of machine and by whether the others check the model: of `scaling.tsv.gz` from the points that
/// come nearest to one thread, a quarter of the cores, 0.6 of them and all CPUs, under round-robin on the machines of `lscpu.tsv.gz` with 16 CPUs
/// and more; and of `tables` from the points that these fit, and from one thread, all of them, and any two.
///
/// # Panics
/// If a file cannot be read.
pub fn real(folder: &Path) -> BTreeMap<String, Coverage> {
    let mut all: BTreeMap<String, Coverage> = BTreeMap::new();
    let mut judge = |kind: &str, place: &Place, points: &[(Placed, f64)], is_fitted: &dyn Fn(usize) -> bool| {
        let (fitted, others): (Vec<_>, Vec<_>) = (0..points.len()).partition(|at| is_fitted(*at));
        let [fitted, others] = [fitted, others].map(|own| own.iter().map(|at| points[*at].clone()).collect::<Vec<_>>());
        for (check, held_back) in [("unchecked", &[][..]), ("checked", &others)] {
            let outcome = fit(&place.topology, &Table { fitted: fitted.clone(), held_back: held_back.to_vec() });
            all.entry(format!("{kind}, {check}")).or_default().add(&outcome, &others, true);
        }
    };
    let mut curves: BTreeMap<String, Vec<(usize, f64)>> = BTreeMap::new();
    for row in rows(&folder.join("scaling.tsv.gz")) {
        curves.entry(row[0].clone()).or_default().push((row[1].parse().unwrap(), row[2].parse().unwrap()));
    }
    for row in rows(&folder.join("lscpu.tsv.gz")) {
        let [cpus, threads, cores, sockets] = [2, 3, 4, 5].map(|at| row[at].parse::<usize>().unwrap_or(1));
        let Some(curve) = curves.get(&row[0]).filter(|_| cpus >= 16 && threads * cores * sockets == cpus) else {
            continue;
        };
        let place = Place::new(&format!("Package:{sockets} Core:{cores} PU:{threads}"));
        let kind = if sockets > 1 { "several sockets" } else { ["without SMT", "with SMT"][usize::from(threads > 1)] };
        let curve: Vec<(usize, f64)> = curve.iter().copied().filter(|(own, _)| *own <= cpus).collect();
        let wanted = [1.0, 0.25 * (cores * sockets) as f64, 0.6 * (cores * sockets) as f64, cpus as f64];
        let distance = |at: usize, wanted: f64| (curve[at].0 as f64 - wanted).abs();
        let near = wanted.map(|wanted| {
            (0..curve.len()).min_by(|one, other| distance(*one, wanted).total_cmp(&distance(*other, wanted)))
        });
        let points = curve.iter().map(|(own, value)| (place.at("round-robin", *own), *value));
        judge(kind, &place, &points.collect::<Vec<_>>(), &|at| near.contains(&Some(at)));
    }
    let mut files: Vec<_> = fs::read_dir(folder.join("tables")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let mut random = fastrand::Rng::with_seed(1);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let described = text.lines().find_map(|line| line.strip_prefix("# --topology "));
        let (place, rows) = (Place::new(described.unwrap()), rows(&file));
        let point = |row: &Vec<String>| (place.at(&row[0], row[1].parse().unwrap()), row[2].parse().unwrap());
        let points: Vec<(Placed, f64)> = rows.iter().map(point).collect();
        judge("tables", &place, &points, &|at| rows[at][3] == "1");
        let is_end = |at: &usize| [1, place.cpus()].contains(&points[*at].0.threads);
        for _ in 0..20 {
            let two = random.choose_multiple((0..points.len()).filter(|at| !is_end(at)), 2);
            judge("tables, two random points", &place, &points, &|at| is_end(&at) || two.contains(&at));
        }
    }
    all
}

/// The lines of a table, without its heading and remarks.
fn rows(file: &Path) -> Vec<Vec<String>> {
    let bytes = unpacked(&file.to_string_lossy(), File::open(file).unwrap()).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}
