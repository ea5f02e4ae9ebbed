//! `cmt-quota`: what more threads do under a CPU quota.
//!
//! A quota is the processor time that the threads of a control group may have together in each period. When it is used up, all of them
//! stop until the next period (Linux, Documentation/scheduler/sched-bwc.rst). A run that is shorter than what is left of a period
//! shows nothing of it, so a run here is several whole periods long, and begins with one.

use std::time::{Duration, Instant};

use charz_data::params::SPAN;
use charz_data::{Bytes, Card, Family, Metric, Params, Role, Work};
use charz_system::cgroup;

use super::Unit;
use super::compute::Compute;
use charz_kernels::kernel::{Error, Kernel, Stage, Worker};
use charz_kernels::plain::{Extent, kernels, stage};
use charz_kernels::watch::Watch;

/// Of a run: the last one may be counted in part, if a unit ends late.
const PERIODS: u32 = 5;

/// A thread that did not run for so long was stopped: longer than a turn of the scheduler's, shorter than what a quota takes.
const STOPPED: Duration = Duration::from_millis(5);

/// Units between two looks at the time: some tens of microseconds.
const UNITS: u64 = 8;

kernels! {
    Quota => Card::new(
        "cmt-quota",
        Family::Workload,
        "does the units of cmt-compute for five periods of the CPU quota of its control group",
        Metric::ops("one unit, as of cmt-compute"),
    )
    .uncounted_traffic(
        "threads that the quota stops count as long as they stand still. A run begins with a period of the quota. A span that is longer \
         than five periods is taken",
    )
    .params(&[&SPAN])
    .role(Role::Quota)
    .source("P. Turner, B. B. Rao, N. Rao: CPU bandwidth control for CFS (Linux Symposium 2010)")
    .blocks_in_kernel(true);
}

struct Quota(&'static Card);

impl Quota {
    fn find(&self) -> Result<cgroup::Quota, Error> {
        cgroup::quota().ok_or_else(|| {
            Error::Unavailable(format!(
                "{} needs a CPU quota, and the control groups of this process have none; example: systemd-run --scope -p \
                 CPUQuota=150% charz sweep --kernel {0}",
                self.0.name
            ))
        })
    }

    fn span(quota: cgroup::Quota, params: &Params) -> Duration {
        params.span().max(quota.period * PERIODS)
    }
}

impl Kernel for Quota {
    fn card(&self) -> &'static Card {
        self.0
    }

    fn check(&self) -> Result<(), Error> {
        self.find().map(|_| ())
    }

    fn footprint(&self, _: &Params) -> Bytes {
        Bytes(0)
    }

    /// Nanoseconds, since they follow from the quota.
    fn operations(&self, params: &Params) -> Option<f64> {
        self.find().ok().map(|quota| Quota::span(quota, params).as_nanos() as f64)
    }

    fn stage(&self, params: &Params, workers: usize) -> Result<Box<dyn Stage>, Error> {
        let (name, quota) = (&*self.0.name, self.find()?);
        if workers == 0 {
            return Err(Error::Unavailable(format!("{name} takes at least 1 worker, not 0: give it more threads")));
        }
        stage("u64 multiply-add", Extent::Span(Quota::span(quota, params)), move |rank| {
            Ok(Box::new(Doer { name, quota, unit: Compute::new(rank), done: 0 }))
        })
    }
}

struct Doer {
    name: &'static str,
    quota: cgroup::Quota,
    unit: Compute,
    /// Units of the last run.
    done: u64,
}

impl Doer {
    fn do_units(&mut self) {
        for _ in 0..UNITS {
            // It refuses nothing.
            let _ = self.unit.unit();
        }
        self.done += UNITS;
    }
}

impl Worker for Doer {
    /// Works until the quota has stopped it, which it does within a period if at all: it goes on with the next one.
    fn prepare(&mut self) {
        let begun = Instant::now();
        let mut last = begun;
        while last - begun <= self.quota.period {
            self.do_units();
            let now = Instant::now();
            if now - last >= STOPPED {
                break;
            }
            last = now;
        }
        self.unit.prepare();
        self.done = 0;
    }

    fn run(&mut self, watch: &Watch) -> Work {
        while !watch.should_stop() {
            self.do_units();
        }
        Work::ops(self.done)
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.unit.fault(self.done).map_or(Ok(()), |fault| Err(Error::void(self.name, fault)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_kernels::tests::check_noticed;

    #[test]
    fn a_unit_that_was_not_done_is_noticed() {
        let quota = cgroup::Quota { cpus: 1.0, period: Duration::from_millis(1) };
        let mut doer = Doer { name: "cmt-quota", quota, unit: Compute::new(0), done: 0 };
        check_noticed(&mut doer, Some(Duration::from_millis(2)), |doer| doer.done += 1);
    }

    #[test]
    fn a_run_is_several_periods_long() {
        let quota = |millis| cgroup::Quota { cpus: 0.5, period: Duration::from_millis(millis) };
        let params = Params { span_ns: 200_000_000, ..Params::SMALL };
        assert_eq!(Quota::span(quota(100), &params), Duration::from_millis(500));
        assert_eq!(Quota::span(quota(20), &params), Duration::from_millis(200));
    }
}
