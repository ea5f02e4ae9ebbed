//! Machines with known caps, and the one table of a large machine that is published whole.

mod coverage;
mod limits;

use charz_topology::{Source, discover};
use fastrand::Rng;

pub(crate) use crate::fixtures::Place;
use crate::{FAR, NoModel, Outcome, Placed, Table, Topology, fit, missed};

/// The rows of Figure 5 of arXiv 1106.2992: threads, then GB/s by dumb and by round-robin.
pub(crate) const T3_4: [(usize, f64, f64); 18] = [
    (1, 0.65, 0.65),
    (2, 1.25, 1.29),
    (3, 1.82, 1.95),
    (4, 2.38, 2.60),
    (6, 3.54, 3.82),
    (8, 4.66, 5.10),
    (12, 6.92, 7.65),
    (16, 9.23, 10.19),
    (24, 13.71, 15.25),
    (32, 17.97, 20.32),
    (48, 25.52, 30.40),
    (64, 29.13, 40.13),
    (96, 29.49, 59.28),
    (128, 29.90, 75.00),
    (192, 44.31, 101.99),
    (256, 58.59, 107.57),
    (384, 80.04, 107.56),
    (512, 93.36, 105.21),
];

#[test]
fn four_points_chosen_by_topology_predict_the_t3_4() {
    let place = Place::new("Package:4 Core:16 Group:2 PU:4");
    let mut table = Table::default();
    for (threads, dumb, round_robin) in T3_4 {
        let fitted = [("dumb", 1), ("dumb", 8), ("dumb", 128), ("round-robin", 512)];
        for (mapping, value) in [("dumb", dumb), ("round-robin", round_robin)] {
            let point = (place.at(mapping, threads), value);
            if fitted.contains(&(mapping, threads)) { table.fitted.push(point) } else { table.held_back.push(point) }
        }
    }
    let Outcome::Model(model) = fit(&place.topology, &table) else { panic!("{:?}", fit(&place.topology, &table)) };
    let error = missed(table.held_back.iter().map(|(placed, value)| (model.predict(placed).value, *value)));
    assert!(error.mean < 0.045 && error.worst < 0.16, "{error:?} {:?}", model.parameters());
    let held = table.held_back.iter().filter(|(placed, value)| {
        let [low, high] = model.predict(placed).interval;
        (low..=high).contains(value)
    });
    let held = held.count() as f64 / table.held_back.len() as f64;
    assert!(held >= 0.85, "{held}");
    // Not seen by the fit, the rest is judged by the distance.
    let Outcome::Model(model) = fit(&place.topology, &Table { held_back: Vec::new(), ..table }) else { panic!() };
    assert_eq!(model.predict(&place.at("dumb", 64)).distance, 1.0);
    assert!(model.predict(&place.at("dumb", 1024)).distance > 1.9);
}

/// Threads that share a core say nothing of cores where all cores are full.
#[test]
fn a_part_that_is_full_on_a_full_machine_only_is_not_known() {
    let place = Place::new("Package:2 Core:8 PU:2");
    let distances = |more: &[(&str, usize)]| {
        let spread = [1, 2, 4, 8, 16, 24, 32].map(|threads| ("round-robin", threads));
        let value = |(mapping, threads): (&str, usize)| (place.at(mapping, threads), threads.min(16) as f64);
        let fitted = spread.iter().chain(more).copied().map(value).collect();
        let Outcome::Model(model) = fit(&place.topology, &Table { fitted, held_back: Vec::new() }) else { panic!() };
        [("compact", 2), ("compact", 16), ("compact", 32), ("round-robin", 20)]
            .map(|(mapping, threads)| model.predict(&place.at(mapping, threads)).distance)
    };
    let [few, half, all, spread] = distances(&[]);
    assert!(few > FAR && half > FAR && [all, spread] == [1.0; 2], "{few} {half} {all} {spread}");
    assert_eq!(distances(&[("compact", 2)])[0], 1.0);
}

