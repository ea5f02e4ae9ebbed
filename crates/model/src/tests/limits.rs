//! Where there is a model, and how far its intervals reach.

use super::{Place, modelled, noise};
use crate::{Model, Outcome, Placed, Table, fit, missed};

/// A machine whose values are known at these threads of a mapping: some fitted, others held back.
fn judged(description: &str, fitted: &[(usize, f64)], held_back: &[(usize, f64)]) -> (Place, Outcome) {
    let place = Place::new(description);
    let point = |(threads, value): &(usize, f64)| (place.at("compact", *threads), *value);
    let [fitted, held_back] = [fitted, held_back].map(|own| own.iter().map(point).collect());
    let table = Table { fitted, held_back };
    let outcome = fit(&place.topology, &table);
    (place, outcome)
}

fn is_held(model: &Model, placed: &Placed, value: f64) -> bool {
    let [low, high] = model.predict(placed).interval;
    (low..=high).contains(&value)
}

/// GB/s of kerncraft's machine file for the Xeon E5-2660 v2, by one and by two threads per core.
#[test]
fn memory_is_a_soft_roof() {
    let place = Place::new("Package:1 NUMANode:1 Core:10 PU:2");
    let points = |cores: &[(usize, f64)], threads: &[(usize, f64)]| -> Vec<(Placed, f64)> {
        let all = cores.iter().map(|one| ("compact-cores", one)).chain(threads.iter().map(|one| ("compact", one)));
        all.map(|(mapping, (threads, value))| (place.at(mapping, *threads), *value)).collect()
    };
    let fitted = points(&[(1, 11.87), (10, 46.67)], &[(2, 12.44), (20, 45.28)]);
    let others = points(&[(3, 31.32), (4, 38.41), (5, 43.4), (6, 46.05)], &[(6, 32.88), (8, 40.01), (10, 43.81)]);
    let outcome = fit(&place.topology, &Table { fitted, held_back: Vec::new() });
    let Outcome::Model(model) = outcome else { panic!("{outcome:?}") };
    let error = missed(others.iter().map(|(placed, value)| (model.predict(placed).value, *value)));
    assert!(error.mean < 0.055 && error.worst < 0.09, "{error:?}");
}

/// One socket of two: what limits it is the socket, or the program itself.
#[test]
fn of_the_other_socket_the_first_shows_little() {
    let place = Place::new("Package:2 [NUMA] Core:16 PU:1");
    let modelled = |counts: &[usize], value: &mut dyn FnMut(usize) -> f64| {
        let fitted = counts.iter().map(|n| (place.at("compact", *n), value(*n))).collect();
        let outcome = fit(&place.topology, &Table { fitted, held_back: Vec::new() });
        let Outcome::Model(model) = outcome else { panic!("{counts:?}: {outcome:?}") };
        model
    };
    let counts = [1, 2, 4, 8, 12, 16];
    let values = [(1, 12.0), (2, 23.5), (4, 44.0), (6, 60.0), (8, 70.0), (12, 74.0), (16, 70.0)];
    let socket = |n: usize| values.iter().find(|(own, _)| *own == n).unwrap().1;
    let serial = |n: usize| 10.0 * n as f64 / (1.0 + 0.05 * (n as f64 - 1.0));
    // Of so many sockets.
    let limited = |sockets: usize, n: usize| sockets as f64 * socket(n / sockets);
    let truths: [&dyn Fn(usize, usize) -> f64; 2] = [&limited, &|_, n| serial(n)];
    for (value, counts) in truths.into_iter().flat_map(|own| [(own, &counts[..]), (own, &[1, 8, 16])]) {
        let mut held = 0;
        for seed in 0..20 {
            let mut random = fastrand::Rng::with_seed(seed);
            let model = modelled(counts, &mut |n| value(1, n) * noise(&mut random).powi(2));
            for n in [8, 12, 16] {
                held += usize::from(is_held(&model, &place.at("round-robin", n), value(2, n)));
            }
            // The first socket is known.
            assert_eq!(model.predict(&place.at("compact", 14)).distance, 1.0);
        }
        assert!(held >= 54, "{held} of 60, {counts:?}");
    }
    // No law of programs bends so sharply.
    let model = modelled(&counts, &mut |n| 10.0 * n.min(8) as f64);
    let found = model.predict(&place.at("round-robin", 16));
    assert!(found.distance == 1.0 && found.interval[0] > 120.0, "{found:?}");
    // Points show both sockets.
    let full = modelled(&[&counts[..], &[32]].concat(), &mut serial.clone());
    assert_eq!(full.predict(&place.at("round-robin", 16)).distance, 1.0);
}

