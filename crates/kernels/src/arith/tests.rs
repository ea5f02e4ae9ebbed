use proptest::prelude::*;

use super::*;

/// The value of the chain by the plainest means: a step at a time, in Rust.
fn walk<T: Number>(start: T, inputs: &[T; INPUTS], steps: u64, step: fn(T, T) -> T) -> T {
    inputs.iter().cycle().take(steps as usize).fold(start, |r, &x| step(r, x))
}

fn chain_int(r: u64, inputs: &[u64; INPUTS], steps: u64) -> u64 {
    let mut r = [r];
    charz_arith_int_loop(&mut r, inputs, steps);
    r[0]
}

fn chain_float(r: f64, inputs: &[f64; INPUTS], steps: u64) -> f64 {
    let mut r = [r];
    charz_arith_float_loop(&mut r, inputs, steps);
    r[0]
}

proptest! {
    #[test]
    fn integers_agree(start: u64, seed: u64, steps in 0..2000_u64) {
        let inputs = std::array::from_fn(|i| oracle::scatter(i, seed));
        let expected = walk(start, &inputs, steps, step_int);
        prop_assert_eq!(chain_int(start, &inputs, steps), expected);
        prop_assert_eq!(u64::oracle(start, &inputs, steps), expected);
    }

    #[test]
    fn doubles_agree(start in -1e6..1e6_f64, rank in 0..5000_usize, steps in 0..2000_u64) {
        let (start, inputs) = (start.round(), f64::inputs(rank));
        let expected = walk(start, &inputs, steps, step_float);
        prop_assert_eq!(chain_float(start, &inputs, steps), expected);
        prop_assert_eq!(f64::oracle(start, &inputs, steps), expected);
    }

    #[test]
    fn doubles_that_round_agree(start in -1e3..1e3_f64, x in 0.1..1.0_f64, steps in 0..2000_u64) {
        // Not exact: exact inputs would hide a changed order of operations, or fused ones.
        let inputs = std::array::from_fn(|i| if i % 2 == 0 { x } else { -0.9 * x });
        prop_assert_eq!(chain_float(start, &inputs, steps), walk(start, &inputs, steps, step_float));
    }

    /// Chains at once are what each is alone.
    #[test]
    fn chains_do_not_mix(start: u64, x in 0.1..1.0_f64, steps in 0..2000_u64) {
        let inputs = std::array::from_fn(|i| oracle::scatter(i, start));
        let ints: [u64; INT_CHAINS] = std::array::from_fn(|chain| start.wrapping_add(chain as u64));
        let mut found = ints;
        charz_arith_int_ilp_loop(&mut found, &inputs, steps);
        prop_assert_eq!(found, ints.map(|start| walk(start, &inputs, steps, step_int)));
        let inputs = std::array::from_fn(|i| if i % 2 == 0 { x } else { -0.9 * x });
        let floats: [f64; FLOAT_CHAINS] = std::array::from_fn(|chain| x + chain as f64);
        let mut found = floats;
        charz_arith_float_ilp_loop(&mut found, &inputs, steps);
        prop_assert_eq!(found, floats.map(|start| walk(start, &inputs, steps, step_float)));
    }

    /// Where the chain would get to after very many steps is found from two halves that the oracle joins.
    #[test]
    fn oracles_compose(rank in 0..5000_usize, passes in 0..1_u64 << 33, rest in 0..2000_u64) {
        let first = passes * INPUTS as u64;
        let (a, b) = (u64::inputs(rank), f64::inputs(rank));
        prop_assert_eq!(u64::oracle(7, &a, first + rest), chain_int(u64::oracle(7, &a, first), &a, rest));
        prop_assert_eq!(f64::oracle(7.0, &b, first + rest), chain_float(f64::oracle(7.0, &b, first), &b, rest));
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
    let mut seen: Vec<_> = (0..1000).map(|passes| chain_float(1.0, &inputs, passes * INPUTS as u64)).collect();
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
fn check_noticed<T: Number, const N: usize>(run: Loop<T, N>, plant: fn(&mut Chains<T, N>)) {
    let inputs = Inputs::Own(Box::new(CachePadded::new(T::inputs(3))));
    let (rank, steps, stretch, repetition, done) = (3, 10_000, 1024, 0, 0);
    let mut chains = Chains { name: "chains", rank, inputs, steps, stretch, run, repetition, done, r: starts(3, 0) };
    crate::tests::check_noticed(&mut chains, None, plant);
}

#[test]
fn wrong_answers_are_noticed() {
    let plants: [fn(&mut Chains<u64, INT_CHAINS>); 4] = [
        |chains| chains.r[INT_CHAINS - 1] ^= 1 << 63,
        |chains| chains.done += 1,
        |chains| chains.done -= INPUTS as u64,
        |chains| chains.repetition += 1,
    ];
    for plant in plants {
        check_noticed(|r, inputs, steps| charz_arith_int_ilp_loop(r, inputs, steps), plant);
    }
    let plants: [fn(&mut Chains<f64, 1>); 4] = [
        |chains| chains.r[0] = chains.r[0].next_up(),
        |chains| chains.done += 1,
        |chains| chains.done -= INPUTS as u64,
        |chains| chains.r[0] = f64::NAN,
    ];
    for plant in plants {
        check_noticed(|r, inputs, steps| charz_arith_float_loop(r, inputs, steps), plant);
    }
}