/// A machine with known caps and noise.
pub(crate) fn truth(random: &mut Rng, place: &Place) -> impl Fn(&Placed) -> f64 + use<> {
    let thread = 10.0;
    let mut caps: Vec<Option<f64>> = vec![None];
    let mut child = thread;
    let mut size = 1.0;
    for level in place.topology.levels.iter().skip(1) {
        let full = child * level.size as f64 / size;
        let scale = if random.f64() < 0.4 { None } else { Some(0.35 + 0.6 * random.f64()) };
        let cap = scale.map(|scale| full * scale);
        child = cap.unwrap_or(full);
        size = level.size as f64;
        caps.push(cap);
    }
    let norm = 4.0 + 6.0 * random.f64();
    move |placed: &Placed| {
        let rate = |loads: &Vec<f64>| {
            let caps = caps.iter().zip(loads).filter_map(|(cap, load)| Some(load / (*cap)?));
            let sum: f64 = caps.chain([loads[0] / thread]).map(|one| one.powf(norm)).sum();
            sum.powf(-1.0 / norm)
        };
        placed.threads as f64 * placed.loads.iter().map(rate).fold(f64::INFINITY, f64::min)
    }
}

pub(crate) fn noise(random: &mut Rng) -> f64 {
    (((0..12).map(|_| random.f64()).sum::<f64>() - 6.0) * 0.01).exp()
}

/// Of so many machines: those with a model, whose best placement is within 3% of the true best, and the share of held points.
fn draws(count: usize) -> [f64; 3] {
    let mut random = Rng::with_seed(32);
    let places =
        ["Package:2 Core:16 PU:2", "Package:4 Core:16 PU:1", "Package:2 L3Cache:4 Core:8 PU:1"].map(Place::new);
    let (mut models, mut good, mut held, mut all) = (0.0, 0.0, 0.0, 0.0);
    for at in 0..count {
        let place = &places[at % places.len()];
        let truth = truth(&mut random, place);
        let cpus = place.machine.strands.len();
        let package = cpus / place.machine.packages.len();
        let per_core = cpus / place.machine.cores.len();
        let mut table = Table::default();
        for (mapping, threads) in
            [("compact", 1), ("compact", per_core.max(package / 4)), ("compact", package), ("compact", cpus)]
        {
            let placed = place.at(mapping, threads);
            let value = truth(&placed) * noise(&mut random);
            table.fitted.push((placed, value));
        }
        let Outcome::Model(model) = fit(&place.topology, &table) else { continue };
        models += 1.0;
        let choices: Vec<Placed> = ["compact", "round-robin"]
            .iter()
            .flat_map(|mapping| (1..=6).map(move |power| (mapping, (1 << power).min(cpus))))
            .map(|(mapping, threads)| place.at(mapping, threads))
            .collect();
        let best = choices.iter().map(&truth).fold(0.0, f64::max);
        let chosen = choices
            .iter()
            .max_by(|one, other| model.predict(one).value.total_cmp(&model.predict(other).value))
            .unwrap();
        good += f64::from(u8::from(truth(chosen) >= 0.97 * best));
        for choice in &choices {
            let [low, high] = model.predict(choice).interval;
            all += 1.0;
            held += f64::from(u8::from((low..=high).contains(&truth(choice))));
        }
    }
    [models / count as f64, good / models, held / all]
}

#[test]
fn the_predicted_placement_loses_little_and_intervals_hold() {
    let [models, good, held] = draws(60);
    assert!(models >= 0.9 && good >= 0.9 && held >= 0.85, "models {models}, within 3%: {good}, held {held}");
}

#[test]
fn noise_has_no_model() {
    let place = Place::new("Package:4 Core:6 PU:2");
    let mut random = Rng::with_seed(4);
    let mut refused = 0;
    for _ in 0..20 {
        let point = |random: &mut Rng, threads: usize| (place.at("dumb", threads), 10.0 * (1.0 + 4.0 * random.f64()));
        let fitted = [1, 2, 12, 48].map(|threads| point(&mut random, threads)).to_vec();
        let held_back = [3, 4, 6, 8, 16, 24, 32].map(|threads| point(&mut random, threads)).to_vec();
        refused += usize::from(matches!(fit(&place.topology, &Table { fitted, held_back }), Outcome::None(_)));
    }
    assert!(refused >= 18, "{refused} of 20");
}

