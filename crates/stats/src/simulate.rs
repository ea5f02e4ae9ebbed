//! Random samples for tests, the same ones every time.

use crate::Sample;
use crate::tails::normal_quantile;
use fastrand::Rng;

#[derive(Clone, Copy, Debug)]
pub enum Law {
    /// Around 1, with this standard deviation.
    Normal(f64),
    /// Around 1, with this standard deviation of the logarithm.
    Lognormal(f64),
    /// 70 % around 1 and 30 % around 1.1, each normal with a deviation of 0.01.
    Bimodal,
}

impl Law {
    pub fn draw(self, count: usize, random: &mut Rng) -> Vec<f64> {
        (0..count).map(|_| self.value(random)).collect()
    }

    pub fn median(self) -> f64 {
        match self {
            Law::Normal(_) | Law::Lognormal(_) => 1.0,
            // The other mode is ten deviations away: half of all is 5/7 of this one.
            Law::Bimodal => 1.0 + 0.01 * normal_quantile(5.0 / 7.0),
        }
    }

    fn value(self, random: &mut Rng) -> f64 {
        let normal = normal(random);
        match self {
            Law::Normal(deviation) => 1.0 + deviation * normal,
            Law::Lognormal(deviation) => (deviation * normal).exp(),
            Law::Bimodal => {
                let mode = if random.f64() < 0.7 { 1.0 } else { 1.1 };
                mode + 0.01 * normal
            }
        }
    }
}

/// A standard normal value: Box and Muller, Annals of Mathematical Statistics 29 (1958).
pub fn normal(random: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}

pub fn sample(values: &[f64]) -> Sample {
    Sample::new(values.to_vec()).expect("the values are finite")
}
