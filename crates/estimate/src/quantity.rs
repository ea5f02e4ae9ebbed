//! What an estimate is of its cell, and what a quota leaves of it.

use charz_data::Role;
use charz_data::report::Report;

/// What an estimate is of its cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// What the hardware does.
    Capacity,
    /// What the machine, shared as it was, gave.
    Delivered,
    /// The capacity of bound threads, times the ratio of the two deliveries.
    Estimated,
}

/// Which question the estimates of a report answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// What the hardware can do in each placement.
    Hardware,
    /// What this machine, shared as it was, gave each placement.
    Shared,
}

/// The share of their time that a CPU quota leaves so many threads; all of it where the number has the quota in it: where it was delivered,
/// where a quota is measured, and for a program, whose runs have its pauses.
pub fn left_by_quota(report: &Report, kernel: &str, threads: u64, quantity: Quantity) -> f64 {
    let counts = !matches!(report.role(kernel), Role::Quota | Role::Program) && quantity != Quantity::Delivered;
    // More threads than CPUs use no more time.
    let busy = threads.min(report.machine.usable_strands().count() as u64) as f64;
    report.machine.quota().filter(|_| counts).map_or(1.0, |cpus| (cpus / busy).min(1.0))
}
