use charz_data::{Params, Period};

use super::*;
use crate::kernel::Kernel;
use crate::watch::Stop;

/// A system that makes no more threads after the third.
struct Tired(AtomicU64);

impl Method for Tired {
    type Thread = ();

    const VARIANT: &'static str = "tired";

    fn new(_lent: Option<&Mask>) -> Result<Self, Error> {
        Ok(Tired(AtomicU64::new(0)))
    }

    fn make(&self, child: Arc<Child>) -> Result<(), Error> {
        if self.0.fetch_add(1, Ordering::Relaxed) == 3 {
            return Err(Error::Refused("too tired".into()));
        }
        child.run();
        Ok(())
    }
}

#[test]
fn a_system_that_makes_no_thread_is_told_of() {
    let params = Params { samples: 10, period: Period::Closed, ..Params::SMALL };
    let stage = making::<Tired>(KERNELS[2].card()).stage(&params, 1).unwrap();
    let mut worker = stage.worker(0).unwrap();
    worker.prepare();
    assert_eq!(worker.run(&Watch::new(&Stop::new())), stage.work());
    assert_eq!(worker.verify(), Err(Error::Refused("too tired".into())));
    assert_eq!(worker.samples().map(|joint| joint.count), Some(3));
}

#[test]
fn a_seat_is_lent_only_where_it_is_another() {
    let shared = Lent::default();
    assert_eq!(shared.mask(), Ok(None));
    *shared.mask.lock().unwrap() = Some(Mask::own().unwrap());
    assert_eq!(shared.mask(), Ok(None));
    let other = Mask::none();
    *shared.mask.lock().unwrap() = Some(other.clone());
    assert_eq!(shared.mask(), Ok(Some(other)));
}

#[test]
fn a_thread_that_does_not_come_is_not_waited_for_for_ever() {
    let stop = Stop::new();
    stop.raise();
    let watch = Watch::new(&stop);
    let child = Child::new(watch.clock());
    assert_eq!(child.stamped(&watch), None);
    child.run();
    assert!(child.stamped(&watch).is_some());
}
