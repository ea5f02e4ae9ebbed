use super::amounts::{ALONE, BESIDE_OTHERS, longest_span};
use super::*;
use crate::fixtures::{predictor, request};
use charz_data::machine::Kind;
use charz_data::report::MemoryHome;
use charz_kernels::Class;
use charz_topology::{Source, discover};

fn t3_4() -> Machine {
    discover(&Source::Synthetic("Package:4 Core:16 Group:2 PU:4".into())).unwrap()
}

fn plan(request: &Request, limits: &Limits, predictor: &Predictor) -> Plan {
    let machine = t3_4();
    let fitted = request.fit(&machine, limits).unwrap();
    Plan::new(request, &fitted, limits, predictor)
}

/// Packages of 64 strands that share eight caches, as today's servers have them, and the T3-4, on which a step takes 2 ns, a pass over
/// memory 0.1 ns a byte and touching it 0.5 ns.
#[test]
fn a_default_sweep_fits_its_budget_on_a_machine_of_any_size() {
    let servers = [1, 4, 24, 64].map(|packages| {
        format!("Package:{packages} [NUMA(memory=256GB)] L3:8(size=32MiB) L2:8(size=1MiB) Core:1 PU:1")
    });
    let t3_4 = "Package:4 [NUMA(memory=128GB)] L2:1(size=6MiB) Core:16 Group:2 PU:4".to_owned();
    for description in servers.into_iter().chain([t3_4]) {
        let machine = discover(&Source::Synthetic(description.clone())).unwrap();
        let strands = machine.usable_strands().count();
        let kernels = ["arith-int", "arith-float", "mem-read", "mem-write-data"];
        let request = Request {
            mappings: None,
            repetitions: None,
            invocations: Invocations::default(),
            budget: Budget::Fitting,
            params: Params { size_bytes: 256 << 20, ..Params::SMALL },
            ..request(&kernels, "dumb", "auto")
        };
        let rates = [(2.0, 0.0), (2.0, 0.0), (0.1, 0.5), (0.1, 0.5)];
        let rates = kernels.into_iter().zip(rates).map(|(kernel, (timed, around))| (kernel, timed, around));
        let predictor = Predictor::with_rates(strands, rates).on(&machine, strands);
        let limits = Limits::of(&machine);
        let plan = Plan::new(&request, &request.fit(&machine, &limits).unwrap(), &limits, &predictor);
        let (predicted, half) = (plan.predicted(), plan.budget / 2);
        assert!(predicted <= half, "{description}: {predicted:?} of {half:?} with {:?}", plan.threads());
        for (kernel, workers) in kernels.iter().flat_map(|kernel| [1, strands].map(|workers| (*kernel, workers))) {
            let is_it = |cell: &&PlannedCell| *cell.kernel.card().name == *kernel && cell.seats.len() == workers;
            assert!(plan.runnable().any(|cell| is_it(&cell)), "{description}: {kernel} of {workers}");
        }
    }
}

/// Every iteration takes 10 ns and every byte nothing.
#[test]
fn automatic_iterations_take_as_long_as_precision_needs_where_the_budget_has_it() {
    // 3 repetitions of 10 ns a step.
    let (alone, beside) = (predictor(&["arith-int"]), predictor(&["arith-int"]).beside_others());
    for (budget, predictor, expected) in [
        (1_000_000, &alone, 1_000_000),
        (1_000_000, &beside, 3_500_000),
        (3000, &beside, 3_500_000),
        (1000, &beside, 2_500_000),
        (400, &beside, 2_500_000),
        (0, &beside, 1_000_000),
    ] {
        let mut request = request(&["arith-int"], "dumb", "1");
        request.budget = Budget::Of(Duration::from_millis(budget));
        let plan = plan(&request, &Limits::unlimited(), predictor);
        assert_eq!(plan.params.iterations, expected, "budget {budget} ms");
    }
    let mut request = request(&["arith-int"], "dumb", "1");
    request.budget = Budget::Of(Duration::ZERO);
    request.iterations = Some(7_000_000);
    let plan = plan(&request, &Limits::unlimited(), &predictor(&["arith-int"]));
    assert_eq!(plan.params.iterations, 7_000_000, "asked for explicitly");
}

