use proptest::prelude::*;

use super::*;

/// The value of the chain by the plainest means: a step at a time, in Rust.
fn walk<T: Number>(start: T, inputs: &[T; INPUTS], steps: u64, step: fn(T, T) -> T) -> T {
    inputs.iter().cycle().take(steps as usize).fold(start, |r, &x| step(r, x))
}

proptest! {
    #[test]
    fn integers_agree(start: u64, seed: u64, steps in 0..2000_u64) {
        let inputs = std::array::from_fn(|i| oracle::scatter(i, seed));
        let expected = walk(start, &inputs, steps, step_int);
        prop_assert_eq!(u64::chain(start, &inputs, steps), expected);
        prop_assert_eq!(u64::oracle(start, &inputs, steps), expected);
    }

    #[test]
    fn doubles_agree(start in -1e6..1e6_f64, rank in 0..5000_usize, steps in 0..2000_u64) {
        let (start, inputs) = (start.round(), f64::inputs(rank));
        let expected = walk(start, &inputs, steps, step_float);
        prop_assert_eq!(f64::chain(start, &inputs, steps), expected);
        prop_assert_eq!(f64::oracle(start, &inputs, steps), expected);
    }

    #[test]
    fn doubles_that_round_agree(start in -1e3..1e3_f64, x in 0.1..1.0_f64, steps in 0..2000_u64) {
        // Not exact: exact inputs would hide a changed order of operations, or fused ones.
        let inputs = std::array::from_fn(|i| if i % 2 == 0 { x } else { -0.9 * x });
        prop_assert_eq!(f64::chain(start, &inputs, steps), walk(start, &inputs, steps, step_float));
    }

    /// Where the chain would get to after very many steps is found from two halves that the oracle joins.
    #[test]
    fn oracles_compose(rank in 0..5000_usize, passes in 0..1_u64 << 33, rest in 0..2000_u64) {
        let first = passes * INPUTS as u64;
        let (a, b) = (u64::inputs(rank), f64::inputs(rank));
        prop_assert_eq!(u64::oracle(7, &a, first + rest), u64::chain(u64::oracle(7, &a, first), &a, rest));
        prop_assert_eq!(f64::oracle(7.0, &b, first + rest), f64::chain(f64::oracle(7.0, &b, first), &b, rest));
    }
}

#[test]
fn the_longest_float_chain_is_exact() {
    for rank in 0..1000 {
        let inputs = f64::inputs(rank);
        let end = f64::oracle(1023.0, &inputs, oracle::EXACT_STEPS);
        // Within a pass r grows by 2^4 at most, and has 5 bits behind the point: together with these, 53 bits.
        assert!(end.abs() < 2_f64.powi(53 - 4 - 5), "rank {rank}: {end}");
    }
}

#[test]
fn the_float_chain_stays_varied() {
    let inputs = f64::inputs(0);
    let mut seen: Vec<_> = (0..1000).map(|passes| f64::chain(1.0, &inputs, passes * INPUTS as u64)).collect();
    assert!(seen.iter().all(|r| r.is_normal()), "{seen:?}");
    seen.sort_by(f64::total_cmp);
    seen.dedup();
    assert_eq!(seen.len(), 1000);
}

#[test]
fn workers_have_inputs_of_their_own() {
    for rank in 1..100 {
        assert_ne!(u64::inputs(rank), u64::inputs(rank - 1));
        assert_ne!(f64::inputs(rank), f64::inputs(rank - 1));
    }
    assert!(u64::inputs(5).iter().all(|x| x % 2 == 1));
}

#[track_caller]
fn check_noticed<T: Number>(plant: fn(&mut Chain<T>)) {
    crate::tests::check_noticed(&mut Chain::<T>::new(3, 10_000, 1024, None), None, plant);
}

#[test]
fn wrong_answers_are_noticed() {
    check_noticed::<u64>(|chain| chain.r ^= 1 << 63);
    check_noticed::<u64>(|chain| chain.done += 1);
    check_noticed::<u64>(|chain| chain.done -= INPUTS as u64);
    check_noticed::<u64>(|chain| chain.repetition += 1);
    check_noticed::<f64>(|chain| chain.r = chain.r.next_up());
    check_noticed::<f64>(|chain| chain.done += 1);
    check_noticed::<f64>(|chain| chain.done -= INPUTS as u64);
    check_noticed::<f64>(|chain| chain.r = f64::NAN);
}
