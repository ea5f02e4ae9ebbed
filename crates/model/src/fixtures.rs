//! Machines whose values are known, and how many of these the intervals hold.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io;
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

/// The fewest CPUs of a machine whose curve is predicted.
const CPUS: usize = 16;
/// The topology of a table is behind this.
const TOPOLOGY: &str = "# --topology ";

/// How published values are predicted, by kind of machine and by whether the others check the model: of `scaling.tsv.gz` from the points that
/// come nearest to one thread, a quarter of the cores, 0.6 of them and all CPUs, under round-robin on the machines of `lscpu.tsv.gz`; and of
/// `tables` from the points that these fit, and from one thread, all of them, and any two.
///
/// # Errors
/// A file that cannot be read.
pub fn real(folder: &Path) -> io::Result<Vec<(String, Coverage)>> {
    let mut all: BTreeMap<String, Coverage> = BTreeMap::new();
    let mut judge = |kind: &str, place: &Place, fitted: Vec<(Placed, f64)>, others: &[(Placed, f64)]| {
        for (check, held_back) in [("unchecked", &[][..]), ("checked", others)] {
            let table = Table { fitted: fitted.clone(), held_back: held_back.to_vec() };
            let outcome = fit(&place.topology, &table);
            all.entry(format!("{kind}, {check}")).or_default().add(&outcome, others, true);
        }
    };
    let mut curves: BTreeMap<String, Vec<(usize, f64)>> = BTreeMap::new();
    for row in rows(&folder.join("scaling.tsv.gz"))? {
        if let (Ok(threads), Ok(value)) = (row[1].parse(), row[2].parse()) {
            curves.entry(row[0].clone()).or_default().push((threads, value));
        }
    }
    for row in rows(&folder.join("lscpu.tsv.gz"))? {
        let count = |at: usize| row[at].parse::<usize>().unwrap_or(1);
        let (cpus, threads, cores, sockets) = (count(2), count(3), count(4), count(5));
        let Some(curve) = curves.get(&row[0]).filter(|_| cpus >= CPUS && threads * cores * sockets == cpus) else {
            continue;
        };
        let place = Place::new(&format!("Package:{sockets} Core:{cores} PU:{threads}"));
        let kind = if sockets > 1 { "several sockets" } else { ["without SMT", "with SMT"][usize::from(threads > 1)] };
        let near = |wanted: f64| {
            let distance = |(own, _): &&(usize, f64)| (*own as f64 - wanted).abs();
            curve.iter().min_by(|one, other| distance(one).total_cmp(&distance(other))).map(|(own, _)| *own)
        };
        let all_cores = (cores * sockets) as f64;
        let chosen = [1.0, all_cores / 4.0, 0.6 * all_cores, cpus as f64].map(near);
        let within = curve.iter().filter(|(own, _)| *own <= cpus);
        let (fitted, others): (Vec<_>, Vec<_>) = within.partition(|(own, _)| chosen.contains(&Some(*own)));
        let [fitted, others] = [fitted, others].map(|points| {
            let point = |(own, value): &(usize, f64)| (place.at("round-robin", *own), *value);
            points.into_iter().map(point).collect::<Vec<_>>()
        });
        judge(kind, &place, fitted, &others);
    }
    let mut files: Vec<_> =
        fs::read_dir(folder.join("tables"))?.map(|file| Ok(file?.path())).collect::<io::Result<_>>()?;
    files.sort();
    let mut random = fastrand::Rng::with_seed(1);
    for file in files {
        let text = fs::read_to_string(&file)?;
        let Some(place) = text.lines().find_map(|line| line.strip_prefix(TOPOLOGY)).map(Place::new) else { continue };
        let points: Vec<((Placed, f64), bool)> = rows(&file)?
            .iter()
            .filter_map(|row| {
                let threads = row[1].parse().ok()?;
                Some(((place.at(&row[0], threads), row[2].parse().ok()?), row[3] == "1"))
            })
            .collect();
        let split = |is_fitted: &dyn Fn(usize) -> bool| {
            let (fitted, others): (Vec<_>, Vec<_>) = (0..points.len()).partition(|at| is_fitted(*at));
            [fitted, others].map(|own| own.into_iter().map(|at| points[at].0.clone()).collect::<Vec<_>>())
        };
        let [fitted, others] = split(&|at| points[at].1);
        judge("tables", &place, fitted, &others);
        let ends = |at: usize| [1, place.cpus()].contains(&points[at].0.0.threads);
        let inner: Vec<usize> = (0..points.len()).filter(|at| !ends(*at)).collect();
        for _ in 0..20 {
            let two = random.choose_multiple(&inner, 2);
            let [fitted, others] = split(&|at| ends(at) || two.contains(&&at));
            judge("tables, two random points", &place, fitted, &others);
        }
    }
    Ok(all.into_iter().collect())
}

/// The lines of a table, without its heading and remarks.
fn rows(file: &Path) -> io::Result<Vec<Vec<String>>> {
    let bytes =
        unpacked(&file.to_string_lossy(), File::open(file)?).map_err(|error| io::Error::other(format!("{error:?}")))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    Ok(lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}