/// Where the budget allows it; the best of more would be another number.
#[test]
fn the_repetitions_of_an_invocation_take_the_turns_of_a_scheduler_where_others_have_some() {
    let ms = Duration::from_millis;
    let caches = "L3:1(size=32MiB) L2:2(size=1MiB) L1d:1(size=32KiB) Core:1 PU:1";
    let machine = discover(&Source::Synthetic(caches.into())).unwrap();
    let alone = Predictor::with_rates(2, [("level-read", 1.0, 0.0), ("flag", 1.0, 0.0)]);
    let beside = alone.clone().beside_others();
    for (predictor, long) in [(&alone, ALONE.all), (&beside, BESIDE_OTHERS.all)] {
        let repetitions = |kernel: &str, budget: u64, span: Option<Duration>| {
            let budget = Budget::Of(ms(budget));
            let request = Request { repetitions: None, budget, span, ..request(&[kernel], "dumb", "2") };
            let limits = Limits::unlimited();
            let plan = Plan::new(&request, &request.fit(&machine, &limits).unwrap(), &limits, predictor);
            let all = |cell: &PlannedCell| plan.params.span() * cell.repetitions as u32;
            plan.cells.iter().map(|cell| (cell.level.clone(), all(cell))).collect::<Vec<_>>()
        };
        assert!(repetitions("flag", 600, None).iter().all(|(_, all)| *all >= long));
        assert!(repetitions("flag", 0, None).iter().all(|(_, all)| *all < long));
        assert!(repetitions("flag", 600, Some(ms(20))).iter().all(|(_, all)| *all == ms(40)), "it was asked for");
        let levels = repetitions("level-read", 2000, None);
        assert!(levels.len() > 2, "{levels:?}");
        for (level, all) in levels {
            match level.as_deref() {
                Some("L1" | "L2") => assert!(all >= long, "{level:?}: {all:?}"),
                _ => assert_eq!(all, ms(50), "{level:?}: five, as in every sweep"),
            }
        }
    }
}

#[test]
fn a_sweep_gets_more_time_only_where_its_least_does_not_fit() {
    let planned = |budget: Budget, kernels: &[&str]| {
        let mut request = request(kernels, "dumb", "1");
        (request.budget, request.invocations) = (budget, Invocations { least: 1000, most: 1000, counted: 0 });
        plan(&request, &Limits::unlimited(), &predictor(&["arith-int", "arith-float"]))
    };
    let budget = |kernels: &[&str]| planned(Budget::Fitting, kernels).budget;
    // 1,000 invocations of 3 repetitions of at least 10 ms take 30 s per kernel, beside what each takes around them.
    assert_eq!(budget(&["arith-int"]), Budget::Fitting.least());
    assert!(budget(&["arith-int", "arith-float"]) > Budget::Fitting.least());
    // What has a budget of its own gets that, or what its plan takes on a busy machine.
    let [short, long] = [1, 10_000].map(|secs| planned(Budget::Planned(Duration::from_secs(secs)), &["arith-int"]));
    assert!(short.budget > short.predicted() && short.shortfall(short.predicted()).is_none(), "{:?}", short.budget);
    assert_eq!(long.budget, Duration::from_secs(10_000));
}

#[test]
fn a_sweep_is_brief_unless_its_time_was_asked_for() {
    let is_brief = |budget| {
        let request = Request { budget, ..request(&["arith-int"], "dumb", "1") };
        plan(&request, &Limits::unlimited(), &predictor(&["arith-int"])).is_brief
    };
    let of = Budget::Of(Budget::Fitting.least());
    assert_eq!([Budget::Fitting, of, Budget::Quick].map(is_brief), [true, false, false]);
}

#[test]
fn of_too_many_threads_powers_of_8_remain() {
    let machine = discover(&Source::Synthetic("Package:2 Core:128 PU:2".into())).unwrap();
    let series = |least| {
        let mut request = request(&["arith-int"], "dumb", "1");
        (request.threads, request.invocations) = (Threads::Auto, Invocations { least, most: least, counted: 0 });
        let limits = Limits::unlimited();
        let plan = Plan::new(&request, &request.fit(&machine, &limits).unwrap(), &limits, &predictor(&["arith-int"]));
        plan.cells.iter().map(|cell| cell.seats.len()).collect::<Vec<_>>()
    };
    let all: Vec<_> = (1..=40).map(|times| series(10 * times)).collect();
    assert!(all.contains(&vec![1, 2, 8, 64, 128, 256, 512]), "{all:?}");
}