/// Tables of two machines of the T3-4 report that no family fits.
#[test]
fn the_x4470_and_magny_cours_have_no_model() {
    const ROWS: [(usize, f64, f64); 13] = [
        (1, 2.88, 3.53),
        (2, 5.72, 7.03),
        (3, 8.45, 10.53),
        (4, 10.39, 14.05),
        (6, 12.19, 19.43),
        (8, 20.99, 14.86),
        (12, 30.80, 22.77),
        (16, 41.17, 27.71),
        (24, 39.40, 33.04),
        (32, 45.85, 42.66),
        (48, 44.33, 46.39),
        (64, 49.63, 45.90),
        (96, 47.82, 44.33),
    ];
    for (description, of) in [("Package:4 Core:6 PU:2", 0), ("Package:4 NUMANode:2 Core:6 PU:1", 1)] {
        let place = Place::new(description);
        for fitted in [[1, 2, 12, 48], [1, 4, 12, 48], [1, 6, 24, 48]] {
            let mut table = Table::default();
            for (threads, x4470, magny) in ROWS {
                let point = (place.at("auto", threads), if of == 0 { x4470 } else { magny });
                if fitted.contains(&threads) { table.fitted.push(point) } else { table.held_back.push(point) }
            }
            let outcome = fit(&place.topology, &table);
            assert!(matches!(outcome, Outcome::None(_)), "{description} {fitted:?}: {outcome:?}");
        }
    }
}

#[test]
fn programs_follow_their_laws_where_placement_tells_nothing() {
    let place = Place::new("Core:16 PU:1");
    let threads = [1, 2, 3, 4, 6, 8, 12, 16];
    let table = |law: fn(f64) -> f64| Table {
        fitted: threads.iter().map(|n| (place.at("dumb", *n), law(*n as f64))).collect(),
        held_back: Vec::new(),
    };
    let collapsing = |n: f64| n / (1.0 + 0.05 * (n - 1.0) + 0.01 * n * (n - 1.0));
    let Outcome::Model(model) = fit(&place.topology, &table(collapsing)) else { panic!() };
    let predicted = model.predict(&place.at("dumb", 10)).value;
    assert!(model.name == "usl" && (predicted / collapsing(10.0) - 1.0).abs() < 0.02, "{} {predicted}", model.name);
    let serial = |n: f64| n / (1.0 + 0.08 * (n - 1.0));
    let Outcome::Model(model) = fit(&place.topology, &table(serial)) else { panic!() };
    assert!((model.predict(&place.at("dumb", 10)).value / serial(10.0) - 1.0).abs() < 0.03, "{}", model.name);
}

#[test]
fn too_little_is_no_model() {
    let place = Place::new("Package:2 Core:4 PU:2");
    let point = |threads| (place.at("dumb", threads), threads as f64);
    for fitted in [vec![], vec![point(1)], vec![point(1), point(2), point(2)]] {
        let outcome = fit(&place.topology, &Table { fitted, held_back: Vec::new() });
        assert!(matches!(outcome, Outcome::None(NoModel::FewPlacements { .. })));
    }
}

/// The points of the T3-4 with these mappings and threads.
fn t3_4(place: &Place, chosen: &[(&str, usize)]) -> Vec<(Placed, f64)> {
    let value = |(mapping, threads): &(&str, usize)| {
        let row = T3_4.iter().find(|(own, ..)| own == threads).unwrap();
        (place.at(mapping, *threads), if *mapping == "dumb" { row.1 } else { row.2 })
    };
    chosen.iter().map(value).collect()
}

#[test]
fn more_points_do_not_lose_the_model() {
    let place = Place::new("Package:4 Core:16 Group:2 PU:4");
    let deciding = [("dumb", 1), ("dumb", 8), ("dumb", 128), ("round-robin", 512)];
    for (others, checks) in
        [(&[][..], 0), (&[("round-robin", 128)], 1), (&[("round-robin", 128), ("round-robin", 192)], 2)]
    {
        let fitted = t3_4(&place, &[&deciding[..], others].concat());
        let outcome = fit(&place.topology, &Table { fitted, held_back: Vec::new() });
        let Outcome::Model(model) = outcome else { panic!("{others:?}: {outcome:?}") };
        assert_eq!(model.checked, checks, "{others:?}");
    }
}

