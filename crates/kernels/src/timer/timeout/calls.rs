//! The calls.

use std::io;
use std::time::Duration;

use super::{CARD, TimedWait, Timeout};
use crate::kernel::{Error, Kernel};
use crate::sys::wait::{self, Bell, Epoll, Lock, Queue, RwLock, Semaphore, TimerFd};
use crate::timer::sample::sampled;

/// A kernel each: its word, the call, what that can be asked for; what the worker has for it, how that is made, and how it waits;
/// and what for.
macro_rules! calls {
    ($($kernel:ident, $word:literal, $way:ident, $call:literal, $grain:expr;
       $held:ty, $new:expr, $wait:expr, $what:literal;)*) => {
        $(
            static $kernel: &dyn Kernel = &sampled::<Timeout<$way>>(const { &CARD.named(concat!("timeout-", $word), concat!("waits for ", $what, " by ", $call, ", again and again, and looks how late it was")) });

            struct $way($held);

            impl TimedWait for $way {
                const CALL: &'static str = $call;
                const GRAIN: Duration = $grain;

                fn new() -> Result<Self, Error> {
                    Ok($way($new))
                }

                fn wait(&self, time: Duration) -> io::Result<bool> {
                    let wait: fn(&$held, Duration) -> io::Result<bool> = $wait;
                    wait(&self.0, time)
                }
            }
        )*
        pub(crate) static KERNELS: &[&dyn Kernel] = &[$($kernel),*];
    };
}

const NANO: Duration = Duration::from_nanos(1);
const MICRO: Duration = Duration::from_micros(1);
const MILLI: Duration = Duration::from_millis(1);

calls! {
    TIMEOUT_POLL, "poll", Poll, "poll", MILLI;
        (), (), |(), time| wait::poll(time), "no descriptor";
    TIMEOUT_PPOLL, "ppoll", Ppoll, "ppoll", NANO;
        (), (), |(), time| wait::ppoll(time), "no descriptor";
    TIMEOUT_SELECT, "select", Select, "select", MICRO;
        (), (), |(), time| wait::select(time), "no descriptor";
    TIMEOUT_EPOLL, "epoll", EpollWait, "epoll_wait", MILLI;
        Epoll, Epoll::new()?, Epoll::wait, "no descriptor";
    TIMEOUT_NANOSLEEP, "nanosleep", Nanosleep, "nanosleep", NANO;
        (), (), |(), time| wait::nanosleep(time), "a time";
    TIMEOUT_CLOCK_NANOSLEEP, "clock-nanosleep", ClockNanosleep, "clock_nanosleep", NANO;
        (), (), |(), time| wait::clock_nanosleep(time), "a time of CLOCK_MONOTONIC that it has worked out";
    TIMEOUT_TIMERFD, "timerfd", Timer, "timerfd_settime and read", NANO;
        TimerFd, TimerFd::new()?, TimerFd::wait, "a timer of CLOCK_MONOTONIC";
    TIMEOUT_SIGTIMEDWAIT, "sigtimedwait", Sigtimedwait, "sigtimedwait", NANO;
        (), (), |(), time| wait::sigtimedwait(time), "no signal";
    TIMEOUT_FUTEX, "futex", Futex, "FUTEX_WAIT", NANO;
        (), (), |(), time| wait::futex(time), "a word that nobody changes";
    TIMEOUT_COND, "cond", Cond, "pthread_cond_timedwait", NANO;
        Bell, Bell::new()?, Bell::wait, "a condition variable that nobody signals";
    TIMEOUT_MUTEX, "mutex", Mutex, "pthread_mutex_timedlock", NANO;
        Lock, Lock::new()?, Lock::wait, "a mutex that it holds itself";
    TIMEOUT_RWLOCK, "rwlock", Writer, "pthread_rwlock_timedwrlock", NANO;
        RwLock, RwLock::new()?, RwLock::wait, "a lock that it reads under itself";
    TIMEOUT_SEM, "sem", Sem, "sem_timedwait", NANO;
        Semaphore, Semaphore::new()?, Semaphore::wait, "a semaphore that nobody posts";
    TIMEOUT_MQ, "mq", Mq, "mq_timedreceive", NANO;
        Queue, Queue::new()?, Queue::wait, "a message that nobody sends";
    TIMEOUT_PARK, "park", Park, "std::thread::park_timeout", NANO;
        (), (), |(), time| wait::park(time), "nobody";
}
