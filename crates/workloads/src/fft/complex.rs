//! Complex numbers, and the check of a transform of them.

use std::f64::consts::TAU;
use std::ops::{Add, Mul, Sub};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Complex(pub f64, pub f64);

impl Complex {
    /// What no transform computes.
    pub(super) const NONE: Complex = Complex(f64::NAN, f64::NAN);

    pub(super) fn on_circle(angle: f64) -> Self {
        Complex(angle.cos(), angle.sin())
    }

    fn squared(self) -> f64 {
        self.0 * self.0 + self.1 * self.1
    }
}

impl Add for Complex {
    type Output = Complex;
    #[inline]
    fn add(self, other: Complex) -> Complex {
        Complex(self.0 + other.0, self.1 + other.1)
    }
}

impl Sub for Complex {
    type Output = Complex;
    #[inline]
    fn sub(self, other: Complex) -> Complex {
        Complex(self.0 - other.0, self.1 - other.1)
    }
}

impl Mul for Complex {
    type Output = Complex;
    #[inline]
    fn mul(self, other: Complex) -> Complex {
        Complex(self.0 * other.0 - self.1 * other.1, self.0 * other.1 + self.1 * other.0)
    }
}

/// By how much results may be off, relative to the largest number: rounding grows with the logarithm of the length (J. C. Schatzman,
/// Accuracy of the discrete Fourier transform and the fast Fourier transform, SIAM J. Sci. Comput. 17 (1996)), to some 1e-15 here.
const TOLERANCE: f64 = 1e-12;

/// Whether `out` is the transform of `numbers`: it has their energy (Parseval), and the inverse transform gives them back. The inverse is
/// computed by a loop over stages instead of a recursion, with its own roots.
pub(super) fn check(numbers: &[Complex], out: &[Complex]) -> Result<(), String> {
    let energy = |all: &[Complex]| all.iter().map(|number| number.squared()).sum::<f64>();
    let (before, after) = (energy(numbers), energy(out) / out.len() as f64);
    // NaN is near nothing.
    let near = |one: f64, other: f64, scale: f64| (one - other).abs() <= TOLERANCE * scale;
    if !near(before, after, before) {
        return Err(format!("the transform has an energy of {after} instead of {before}"));
    }
    let largest = numbers.iter().map(|number| number.0.abs().max(number.1.abs())).fold(0.0, f64::max);
    let back = inverse(out);
    let wrong = |(one, other): (&Complex, &Complex)| !near(one.0, other.0, largest) || !near(one.1, other.1, largest);
    match numbers.iter().zip(&back).position(wrong) {
        None => Ok(()),
        Some(place) => Err(format!("number {place} came back as {:?} instead of {:?}", back[place], numbers[place])),
    }
}

/// The inverse transform, stage by stage.
fn inverse(numbers: &[Complex]) -> Vec<Complex> {
    let length = numbers.len();
    let bits = length.trailing_zeros();
    let scale = 1.0 / length as f64;
    // Each number goes to the place whose bits are in reverse order.
    let reversed = |place: usize| if bits == 0 { 0 } else { place.reverse_bits() >> (usize::BITS - bits) };
    let mut all: Vec<Complex> = (0..length).map(|place| numbers[reversed(place)] * Complex(scale, 0.0)).collect();
    for stage in 1..=bits {
        let half = 1 << (stage - 1);
        let roots: Vec<Complex> = (0..half).map(|k| Complex::on_circle(TAU * k as f64 / (2 * half) as f64)).collect();
        for pair in all.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for ((low, high), root) in low.iter_mut().zip(high).zip(&roots) {
                let turned = *high * *root;
                (*low, *high) = (*low + turned, *low - turned);
            }
        }
    }
    all
}
