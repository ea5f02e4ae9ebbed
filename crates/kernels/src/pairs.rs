//! Pairs of times that a worker stamps, in memory that no run has to ask for.

use charz_data::{Bytes, JointHistogram, Params};

use crate::kernel::Error;
use crate::plain::PlainKernel;

#[derive(Debug, Default)]
pub(crate) struct Pairs(pub(crate) Vec<(u64, u64)>);

impl Pairs {
    /// Room for so many.
    pub(crate) fn with_room(samples: u64) -> Result<Self, Error> {
        let mut pairs = Vec::new();
        let room = usize::try_from(samples).ok().and_then(|number| pairs.try_reserve_exact(number).ok());
        room.ok_or_else(|| Error::Refused(format!("there is no memory for {samples} samples: ask for fewer")))?;
        Ok(Pairs(pairs))
    }

    /// The memory of kernels whose workers stamp a pair a sample.
    pub(crate) fn of_samples<D>(_: &PlainKernel<D>, params: &Params) -> Bytes {
        Bytes(params.samples.saturating_mul(size_of::<(u64, u64)>() as u64))
    }

    /// Before a run: forgets the last one, and touches the memory, so no sample meets a page fault.
    pub(crate) fn reset(&mut self) {
        self.0.resize(self.0.capacity(), (1, 1));
        self.0.clear();
    }

    pub(crate) fn joint(&self) -> JointHistogram {
        self.0.iter().copied().collect()
    }
}