#[test]
fn beyond_what_was_fitted_the_interval_reaches_from_what_was_measured_to_what_threads_do_alone() {
    let place = Place::new("Package:4 Core:16 Group:2 PU:4");
    let fitted = t3_4(&place, &[("dumb", 1), ("dumb", 2), ("dumb", 4)]);
    let Outcome::Model(model) = fit(&place.topology, &Table { fitted, held_back: Vec::new() }) else { panic!() };
    for (threads, dumb, round_robin) in T3_4.into_iter().filter(|(threads, ..)| *threads > 8) {
        for (mapping, value) in [("dumb", dumb), ("round-robin", round_robin)] {
            let [low, high] = model.predict(&place.at(mapping, threads)).interval;
            assert!((low..=high).contains(&value), "{mapping} {threads}: {value} {low} {high}");
            assert!(high <= 0.65 * 1.2 * threads as f64, "{mapping} {threads}: {high}");
        }
    }
}

/// Fitted where many threads share each socket, few threads lie between their share of that and all of it.
#[test]
fn what_few_threads_do_is_not_known_from_many() {
    let place = Place::new("Package:4 Core:16 Group:2 PU:4");
    let fitted = t3_4(&place, &[128, 192, 256, 384, 512].map(|threads| ("dumb", threads)));
    let Outcome::Model(model) = fit(&place.topology, &Table { fitted, held_back: Vec::new() }) else { panic!() };
    let mut held = 0;
    for (threads, dumb, round_robin) in T3_4 {
        for (mapping, value) in [("dumb", dumb), ("round-robin", round_robin)] {
            let prediction = model.predict(&place.at(mapping, threads));
            let [low, high] = prediction.interval;
            held += usize::from((low..=high).contains(&value));
            assert!(mapping == "round-robin" || (prediction.distance > FAR) == (threads < 128), "{threads}");
        }
    }
    assert!(held * 20 >= 17 * 2 * T3_4.len(), "{held} of {}", 2 * T3_4.len());
}

/// Magny-Cours has no model, however often its table is pasted; and four points that are pasted twice check nothing.
#[test]
fn copies_of_a_point_check_nothing() {
    let place = Place::new("Package:4 NUMANode:2 Core:6 PU:1");
    let rows = [(1, 3.53), (2, 7.03), (3, 10.53), (4, 14.05), (6, 19.43), (12, 22.77), (16, 27.71), (24, 33.04)];
    let rows: Vec<(Placed, f64)> = rows
        .into_iter()
        .chain([(32, 42.66), (48, 46.39)])
        .map(|(threads, value)| (place.at("dumb", threads), value))
        .collect();
    for copies in [1, 3] {
        let outcome = fit(&place.topology, &Table { fitted: vec![&rows[..]; copies].concat(), held_back: Vec::new() });
        assert!(matches!(outcome, Outcome::None(_)), "{copies}: {outcome:?}");
    }
    let four: Vec<(Placed, f64)> = [1, 12, 24, 48].map(|threads| (place.at("dumb", threads), threads as f64)).into();
    let Outcome::Model(model) = fit(&place.topology, &Table { fitted: [&four[..]; 2].concat(), held_back: Vec::new() })
    else {
        panic!()
    };
    assert_eq!(model.checked, 0);
    // Nor do copies make three points enough for a law, or one that is held back three.
    let flat = Place::new("Package:2 [NUMA] Core:16 PU:1");
    let named = |fitted: &[(usize, f64)], held_back: &[(usize, f64)]| {
        let points = |own: &[(usize, f64)]| own.iter().map(|(n, value)| (flat.at("compact", *n), *value)).collect();
        match fit(&flat.topology, &Table { fitted: points(fitted), held_back: points(held_back) }) {
            Outcome::Model(model) => model.name,
            Outcome::None(_) => "none",
        }
    };
    assert_eq!(named(&[(1, 10.0), (8, 55.0), (16, 50.0)].repeat(2), &[]), "placement");
    let four = [(1, 10.0), (4, 33.0), (8, 55.0), (16, 50.0)];
    assert_eq!(named(&four, &[(12, 53.0); 3]), "none", "one point that judges is too few for a law");
}

