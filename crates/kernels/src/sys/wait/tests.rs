use std::time::Instant;

use super::*;

/// A wait is over when its time is, and not before.
#[track_caller]
fn check(name: &str, wait: &dyn Fn(Duration) -> io::Result<bool>) {
    for time in [Duration::from_nanos(1), Duration::from_micros(1500)] {
        let start = Instant::now();
        assert!(wait(time).unwrap(), "{name}: {time:?}");
        // By the real-time clock, which may be made to go faster by 500 ppm, and by that of the test.
        assert!(start.elapsed() >= time - time / 1000, "{name}: {time:?}");
    }
}

#[test]
fn no_wait_ends_early() {
    check("poll", &poll);
    check("ppoll", &ppoll);
    check("select", &select);
    check("nanosleep", &nanosleep);
    check("clock_nanosleep", &clock_nanosleep);
    check("sigtimedwait", &sigtimedwait);
    check("futex", &futex);
    check("park", &park);
    let (lock, bell) = (Lock::new().unwrap(), Bell::new().unwrap());
    check("mutex", &|time| lock.wait(time));
    check("cond", &|time| bell.wait(time));
    let (rwlock, semaphore) = (RwLock::new().unwrap(), Semaphore::new().unwrap());
    check("rwlock", &|time| rwlock.wait(time));
    check("semaphore", &|time| semaphore.wait(time));
    let (timer, epoll) = (TimerFd::new().unwrap(), Epoll::new().unwrap());
    check("timerfd", &|time| timer.wait(time));
    check("epoll", &|time| epoll.wait(time));
    if let Ok(queue) = Queue::new() {
        check("mq", &|time| queue.wait(time));
    }
}

#[test]
fn what_a_call_says() {
    assert!(coded(libc::ETIMEDOUT, libc::ETIMEDOUT).unwrap());
    assert!(coded(0, 0).unwrap());
    for nothing in [0, libc::EINTR] {
        assert!(!coded(nothing, libc::ETIMEDOUT).unwrap());
    }
    assert_eq!(coded(libc::EPERM, libc::ETIMEDOUT).unwrap_err().raw_os_error(), Some(libc::EPERM));
    assert!(!ready(1).unwrap() && ready(0).unwrap());
}

#[test]
fn what_is_asked_is_rounded_up() {
    assert_eq!(millis(Duration::from_nanos(1)), 1);
    assert_eq!(millis(Duration::from_millis(7)), 7);
    assert_eq!(millis(Duration::MAX), libc::c_int::MAX);
}
