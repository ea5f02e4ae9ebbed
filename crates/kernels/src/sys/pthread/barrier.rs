//! The C library's barriers.

use std::pin::Pin;
use std::ptr;

use super::{Object, check};
use crate::kernel::Error;

pub struct Barrier(Pin<Box<Object<libc::pthread_barrier_t>>>);

impl Barrier {
    pub fn new(parties: usize) -> Result<Self, Error> {
        let parties = u32::try_from(parties).unwrap_or(u32::MAX);
        let inner = Box::pin(Object::uninit());
        // SAFETY: the memory is for a barrier that no other code has yet, and stays where it is.
        check("pthread_barrier_init", unsafe { libc::pthread_barrier_init(inner.raw(), ptr::null(), parties) })?;
        // Made only now: dropping one that was refused would destroy what never was.
        Ok(Barrier(inner))
    }

    #[inline]
    pub fn wait(&self) {
        // SAFETY: it was initialised, and lives as long as the reference.
        unsafe { libc::pthread_barrier_wait(self.0.raw()) };
    }
}

impl Drop for Barrier {
    fn drop(&mut self) {
        // SAFETY: it was initialised, and no thread waits, since a thread that waits borrows it.
        unsafe { libc::pthread_barrier_destroy(self.0.raw()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_for_no_thread_is_refused() {
        assert!(matches!(Barrier::new(0), Err(Error::Refused(reason)) if reason.contains("pthread_barrier_init")));
    }
}