#[test]
fn values_that_contradict_each_other_and_cores_of_two_sizes_have_no_model() {
    let place = Place::new("Package:2 Core:8 PU:1");
    let table = |last: f64| {
        let fitted = [(1, 100.0), (8, 700.0), (16, 1400.0), (16, last)];
        let fitted = fitted.into_iter().map(|(threads, value)| (place.at("dumb", threads), value)).collect();
        Table { fitted, held_back: Vec::new() }
    };
    assert!(matches!(fit(&place.topology, &table(1380.0)), Outcome::Model(_)));
    assert!(matches!(fit(&place.topology, &table(140.0)), Outcome::None(_)));
    // Also where the value that contradicts another was held back.
    let Table { fitted, .. } = table(140.0);
    let table = Table { fitted: fitted[..3].to_vec(), held_back: fitted[3..].to_vec() };
    assert!(matches!(fit(&place.topology, &table), Outcome::None(NoModel::Contradiction { .. })));
    let mut machine = discover(&Source::of("Package:1 Core:8 PU:2")).unwrap();
    assert!(!Topology::of(&machine).has_kinds());
    machine.strands.remove(3);
    assert!(Topology::of(&machine).has_kinds());
    let mut machine = discover(&Source::of("Package:1 Core:16 PU:2")).unwrap();
    machine.strands.remove(31);
    assert!(!Topology::of(&machine).has_kinds(), "a CPU is offline");
}

/// A law of programs on one socket, of a machine whose second and third do as much again.
#[test]
fn a_law_says_nothing_of_parts_that_it_has_not_seen() {
    let place = Place::new("Package:4 Core:6 PU:2");
    let values = [(1, 2.88), (2, 5.72), (3, 8.45), (4, 10.39), (6, 12.19)];
    let fitted = values.map(|(threads, value)| (place.at("auto", threads), value)).into();
    if let Outcome::Model(model) = fit(&place.topology, &Table { fitted, held_back: Vec::new() }) {
        for (threads, value) in [(12, 30.8), (24, 39.4), (48, 44.33)] {
            let [low, high] = model.predict(&place.at("auto", threads)).interval;
            assert!((low..=high).contains(&value), "{threads}: {low} {high}");
        }
    }
}

#[test]
fn neither_more_threads_than_cpus_nor_a_place_of_another_name_says_anything() {
    let place = Place::new("Package:2 Core:4 PU:1");
    let point = |threads, value| (place.at("dumb", threads), value);
    let fitted = vec![point(1, 10.0), point(4, 30.0), point(8, 60.0)];
    let known = fit(&place.topology, &Table { fitted: fitted.clone(), held_back: Vec::new() });
    let more = [fitted.clone(), vec![point(16, 20.0)]].concat();
    let other = fit(&place.topology, &Table { fitted: more, held_back: vec![point(4, 31.0), point(9, 1.0)] });
    let (Outcome::Model(known), Outcome::Model(other)) = (&known, &other) else { panic!("{other:?}") };
    assert_eq!(other.predict(&place.at("dumb", 6)), known.predict(&place.at("dumb", 6)));
    assert_eq!(other.checked, 0);
    // Two threads on each of 16 CPUs show nothing of cores with both of their CPUs used.
    let place = Place::new("Package:2 [NUMA] Core:8 PU:2");
    let fitted = [(1, 10.0), (4, 39.0), (8, 70.0), (16, 100.0), (32, 98.0)];
    let fitted = fitted.map(|(threads, value)| (place.at("one-per-core", threads), value)).to_vec();
    assert!(!place.topology.holds(&fitted[4].0) && place.topology.holds(&place.at("auto", 32)));
    let all = fit(&place.topology, &Table { fitted: fitted.clone(), held_back: Vec::new() });
    let within = fit(&place.topology, &Table { fitted: fitted[..4].to_vec(), held_back: Vec::new() });
    let (Outcome::Model(all), Outcome::Model(within)) = (&all, &within) else { panic!("{all:?}") };
    let full = place.at("compact", 32);
    assert_eq!(all.predict(&full), within.predict(&full));
    assert!(all.predict(&full).distance > FAR);
}

