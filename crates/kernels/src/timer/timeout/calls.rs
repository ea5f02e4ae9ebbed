//! The calls.

use std::io;
use std::time::Duration;

use super::{CARD, TimedWait, Timeout};
use crate::kernel::{Error, Kernel};
use crate::sample::sampled;
use crate::sys::wait::{
    self, Bell, Epoll, Lock, ProcessorTimer, Queue, RwLock, Semaphore, SemaphoreSet, TimerFd, WallTimer,
};

/// A kernel each: its word, the call and the times that it takes, what that can be asked for, what it waits for; and how, or what the worker has for it.
macro_rules! calls {
    ($($word:literal, $way:ident, $call:literal $(($takes:literal))?, $grain:expr, $what:literal, $($wait:path)? $([$held:ident])?;)*) => {
        $(
            struct $way($($held)?);

            impl TimedWait for $way {
                const CALL: &'static str = $call;
                const GRAIN: Duration = $grain;

                fn new() -> Result<Self, Error> {
                    Ok($way($($held::new()?)?))
                }

                fn wait(&self, time: Duration) -> io::Result<bool> {
                    $($wait(time))?
                    $($held::wait(&self.0, time))?
                }
            }
        )*
        pub(crate) static KERNELS: &[&dyn Kernel] = &[$(&sampled::<Timeout<$way>>(const {
            &CARD.named(concat!("timeout-", $word),
                concat!("waits for ", $what, " by ", $call, $(" (", $takes, ")",)? ", again and again, and looks how late it was"))
        })),*];
    };
}

const NANO: Duration = Duration::from_nanos(1);
const MICRO: Duration = Duration::from_micros(1);
const MILLI: Duration = Duration::from_millis(1);

calls! {
    "poll", Poll, "poll" ("whole milliseconds, rounded up"), MILLI, "no descriptor", wait::poll;
    "ppoll", Ppoll, "ppoll", NANO, "no descriptor", wait::ppoll;
    "select", Select, "select" ("whole microseconds, rounded up"), MICRO, "no descriptor", wait::select;
    "epoll", EpollWait, "epoll_wait" ("whole milliseconds, rounded up"), MILLI, "no descriptor", [Epoll];
    "nanosleep", Nanosleep, "nanosleep", NANO, "a time", wait::nanosleep;
    "clock-nanosleep", ClockNanosleep, "clock_nanosleep", NANO, "a time of CLOCK_MONOTONIC that it has worked out",
        wait::clock_nanosleep;
    "timerfd", Timer, "timerfd_settime and read", NANO, "a timer of CLOCK_MONOTONIC", [TimerFd];
    "timer", PosixTimer, "timer_settime and sigwaitinfo", NANO, "a timer's signal to this thread", [WallTimer];
    "timer-cpu", CpuTimer, "timer_settime and sigtimedwait", NANO,
        "the signal of a timer of its processor time, without sleeping,", [ProcessorTimer];
    "sigtimedwait", Sigtimedwait, "sigtimedwait", NANO, "no signal", wait::sigtimedwait;
    "futex", Futex, "FUTEX_WAIT", NANO, "a word that no thread changes", wait::futex;
    "cond", Cond, "pthread_cond_timedwait", NANO, "a condition variable that no thread signals", [Bell];
    "mutex", Mutex, "pthread_mutex_timedlock", NANO, "a mutex that it holds itself", [Lock];
    "rwlock", Writer, "pthread_rwlock_timedwrlock", NANO, "a lock that it reads under itself", [RwLock];
    "sem", Sem, "sem_timedwait", NANO, "a semaphore that no thread posts", [Semaphore];
    "semop", Semop, "semtimedop", NANO, "a semaphore that no process posts", [SemaphoreSet];
    "mq", Mq, "mq_timedreceive", NANO, "a message that no thread sends", [Queue];
    "park", Park, "std::thread::park_timeout", NANO, "no thread", wait::park;
}
