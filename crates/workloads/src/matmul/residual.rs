//! Whether a matrix is the product of two others (R. Freivalds, Probabilistic machines can use less running time, IFIP Congress 1977).

/// The factor of the bound on a residual: rounding errors of a product of order n with entries up to 1 stay below n² ε, mostly far below.
const ALLOWED: f64 = 4.0;

/// Multiplies a vector of random numbers, of size 1/2 to 1, by both factors, one after the other, and by the result. A wrong entry changes
/// its row of the result unless others happen to make up for it. All matrices have this layout: quadrants that follow each other down to so
/// many levels.
pub(super) fn check([left, right, out]: [&[f64]; 3], order: usize, levels: u32) -> Result<(), String> {
    let mut random = fastrand::Rng::with_seed(2);
    let mut number = || (0.5 + random.f64() / 2.0) * if random.bool() { 1.0 } else { -1.0 };
    let vector: Vec<f64> = (0..order).map(|_| number()).collect();
    let times = |matrix: &[f64], vector: &[f64]| {
        let mut result = vec![0.0; order];
        add_product(matrix, vector, &mut result, levels);
        result
    };
    let (expected, found) = (times(left, &times(right, &vector)), times(out, &vector));
    let bound = ALLOWED * f64::EPSILON * (order as f64).powi(2);
    let off = |(found, expected): (&f64, &f64)| {
        // NaN is off too.
        let near = (found - expected).abs() <= bound;
        !near
    };
    match found.iter().zip(&expected).position(off) {
        None => Ok(()),
        Some(row) => Err(format!(
            "row {row} of the product times a vector is {} instead of {}, more than {bound:e} off",
            found[row], expected[row]
        )),
    }
}

/// Adds a matrix times a vector.
fn add_product(matrix: &[f64], vector: &[f64], result: &mut [f64], levels: u32) {
    let order = vector.len();
    if levels == 0 {
        for (result, row) in result.iter_mut().zip(matrix.chunks_exact(order)) {
            *result += row.iter().zip(vector).map(|(one, other)| one * other).sum::<f64>();
        }
        return;
    }
    let (above, below) = result.split_at_mut(order / 2);
    let (first, second) = vector.split_at(order / 2);
    let mut quadrants = matrix.chunks_exact(matrix.len() / 4);
    for result in [above, below] {
        for vector in [first, second] {
            let quadrant = quadrants.next().expect("there are four quadrants");
            add_product(quadrant, vector, result, levels - 1);
        }
    }
}