#[test]
fn nothing_carries_over_to_parts_that_were_not_measured() {
    let [own, threaded, one, larger] =
        ["Package:2 Core:4 PU:1", "Package:2 Core:4 PU:2", "Package:1 Core:8 PU:1", "Package:4 Core:8 PU:1"]
            .map(Place::new);
    let adopted = |other: &Place| own.topology.adopted(&other.topology, &other.at("dumb", other.cpus()));
    assert_eq!(adopted(&threaded).unwrap_err(), "core");
    let [cached, both] = ["Package:2 L2:4 Core:1 PU:1", "Package:2 L2:4 Core:1 PU:2"].map(Place::new);
    assert_eq!(cached.topology.adopted(&both.topology, &both.at("dumb", 16)).unwrap_err(), "core");
    assert_eq!(one.topology.adopted(&own.topology, &own.at("dumb", 8)).unwrap_err(), "machine");
    assert!(adopted(&one).unwrap().1 && adopted(&larger).unwrap().1 && !adopted(&own).unwrap().1);
}

/// A machine whose values are known at these threads of a mapping, with its model.
fn modelled(description: &str, mapping: &str, values: &[(usize, f64)]) -> (Place, crate::Model) {
    let place = Place::new(description);
    let fitted = values.iter().map(|(threads, value)| (place.at(mapping, *threads), *value)).collect();
    let outcome = fit(&place.topology, &Table { fitted, held_back: Vec::new() });
    let Outcome::Model(model) = outcome else { panic!("{description}: {outcome:?}") };
    (place, model)
}

#[test]
fn neither_intervals_nor_caps_contradict_what_was_measured() {
    let granite = "Package:2 [NUMA(memory=384GiB)] L3:12(size=32MiB) L2:8(size=1MiB) L1d:1(size=32KiB) Core:1 PU:2";
    let (place, model) = modelled(granite, "compact", &[(1, 30.0), (2, 35.0), (192, 460.0), (384, 920.0)]);
    // On the full machine 16 threads do 38, and share more.
    let [low, high] = model.predict(&place.at("compact", 16)).interval;
    assert!(low > 33.0 && high > 150.0, "{low} {high}");
    let most = model.most(&place.topology);
    let measured = [("thread", 30.0), ("core", 35.0), ("socket", 460.0)];
    let is_above = |(part, value): &(&str, f64)| most.iter().any(|(own, most)| own == part && most > value);
    assert!(measured.iter().all(is_above) && most.iter().all(|(part, _)| part != "machine"), "{most:?}");
    // Each interval is wider than what the parts around it leave.
    let values = [("compact", 1, 10.0), ("compact", 4, 40.0), ("round-robin", 8, 80.0), ("round-robin", 32, 80.0)];
    let place = Place::new("Package:2 Core:8 PU:2");
    let fitted = values.map(|(mapping, threads, value)| (place.at(mapping, threads), value)).to_vec();
    let Outcome::Model(model) = fit(&place.topology, &Table { fitted, held_back: Vec::new() }) else { panic!() };
    let most = model.most(&place.topology);
    assert!(most.len() > 1 && most.windows(2).all(|two| two[0].1 <= two[1].1), "{most:?}");
    // What two threads on a core do is between what one does and what two cores do.
    let cores = [1, 2, 4, 8, 16].map(|cores| (cores, 10.0 * cores as f64));
    let (place, model) = modelled("Package:1 L3:1(size=32MiB) L2:16(size=1MiB) Core:1 PU:2", "compact-cores", &cores);
    let [low, high] = model.predict(&place.at("compact", 2)).interval;
    assert!((9.0..=10.0).contains(&low) && high > 20.0, "{low} {high}");
    assert_eq!(model.most(&place.topology).len(), 1, "{:?}", model.most(&place.topology));
}