#[test]
fn a_quick_sweep_gets_more_time_where_blocks_past_the_caches_alone_take_longer() {
    let planned = |size_bytes| {
        let mut request = request(&["arith-int", "mem-read"], "dumb", "1");
        (request.budget, request.params.size_bytes) = (Budget::Quick, size_bytes);
        plan(&request, &Limits::unlimited(), &predictor(&["arith-int", "mem-read"]))
    };
    let (small, large, huge) = (planned(1 << 20), planned(512 << 20), planned(64 << 30));
    assert_eq!((small.budget, huge.budget), (QUICK_BUDGET, LARGER_QUICK_BUDGET), "{:?}", small.predicted());
    assert!(large.budget > QUICK_BUDGET && large.shortfall(large.budget).is_none(), "{:?}", large.predicted());
    assert_eq!(huge.params.iterations, 1_000_000, "arithmetic adds nothing to what exceeds the budget");
    let remedy = huge.shortfall(huge.budget).unwrap();
    assert!(remedy.contains("leave out --quick"), "{remedy}");
    // A program's first run may take all of it.
    assert_eq!(Budget::Quick.most(), huge.budget);
}

#[test]
fn workers_that_a_class_or_a_mix_does_not_take_are_skipped() {
    for (kernel, most) in [("npb-lu", 10), ("cmt-compute", 9)] {
        let mut request = request(&[kernel], "dumb", "9,10,11");
        (request.params.class, request.params.mix) = (Class::S, "1:1:1".parse().unwrap());
        request.asked.lists.push((&params::CLASS, vec![request.params]));
        for cell in plan(&request, &Limits::unlimited(), &predictor(&[])).cells {
            let (workers, why) = (cell.seats.len(), cell.obstacle);
            assert_eq!(why.is_some(), workers > most, "{kernel} x{workers}: {why:?}");
            assert!(why.is_none_or(|why| why.contains(&format!("not {workers}"))));
        }
    }
}

#[test]
fn kernels_that_are_about_another_cpu_need_one() {
    let needing = ["loaded-read", "migrate-warm", "cache-read-other", "c2c-cas", "interrupted"];
    let taking_turns = ["futex-wake", "barrier-std", "alloc-system-remote", "pool-std"];
    let short = |synthetic: &str| {
        let machine = discover(&Source::Synthetic(synthetic.into())).unwrap();
        let request = request(&[&needing[..], &taking_turns].concat(), "dumb", "2");
        let limits = Limits::of(&machine);
        let cells = Plan::new(&request, &request.fit(&machine, &limits).unwrap(), &limits, &predictor(&[])).cells;
        let is_short = |cell: &&PlannedCell| {
            cell.obstacle.as_ref().is_some_and(|why| *why == "needs 2 CPUs, one per thread; usable: 1")
        };
        cells.iter().filter(is_short).map(|cell| cell.kernel.card().name.to_string()).collect::<BTreeSet<_>>()
    };
    assert_eq!(short("PU:1"), needing.map(str::to_owned).into());
    assert_eq!(short("PU:2"), BTreeSet::new());
}

#[test]
fn no_model_predicts_where_kinds_of_core_differ() {
    let mut machine = t3_4();
    let request = Request { adaptive: true, ..request(&["arith-int"], "dumb", "auto") };
    let adaptive = |machine: &Machine| {
        let limits = Limits::unlimited();
        Plan::new(&request, &request.fit(machine, &limits).unwrap(), &limits, &predictor(&["arith-int"])).adaptive
    };
    assert!(adaptive(&machine));
    let kind = |rank| Kind { speed_rank: Some(rank), how_known: String::new(), infos: Vec::new(), strands: 256 };
    machine.kinds = [0, 1].map(kind).into();
    assert!(!adaptive(&machine));
}

/// The time of an operation is not predicted, nor is a kernel with few cells: all of both are measured, and take their time.
#[test]
fn only_what_a_model_predicts_waits_for_it() {
    let machine = t3_4();
    let limits = Limits::unlimited();
    let plan = |kernel: &'static str, threads: &'static str| {
        let request = Request { adaptive: true, ..request(&[kernel], "dumb", threads) };
        Plan::new(&request, &request.fit(&machine, &limits).unwrap(), &limits, &predictor(&[kernel]))
    };
    for (kernel, threads, waits) in [
        ("arith-int", "1,2,4,8,16,32,64,128,256", true),
        ("arith-int", "1,2", false),
        ("chase-random", "1,2,4,8,16,32,64,128,256", false),
    ] {
        let chosen = plan(kernel, threads);
        assert_eq!(chosen.is_open().contains(&true), waits, "{kernel} {threads}");
        let all: Duration = chosen.runnable().map(|cell| cell.predicted).sum();
        let fewest = u32::try_from(chosen.invocations.fewest()).unwrap();
        assert_eq!(chosen.predicted() < all * fewest, waits, "{kernel} {threads}");
    }
}

