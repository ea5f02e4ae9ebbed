//! Loops of independent vector operations, one a combination of vector width and mix.
//!
//! A [`Path`] is a loop with its account: how many accumulators it keeps in registers, and how often a round updates
//! each. [`paths_int`] and [`paths_float`] give out only those that the CPU has, so holding one is the proof that it can
//! run. Accumulators outnumber latency x units of every core known to us where the registers allow.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

/// Vectors of accumulators that a path can have at most.
const VECTORS: usize = 24;

/// Lanes of 64 bits of the widest vector.
const LANES: usize = 8;

/// The accumulators of a loop as they lie in memory between two calls: one lane after the other, vector by vector.
pub type Accumulators<T> = [T; VECTORS * LANES];

#[repr(C, align(64))]
struct Operands<T> {
    /// The factor of fused multiply-adds: 1 in each lane, so the sum stays exact.
    ones: [T; LANES],
    /// What each operation adds, a different number in each lane.
    steps: [T; LANES],
}

static INT: Operands<u64> = Operands { ones: [1; LANES], steps: [1, 2, 3, 4, 5, 6, 7, 8] };
static FLOAT: Operands<f64> = Operands { ones: [1.0; LANES], steps: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0] };

#[derive(Clone, Copy, Debug)]
struct Group {
    vectors: usize,
    /// How often a round updates each.
    updates: u64,
    /// Operations in the update of a lane: 2 for a fused multiply-add.
    ops: u64,
}

pub struct Path<T: 'static> {
    /// Its name in reports: vector extension and mix.
    pub name: &'static str,
    lanes: usize,
    groups: &'static [Group],
    detected: fn() -> bool,
    operands: &'static Operands<T>,
    /// The loop: accumulators, operands, rounds. Its preconditions are those of [`Path::run`].
    body: unsafe fn(*mut T, *const Operands<T>, u64),
}

impl<T> Path<T> {
    pub fn ops(&self) -> u64 {
        self.lanes as u64
            * self.groups.iter().map(|group| group.vectors as u64 * group.updates * group.ops).sum::<u64>()
    }

    pub fn run(&self, accumulators: &mut Accumulators<T>, rounds: u64) {
        if rounds > 0 {
            // SAFETY: `paths_int` and `paths_float` give out only paths whose instructions were detected.
            // SAFETY: no path has more than VECTORS vectors of LANES lanes, which is the size of the accumulators.
            // SAFETY: the operands are LANES lanes each, as declared; `rounds` is not 0.
            unsafe { (self.body)(accumulators.as_mut_ptr(), self.operands, rounds) }
        }
    }
}

impl<T: Copy> Path<T> {
    /// For each accumulator in use: how many updates it gets in a round, and what each adds.
    pub fn updates(&self) -> impl Iterator<Item = (u64, T)> {
        let vectors = self.groups.iter().flat_map(|group| (0..group.vectors).map(|_| group.updates));
        vectors.flat_map(|updates| self.operands.steps[..self.lanes].iter().map(move |&step| (updates, step)))
    }
}

/// The loops of integer additions that this CPU can run, the widest first; never none.
pub fn paths_int() -> impl Iterator<Item = &'static Path<u64>> {
    PATHS_INT.iter().copied().filter(|path| (path.detected)())
}

/// The loops of double-precision operations that this CPU can run, the widest first; never none.
pub fn paths_float() -> impl Iterator<Item = &'static Path<f64>> {
    PATHS_FLOAT.iter().copied().filter(|path| (path.detected)())
}

#[cfg(target_arch = "x86_64")]
static PATHS_INT: &[&Path<u64>] = &[&x86_64::INT_AVX512, &x86_64::INT_AVX2, &portable::INT];
#[cfg(target_arch = "x86_64")]
static PATHS_FLOAT: &[&Path<f64>] = &[
    &x86_64::FLOAT_AVX512_FMA_ADD,
    &x86_64::FLOAT_AVX512_2FMA_ADD,
    &x86_64::FLOAT_AVX512_FMA,
    &x86_64::FLOAT_AVX2_FMA_ADD,
    &x86_64::FLOAT_AVX2_2FMA_ADD,
    &x86_64::FLOAT_AVX2_FMA,
    &portable::FLOAT,
];

#[cfg(target_arch = "aarch64")]
static PATHS_INT: &[&Path<u64>] = &[&aarch64::INT_SVE512, &aarch64::INT_SVE256, &aarch64::INT_NEON, &portable::INT];
#[cfg(target_arch = "aarch64")]
static PATHS_FLOAT: &[&Path<f64>] =
    &[&aarch64::FLOAT_SVE512_FMA, &aarch64::FLOAT_SVE256_FMA, &aarch64::FLOAT_NEON_FMA, &portable::FLOAT];

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
static PATHS_INT: &[&Path<u64>] = &[&portable::INT];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
static PATHS_FLOAT: &[&Path<f64>] = &[&portable::FLOAT];
