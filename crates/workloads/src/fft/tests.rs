use proptest::prelude::*;

use super::*;
use charz_kernels::tests::{Look, check_noticed, stage_laps};

fn transformer<R: Runtime>(span: Duration) -> Transformer<R> {
    Transformer::new("fft", Lead::new(Arc::default(), 2, u64::MAX), span)
}

proptest! {
    /// Transforms are linear: that of a sum is the sum of those.
    #[test]
    fn transforms_are_linear(size in 1..8_usize, seed: u64) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut numbers = || -> Vec<Complex> { (0..1 << size).map(|_| Complex(random.f64(), random.f64())).collect() };
        let (one, other) = (numbers(), numbers());
        let sum: Vec<Complex> = one.iter().zip(&other).map(|(one, other)| *one + *other).collect();
        let roots = transformer::<Rayon>(Duration::ZERO).roots;
        let of = |numbers: &[Complex]| {
            let mut out = vec![Complex::NONE; numbers.len()];
            transform(&Alone, Part { numbers, first: 0, stride: 1, out: &mut out }, &roots);
            out
        };
        let (one, other, sum) = (of(&one), of(&other), of(&sum));
        for ((one, other), sum) in one.iter().zip(&other).zip(&sum) {
            let off = *one + *other - *sum;
            prop_assert!(off.0.abs() + off.1.abs() < 1e-9, "{off:?}");
        }
    }
}

/// With time enough each size is done, by threads of which there are none left.
#[track_caller]
fn check_grows<R: Runtime>(makes_threads: bool) {
    let mut worker = transformer::<R>(Duration::from_secs(600));
    // The largest size takes seconds where each activity has a thread.
    worker.outs.truncate(9);
    worker.prepare();
    let work = worker.run(&charz_kernels::tests::watch(None));
    worker.verify().unwrap();
    let growth = worker.growth().unwrap();
    assert_eq!((growth.stopped_by, growth.unfinished, growth.steps.len()), (Halt::Sizes, None, 9));
    assert_eq!(work, Work::ops(growth.steps.iter().map(|step| step.activities).sum()));
    for (step, size) in growth.steps.iter().zip(1..) {
        assert_eq!((step.size, step.activities), (size, (2 << size) - 1));
        assert!(step.failures <= step.attempts && step.sequential_ns.is_some(), "{step:?}");
        if makes_threads {
            // Each activity is given to a thread of the pool, to a new one, or done by its parent.
            assert!(step.attempts >= step.activities && step.created + step.inlined <= step.activities, "{step:?}");
            assert!(step.threads <= growth.most_threads && step.threads >= size, "{step:?}");
        } else {
            assert_eq!((step.created, step.threads, step.inlined), (0, 2, 0), "{step:?}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too many steps for an interpreter")]
fn every_size_is_done() {
    check_grows::<Pooled<MutexPool>>(true);
    check_grows::<Pooled<CasPool>>(true);
    check_grows::<Rayon>(false);
}

#[test]
fn a_wrong_transform_is_noticed() {
    let span = Duration::from_millis(20);
    for place in [0, 1] {
        check_noticed(&mut transformer::<Rayon>(span), None, |worker| {
            let out = worker.outs[0].as_mut_slice();
            out[place] = out[place] + Complex(1e-9, 0.0);
        });
        // The energy is right, the places are not.
        check_noticed(&mut transformer::<Pooled<CasPool>>(span), None, |worker| worker.outs[0].swap(0, 1));
    }
}

/// A watch that ends the run at any moment leaves a runtime that another run replaces.
#[test]
#[cfg_attr(miri, ignore = "too many steps for an interpreter")]
fn a_run_ends_when_told() {
    let params = Params { span_ns: 60_000_000_000, ..Params::SMALL };
    for kernel in KERNELS {
        let stage = kernel.stage(&params, 2).unwrap();
        let ends = [0, 100, 300, 1_000].map(Duration::from_micros);
        let look = |_, run: usize| {
            let deadline = ends.get(run).map(|end| Instant::now() + *end);
            Look { watch: Watch::new(&charz_kernels::Stop::new()).with_deadline(deadline), span: None, whole: false }
        };
        let laps = stage_laps(stage.as_ref(), 2, ends.len(), look);
        for lap in &laps[0] {
            let sizes = lap.growth.as_ref().map_or(0, |growth| growth.steps.len());
            assert!(lap.deadline_passed && sizes < SIZES, "{}", kernel.card().name);
        }
        assert!(laps[0][0].work == Work::default() && laps[1].iter().all(|lap| lap.work == Work::default()));
    }
}

#[test]
fn the_next_size_is_predicted_by_the_last_two() {
    let steps = |times: &[u64]| -> Vec<GrowthStep> {
        times.iter().map(|&time_ns| GrowthStep { time_ns, ..GrowthStep::default() }).collect()
    };
    for (times, expected) in [(&[][..], 0), (&[10], 20), (&[10, 15], 30), (&[10, 40], 160), (&[10, 40, 400], 4000)] {
        assert_eq!(next(&steps(times)), Duration::from_nanos(expected), "{times:?}");
    }
}