/// Cores whose second thread adds nearly half, and whose eighth adds little, in sockets that end sharply.
#[test]
fn cores_of_many_threads_bend_more_softly_than_sockets() {
    const GAINS: [f64; 8] = [1.0, 1.45, 1.69, 1.89, 1.93, 1.97, 2.0, 2.02];
    let place = Place::new("Package:2 Core:10 PU:8");
    let value =
        |cores: usize, threads: usize| (cores as f64 * GAINS[threads - 1]).min(18.0 * cores.div_ceil(10) as f64);
    let fitted = [1, 8, 80, 160].map(|threads: usize| {
        let cores = threads.div_ceil(8);
        (place.at("compact", threads), value(cores, threads / cores))
    });
    let Outcome::Model(model) = fit(&place.topology, &Table { fitted: fitted.into(), held_back: Vec::new() }) else {
        panic!()
    };
    let one = (2..8).map(|threads| (place.at("compact", threads), value(1, threads)));
    let others = one.chain([2, 5, 10, 20].map(|cores| (place.at("compact-cores", cores), value(cores, 1))));
    let error = missed(others.map(|(placed, value)| (model.predict(&placed).value, value)));
    assert!(error.mean < 0.035 && error.worst < 0.12, "{error:?} {:?}", model.parameters());
}

/// Points of which a few are missed by much: the mean error says too little of them.
#[test]
fn a_model_that_misses_little_is_one_and_its_intervals_hold() {
    let description = "Package:1 Core:16 PU:1";
    let fitted = [(1, 10.0), (2, 20.0), (8, 80.0), (16, 160.0)];
    let factor = |threads: usize| if threads.is_multiple_of(5) { 0.84 + threads as f64 / 250.0 } else { 1.0 };
    let others: Vec<(usize, f64)> = [3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15]
        .map(|threads| (threads, factor(threads) * 10.0 * threads as f64))
        .into();
    let (place, outcome) = judged(description, &fitted, &others);
    let Outcome::Model(model) = outcome else { panic!("{outcome:?}") };
    let held = others.iter().filter(|(threads, value)| is_held(&model, &place.at("compact", *threads), *value));
    assert!(held.count() as f64 >= 0.85 * others.len() as f64, "{:?}", model.parameters());
}

#[test]
fn four_points_are_enough_for_a_law_where_others_judge_it() {
    let law = |n: usize| (n, n as f64 / (1.0 + 0.05 * (n as f64 - 1.0) + 0.01 * (n * (n - 1)) as f64));
    let (fitted, others) = ([1, 4, 8, 16].map(law), [2, 6, 12].map(law));
    let name = |others: &[(usize, f64)]| match judged("Core:16 PU:1", &fitted, others).1 {
        Outcome::Model(model) => model.name,
        Outcome::None(_) => "none",
    };
    assert_eq!(name(&others), "usl");
    assert_ne!(name(&others[..2]), "usl", "two judge nothing");
}

/// GB/s of kerncraft's machine file for the Xeon Gold 6248, one of whose nodes was filled step by step.
#[test]
fn unevenly_filled_nodes_are_not_known_from_one_of_them() {
    let description = "Package:1 NUMANode:2 Core:10 PU:1";
    let fitted = [(1, 15.21), (2, 29.43), (3, 36.6), (4, 40.3), (6, 43.9), (8, 44.14), (10, 44.1), (20, 85.41)];
    let (place, model) = modelled(description, "compact", &fitted);
    for (cores, value) in [(12, 54.93), (14, 65.02), (16, 75.55), (18, 84.7)] {
        let placed = place.at("compact", cores);
        assert!(is_held(&model, &placed, value), "{cores}: {value} {:?}", model.predict(&placed));
    }
    let width = |model: &Model, cores: usize| {
        let [low, high] = model.predict(&place.at("compact", cores)).interval;
        high / low
    };
    // One that was measured shows what the others do.
    let shown = (15, model.predict(&place.at("compact", 15)).value);
    let (_, known) = modelled(description, "compact", &[&fitted[..], &[shown]].concat());
    let widths = [width(&model, 17), width(&known, 17), width(&model, 20)];
    assert!(widths[0] > 1.3 && widths[1] < 1.2 && widths[2] < widths[0], "{widths:?}");
}

/// Where all fitted threads share cores.
#[test]
fn threads_do_no_more_than_so_many_of_the_least_or_the_full_machine() {
    let noise = 1.16;
    for (description, fitted, wanted, most) in [
        ("Package:1 Core:4 PU:2", &[(2, 14.0), (4, 28.0), (6, 30.0)][..], ("round-robin", 4), 4.0 * 14.0),
        ("Package:1 Core:4 PU:2", &[(2, 14.0), (4, 28.0), (6, 30.0)], ("round-robin", 3), 3.0 * 14.0),
        ("Package:1 Core:12 PU:2", &[(2, 14.0), (8, 56.0), (16, 80.0), (24, 110.0)], ("round-robin", 2), 28.0),
    ] {
        let (place, model) = modelled(description, "compact", fitted);
        let high = model.predict(&place.at(wanted.0, wanted.1)).interval[1];
        assert!(high <= most * noise * 1.001, "{description} {wanted:?}: {high}");
        let full = model.predict(&place.at("compact", place.cpus())).interval[1];
        assert!((1..=place.cpus() / 2).all(|n| model.predict(&place.at("round-robin", n)).interval[1] <= full * 1.001));
    }
}