/// A socket of today has a cache of hundreds of MiB, and four times that for each of hundreds of threads is more memory than there is.
#[test]
fn blocks_of_many_threads_pass_the_caches_together() {
    let machine = discover(&Source::Synthetic("pack:2 l3:1(size=528482304) core:128 pu:2".into())).unwrap();
    let planned = |asked: Asked| {
        let request = Request { asked, ..request(&["mem-read"], "compact", "1,256,512") };
        let resolved = request.fit(&machine, &Limits::unlimited()).unwrap();
        let cells = Plan::new(&request, &resolved, &Limits::unlimited(), &predictor(&["mem-read"])).cells;
        cells.iter().map(|cell| (cell.seats.len() as u64, cell.footprint_bytes, cell.level.clone())).collect::<Vec<_>>()
    };
    let all = 4 * 528_482_304;
    for (workers, footprint, level) in planned(Asked::default()) {
        let packages = workers.div_ceil(256);
        let most = (packages * all).max(workers * (32 << 20)) + workers * (2 << 20);
        assert!((packages * all..=most).contains(&footprint), "{workers}: {footprint}");
        assert_eq!(level.as_deref(), Some("memory"));
    }
    // What the source fixes is no block for memory, though it has its size.
    let fixed = request(&["pages-touch"], "compact", "1,2");
    let machine = discover(&Source::Synthetic("l3:1(size=33554432) core:8 pu:1".into())).unwrap();
    let resolved = fixed.fit(&machine, &Limits::unlimited()).unwrap();
    let cells = Plan::new(&fixed, &resolved, &Limits::unlimited(), &predictor(&["pages-touch"])).cells;
    assert!(cells.iter().all(|cell| cell.block_bytes.is_none()));
    let asked = planned(Asked { sizes: Some(AskedSizes::List(vec![1 << 30, 1 << 31])), ..Asked::default() });
    assert!(asked.iter().all(|(workers, footprint, _)| *footprint >= workers << 30), "{asked:?}");
}

#[test]
fn a_block_larger_than_the_memory_is_refused_where_it_was_asked_for() {
    let mut limits = Limits::unlimited();
    limits.memory_total_bytes = Some((1 << 20) - 1);
    let fit = |kernels: &[&str], sizes| {
        let request = request(kernels, "dumb", "1");
        let asked = Asked { sizes, ..request.asked.clone() };
        Request { asked, ..request }.fit(&t3_4(), &limits).err().map(|error| error.to_string())
    };
    let asked = || Some(AskedSizes::List(vec![1 << 20]));
    let error = fit(&["arith-int", "mem-read"], asked()).unwrap();
    assert!(error.contains("--size") && error.contains("1 MiB"), "{error}");
    assert_eq!(fit(&["arith-int"], asked()), None);
    // What else was asked for is measured.
    assert_eq!(fit(&["arith-int", "mem-read"], None), None);
}

#[test]
fn without_transparent_huge_pages_those_that_were_not_asked_for_are_base_pages() {
    use charz_kernels::PageKind::{Huge2M, Small, Transparent};
    let kinds = |kernel: &str, fitting_pages: bool, transparent_pages: bool| {
        let mut request = request(&[kernel], "dumb", "1");
        (request.asked.fitting_pages, request.params.pages) = (fitting_pages, Transparent);
        if !fitting_pages {
            request.asked.lists = vec![(&params::PAGES, params::PAGES.list("thp").unwrap())];
        }
        let plan = plan(&request, &Limits { transparent_pages, ..Limits::unlimited() }, &predictor(&[]));
        plan.cells.iter().map(|cell| cell.point.params(&plan.params).pages).collect::<BTreeSet<_>>()
    };
    for (kernel, usual, without) in [
        ("mem-read", vec![Transparent], vec![Small]),
        ("level-read", vec![Transparent], vec![Small]),
        ("chase-chains", vec![Transparent], vec![Small]),
        ("chase-random", vec![Small, Transparent], vec![Small]),
        ("pages-touch", vec![Small, Transparent, Huge2M], vec![Small, Huge2M]),
    ] {
        assert_eq!(kinds(kernel, true, true), usual.into_iter().collect(), "{kernel}");
        assert_eq!(kinds(kernel, true, false), without.into_iter().collect(), "{kernel}");
        assert_eq!(kinds(kernel, false, false), [Transparent].into(), "{kernel}: asked for");
    }
}

