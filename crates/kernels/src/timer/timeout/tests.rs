use charz_data::Params;

use super::*;
use crate::find;
use crate::laws::check_refused;
use crate::tests::watch;

#[test]
fn a_wait_that_was_over_early_voids_the_run() {
    let milli = Duration::from_millis(1);
    assert_eq!(lateness("timeout-x", 1_055_000, milli), Ok(55_000));
    assert_eq!(lateness("timeout-x", 1_000_000, milli), Ok(0));
    assert_eq!(lateness("timeout-x", 999_500, milli), Ok(0), "clocks may differ by so much");
    let early = lateness("timeout-x", 998_000, milli);
    assert!(matches!(early, Err(Error::Wrong(reason)) if reason.contains("timeout-x") && reason.contains("998µs")));
}

#[test]
fn what_a_call_takes_in_wholes_is_rounded_up() {
    let [nano, milli] = [Duration::from_nanos(1), Duration::from_millis(1)];
    assert_eq!(whole(Duration::from_nanos(1_000_001), nano), Duration::from_nanos(1_000_001));
    assert_eq!(whole(Duration::from_nanos(1_000_001), milli), 2 * milli);
    assert_eq!(whole(nano, milli), milli);
}

struct Told(std::cell::RefCell<Vec<io::Result<bool>>>);

impl TimedWait for Told {
    const CALL: &'static str = "told";
    const GRAIN: Duration = Duration::from_nanos(1);

    fn new() -> Result<Self, Error> {
        Ok(Told(Vec::new().into()))
    }

    fn wait(&self, _: Duration) -> io::Result<bool> {
        self.0.borrow_mut().pop().expect("there is another")
    }
}

#[test]
fn a_wait_that_something_else_ended_is_no_sample() {
    let told = vec![Err(io::Error::from_raw_os_error(libc::EPERM)), Ok(true), Ok(false)];
    let mut timeout = Timeout { name: "timeout-told", way: Told(told.into()), time: Duration::ZERO };
    let watch = watch(None);
    assert_eq!(timeout.sample(&watch), Ok(None));
    assert!(matches!(timeout.sample(&watch), Ok(Some((took, late))) if took == late));
    assert!(matches!(timeout.sample(&watch), Err(Error::Wrong(reason)) if reason.contains("told failed")));
}

/// Two waits of 1 ms, by the calling thread.
#[track_caller]
fn waits(name: &str) -> Result<(), Error> {
    let stage = find(name).unwrap().stage(&Params { samples: 2, ..Params::SMALL }, 1)?;
    let mut worker = stage.worker(0)?;
    worker.prepare();
    worker.run(&watch(None));
    worker.verify()?;
    assert!(worker.samples().unwrap().first.min_ns >= 999_000, "{name}");
    Ok(())
}

#[test]
fn a_timer_of_processor_time_ends_after_no_less() {
    waits("timeout-timer-cpu").unwrap();
}

/// Or the system gives it no namespace.
#[test]
fn a_semaphore_of_system_v_has_a_namespace_of_its_own() {
    let own = || std::fs::read_link("/proc/thread-self/ns/ipc").unwrap();
    let before = own();
    match thread::spawn(move || waits("timeout-semop").map(|()| own())).join().unwrap() {
        Ok(namespace) => assert_ne!(namespace, before),
        Err(error) => assert!(matches!(&error, Error::Unavailable(why) if why.contains("CAP_SYS_ADMIN")), "{error}"),
    }
    assert_eq!(own(), before);
}

#[test]
fn a_system_that_refuses_a_thread_is_one_without_the_call() {
    // Larger than any address space.
    let refused = apart(thread::Builder::new().stack_size(1 << 60), || Ok(()));
    assert!(matches!(&refused, Err(Error::Unavailable(why)) if why.contains("allow more threads")), "{refused:?}");
}

#[test]
fn times_that_no_worker_should_wait_for_are_refused() {
    for (time, part) in [(Duration::ZERO, "more than 0 s"), (Duration::from_secs(1), "100ms at most, not for 1s")] {
        let params = Params { timeout_ns: time.as_nanos() as u64, ..Params::SMALL };
        check_refused(find("timeout-futex").unwrap(), 1, params, part);
    }
}