/// A machine on which each thread does as much as any other, seen with noise: the more points, the higher the largest.
#[test]
fn intervals_of_many_noisy_points_hold() {
    let place = Place::new("Package:4 [NUMA] Core:32 PU:1");
    let (mut held, mut all) = (0, 0);
    for seed in 0..8 {
        let mut random = fastrand::Rng::with_seed(seed);
        // Uniform noise with a standard deviation of 3%.
        let mut value = |threads: usize| 10.0 * threads as f64 * (1.0 + 0.104 * (random.f64() - 0.5));
        let (fitted, others): (Vec<usize>, Vec<usize>) = (1..=128).partition(|threads| threads % 3 == 1);
        let fitted = fitted.into_iter().map(|threads| (place.at("compact", threads), value(threads))).collect();
        let held_back: Vec<_> =
            others.into_iter().map(|threads| (place.at("compact", threads), value(threads))).collect();
        let Outcome::Model(model) = fit(&place.topology, &Table { fitted, held_back: held_back.clone() }) else {
            panic!()
        };
        let is_held = |(placed, value): &&(Placed, f64)| {
            let [low, high] = model.predict(placed).interval;
            (low..=high).contains(value)
        };
        (held, all) = (held + held_back.iter().filter(is_held).count(), all + held_back.len());
    }
    assert!(held as f64 >= 0.87 * all as f64, "{held} of {all}");
}

/// GB/s of the triad of kerncraft's machine file for the Xeon E5-2690 v2, by one and by two threads per core.
#[test]
fn a_core_of_two_threads_bends_no_socket() {
    let place = Place::new("Package:1 Core:10 PU:2");
    let point = |(mapping, threads, value): &(&str, usize, f64)| (place.at(mapping, *threads), *value);
    let ends =
        [("compact-cores", 1, 12.17), ("compact", 2, 11.55), ("compact-cores", 10, 38.27), ("compact", 20, 37.71)];
    let cores = [21.8, 29.69, 34.69, 37.15, 38.07, 38.51, 38.56, 38.5].into_iter().zip(2..);
    let pairs = [21.0, 28.79, 33.42, 36.18, 37.42, 38.14, 38.16, 37.9].into_iter().zip(2..);
    let cores = cores.map(|(value, cores)| ("compact-cores", cores, value));
    let others: Vec<_> = cores.chain(pairs.map(|(value, cores)| ("compact", 2 * cores, value))).collect();
    let table = Table { fitted: ends.iter().map(point).collect(), held_back: Vec::new() };
    let Outcome::Model(model) = fit(&place.topology, &table) else { panic!() };
    let error = missed(others.iter().map(point).map(|(placed, value)| (model.predict(&placed).value, value)));
    assert!(error.mean < 0.035 && error.worst < 0.1, "{error:?} {:?}", model.parameters());
}

/// Two threads of a core do a quarter more than one, and were measured on the full machine only.
#[test]
fn threads_of_a_core_share_it_where_nothing_else_shows_what_they_do() {
    let fitted = [(1, 10.0), (20, 200.0), (40, 400.0), (80, 500.0)];
    let (place, model) = modelled("Package:2 Core:20 PU:2", "round-robin", &fitted);
    for (mapping, threads, value) in [("round-robin", 48, 300.0), ("round-robin", 64, 400.0), ("compact", 2, 12.5)] {
        let found = model.predict(&place.at(mapping, threads)).value;
        assert!((found / value - 1.0).abs() < 0.1, "{mapping} {threads}: {found} {:?}", model.parameters());
    }
}

/// Four nodes whose threads take work as they finish it: the nodes add up.
#[test]
fn work_that_threads_share_shows_where_nodes_are_filled_unevenly() {
    let description = "Package:2 NUMANode:2 Core:9 PU:1";
    let node = |threads: usize| (threads as f64 * 10.0).powi(-4) + 40_f64.powi(-4);
    let sum = |threads: usize| {
        let last = threads % 9;
        let full = (threads / 9) as f64 * node(9).powf(-0.25);
        (threads, full + if last > 0 { node(last).powf(-0.25) } else { 0.0 })
    };
    let (fitted, others) = ([1, 4, 9, 36].map(sum), [11, 14, 20, 24, 30, 33].map(sum));
    let (place, unseen) = modelled(description, "compact", &fitted);
    assert!(!unseen.shares_work);
    assert!(others.iter().all(|(threads, value)| is_held(&unseen, &place.at("compact", *threads), *value)));
    let (_, outcome) = judged(description, &fitted, &others);
    let Outcome::Model(model) = outcome else { panic!("{outcome:?}") };
    let error =
        missed(others.map(|(threads, value)| (model.predict(&place.at("compact", threads)).value, value)).into_iter());
    assert!(model.shares_work && error.worst < 0.05, "{error:?}");
}