#[test]
fn a_single_place_of_memory_is_a_cells_own_unless_it_is_the_usual_one() {
    let machine = discover(&Source::Synthetic("NUMA:2 Core:2 PU:1".into())).unwrap();
    let of = |place: &str| {
        let mut request = request(&["mem-read"], "dumb", "2");
        request.asked.lists = vec![(&params::MEMORY, params::MEMORY.list(place).unwrap())];
        let fitted = request.fit(&machine, &Limits::unlimited())?;
        let plan = Plan::new(&request, &fitted, &Limits::unlimited(), &predictor(&[]));
        Ok::<_, PlanError>(plan.cells[0].point.memory)
    };
    assert_eq!(of("local").unwrap(), None);
    assert_eq!(of("first").unwrap(), Some(MemoryHome::First));
    let refused = of("node:7").unwrap_err().to_string();
    assert!(refused.starts_with("--memory: no NUMA node 7"), "{refused}");
}

#[test]
fn what_is_bound_to_a_node_takes_half_of_it_at_most() {
    let mut machine = discover(&Source::Synthetic("Package:2 [NUMA(memory=64GiB)] Core:8 PU:1".into())).unwrap();
    let obstacle = |machine: &Machine, place: &str, mapping: &str, gib: u64| {
        let mut request = request(&["mem-read"], mapping, "8");
        request.params.size_bytes = gib << 30;
        request.asked.lists = vec![(&params::MEMORY, params::MEMORY.list(place).unwrap())];
        let limits = Limits::of(machine);
        let plan = Plan::new(&request, &request.fit(machine, &limits).unwrap(), &limits, &predictor(&[]));
        plan.cells[0].obstacle.clone()
    };
    for (place, mapping) in [("node:1", "compact"), ("first", "round-robin"), ("remote", "compact")] {
        let reason = obstacle(&machine, place, mapping, 7).unwrap_or_else(|| panic!("{place} {mapping}"));
        assert!(reason.contains("NUMA node") && reason.contains("56") && reason.contains("32"), "{reason}");
        assert_eq!(obstacle(&machine, place, mapping, 3), None, "{place} {mapping}");
    }
    // Blocks that are apart, and those that may go elsewhere.
    for (place, mapping) in [("remote", "round-robin"), ("interleaved", "compact"), ("local", "compact")] {
        assert_eq!(obstacle(&machine, place, mapping, 7), None, "{place} {mapping}");
    }
    machine.numa_nodes[1].memory_bytes = None;
    assert!(obstacle(&machine, "local", "compact", 7).is_some(), "what is known of the memory counts");
}

/// The class that a plan gives to `npb-is` at 1 ns a key, three repetitions of one thread.
fn class_of(budget: Duration, memory_budget_bytes: Option<u64>, asked: Option<Class>) -> Class {
    class_at(1.0, Budget::Of(budget), memory_budget_bytes, asked)
}

fn class_at(nanos: f64, budget: Budget, memory_budget_bytes: Option<u64>, asked: Option<Class>) -> Class {
    let mut request = Request { budget, ..request(&["npb-is"], "dumb", "1") };
    if let Some(class) = asked {
        request.params.class = class;
        request.asked.lists.push((&params::CLASS, vec![request.params]));
    }
    let limits = Limits { memory_budget_bytes, ..Limits::unlimited() };
    let plan = plan(&request, &limits, &Predictor::with_rates(1, [("npb-is", nanos, 0.0)]));
    let [cell] = &plan.cells[..] else { panic!("one cell") };
    let own = cell.point.params(&plan.params);
    assert_eq!(cell.footprint_bytes, cell.kernel.footprint(&own).0);
    own.class
}

#[test]
fn the_class_is_the_largest_that_time_and_memory_allow() {
    let (second, ms) = (Duration::from_secs(1), Duration::from_millis(1));
    assert_eq!(class_of(100 * second, None, None), Class::C);
    assert_eq!(class_of(100 * second, Some(200_000_000), None), Class::A);
    assert_eq!(class_of(100 * ms, None, None), Class::W);
    assert_eq!(class_of(ms, None, None), Class::S, "there is none smaller");
    assert_eq!(class_of(ms, None, Some(Class::B)), Class::B, "it was asked for");
    for nanos in [1.0, 4.0, 16.0] {
        let [quick, own] = [Budget::Quick, Budget::Of(QUICK_BUDGET)].map(|budget| class_at(nanos, budget, None, None));
        assert_eq!(quick, own, "more time is not for larger problems");
    }
}

#[test]
fn programs_that_grow_have_seconds_where_no_other_amount_suffers() {
    for (kernels, millis) in [
        (&["fft-cas", "matmul-mutex"][..], 2000),
        (&["fft-cas", "pool-std"], 50),
        (&["fft-cas", "arith-int"], 50),
        (&["matmul-mutex"], 50),
    ] {
        let cards = kernels.iter().map(|name| charz_workloads::find(name).unwrap().card());
        assert_eq!(longest_span(cards), Duration::from_millis(millis), "{kernels:?}");
    }
}
