use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::runtime::alone::Alone;
use super::*;
use charz_kernels::Stop;
use charz_kernels::tests::{Look, check_noticed, stage_laps};

/// The number in this row and column of a matrix whose quadrants follow each other.
fn entry(matrix: &[f64], order: usize, levels: u32, row: usize, column: usize) -> f64 {
    if levels == 0 {
        return matrix[row * order + column];
    }
    let half = order / 2;
    let quadrant = 2 * (row / half) + column / half;
    entry(&matrix[quadrant * half * half..][..half * half], half, levels - 1, row % half, column % half)
}

fn numbers(random: &mut fastrand::Rng, order: usize) -> Vec<f64> {
    (0..order * order).map(|_| random.f64()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// However often it is divided, a product is what its definition says.
    #[test]
    fn products_are_those_of_the_definition(levels in 0..3_u32, blocks in 1..3_usize, seed: u64) {
        let order = (blocks * STEP) << levels;
        let mut random = fastrand::Rng::with_seed(seed);
        let (left, right) = (numbers(&mut random, order), numbers(&mut random, order));
        let (mut out, mut room) = (vec![f64::NAN; order * order], vec![f64::NAN; room(order, levels)]);
        let whole = Product { out: &mut out, left: &left, right: &right, room: &mut room, order, levels };
        product(&Alone, whole, multiply::fastest().1);
        prop_assert_eq!(residual::check([&left, &right, &out], order, levels), Ok(()));
        for _ in 0..50 {
            let [row, column] = [0; 2].map(|_| random.usize(..order));
            let of = |matrix: &[f64], row, column| entry(matrix, order, levels, row, column);
            let expected: f64 = (0..order).map(|k| of(&left, row, k) * of(&right, k, column)).sum();
            let found = of(&out, row, column);
            prop_assert!((found - expected).abs() < 1e-10, "{} instead of {} at {}, {}", found, expected, row, column);
        }
    }
}

fn multiplier<R: Runtime>(by: By, levels: u32) -> Multiplier<R> {
    let lead = Lead::new(Arc::default(), 2, u64::MAX);
    let task = Task { by, order: 128, levels, band: 50, multiply: multiply::fastest().1 };
    Multiplier::new("matmul", lead, task, Work::ops(1)).unwrap()
}

#[test]
fn a_wrong_entry_is_noticed() {
    check_noticed(&mut multiplier::<Pooled<CasPool>>(By::Recursion, 2), None, |worker| worker.out[77] += 1e-9);
    check_noticed(&mut multiplier::<Rayon>(By::Recursion, 1), None, |worker| worker.out.swap(5, 6));
    check_noticed(&mut multiplier::<Rayon>(By::Library, 0), None, |worker| worker.out[0] = f64::NAN);
}

#[test]
fn as_many_activities_are_reported_as_there_are() {
    for (levels, activities) in [(0, 1), (1, 13), (2, 109)] {
        let mut worker = multiplier::<Pooled<MutexPool>>(By::Recursion, levels);
        worker.prepare();
        worker.run(&charz_kernels::tests::watch(None));
        worker.verify().unwrap();
        let [step] = worker.growth().unwrap().steps.try_into().unwrap();
        assert_eq!((step.size, step.activities), (levels.into(), activities));
        // Each takes a thread out of the pool, finds none, or goes to the pool afterwards.
        assert!(step.attempts - step.failures >= activities && step.created + step.inlined <= activities, "{step:?}");
    }
}

/// A watch that ends the run at any moment leaves a worker that can run again.
#[test]
#[cfg_attr(miri, ignore = "too many steps for an interpreter")]
fn a_run_ends_when_told() {
    let params = Params { order: 512, depth: 4, ..Params::SMALL };
    for kernel in KERNELS {
        let stage = kernel.stage(&params, 2).unwrap();
        let moments = [0, 1, 5].map(Duration::from_millis);
        let look = |_, run: usize| match moments.get(run) {
            Some(moment) => {
                let watch = Watch::new(&Stop::new()).with_deadline(Some(Instant::now() + *moment));
                Look { watch, span: None, whole: false }
            }
            None => Look::whole(None),
        };
        for laps in stage_laps(stage.as_ref(), 2, 4, look) {
            assert_eq!(laps[0].work, Work::default(), "{}", kernel.card().name);
            assert_eq!((laps[3].work, &laps[3].verdict), (stage.work(), &Ok(())), "{}", kernel.card().name);
        }
    }
}

#[test]
fn an_order_that_cannot_be_divided_is_refused() {
    for (order, depth) in [(0, 0), (24, 0), (48, 1), (256, 5)] {
        let refused = KERNELS[0].stage(&Params { order, depth, ..Params::SMALL }, 1).err();
        assert!(
            matches!(refused, Some(Error::Unavailable(reason)) if reason.contains("multiple of")),
            "{order}, {depth}"
        );
    }
}
