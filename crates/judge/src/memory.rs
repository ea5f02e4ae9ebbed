//! What memory was measured: V20, V21, V22 and V27.

use charz_data::{PageKind, Params, params};

use super::case::{Case, shares_memory};
use super::{exclude, mark, raise};
use charz_data::checks::{BLOCK_PER_CACHE, V20, V21, V22, V27, V34};
use charz_data::report::{Lap, Mark, Nodes, Pages, Run, Severity};
use charz_data::units;

pub(super) fn marks(case: &Case<'_>) -> Vec<Option<Mark>> {
    vec![pages(case), nodes(case), faults(case), cached(case), used_by_others(case)]
}

/// Over the invocations that count.
fn used_by_others(case: &Case<'_>) -> Option<Mark> {
    let counted = || case.done().filter(|invocation| invocation.clean_runs().next().is_some());
    let workers = case.cell.seats.len();
    let used = match shares_memory(case.cell, case.facts) {
        _ if case.crowded => return None,
        true => exclude::others(counted(), workers, case.facts)?,
        // The second level is often shared, if only by the strands of a core.
        false if case.facts.shares_l2 && case.cell.level.as_deref() == Some("L2") => {
            exclude::others_elsewhere(counted(), workers, case.facts)?
        }
        false => return None,
    };
    let told = || format!("other programs used {used:.2} CPUs");
    let taken = exclude::share_taken(used, workers, case.facts);
    // A program that leaves CPUs free shares the memory, the power and the clock with them even so.
    let on_free = || {
        let is_more = V34.severity(exclude::share_of_cpus(used, case.facts)).is_some();
        is_more.then(|| mark(&V34, Severity::Note, format!("{} that the program left free", told())))
    };
    raise(&V34, taken, told).or_else(on_free)
}

/// By the worst invocation: the cell speaks of one kind of pages.
fn pages(case: &Case<'_>) -> Option<Mark> {
    if !case.obeys(&params::PAGES) {
        return None;
    }
    let policy = case.facts.params.pages;
    let got = case.evidence().filter_map(|evidence| evidence.pages.as_ref());
    let worst = got.max_by(|a, b| lacking(a, policy).total_cmp(&lacking(b, policy)))?;
    let (lack, rest) = (lacking(worst, policy), rest(worst, &case.facts.params));
    let short = raise(&V20, lack - rest, || {
        format!("huge pages not obtained: {policy} pages for {} of the memory", units::percent(1.0 - lack))
    });
    let base = units::iec(worst.base_page_bytes);
    let other = match policy {
        PageKind::Small if worst.base_page_bytes != policy.bytes() as u64 => {
            format!("{policy} means base pages, which are {base} here")
        }
        PageKind::Transparent if V20.severity(lack).is_some() => {
            let (small, huge) = (units::percent(lack), units::iec(worst.transparent_page_bytes.unwrap_or(0)));
            format!("{small} of the memory is on pages of {base}: a transparent huge page is {huge} here")
        }
        _ => return short,
    };
    short.or_else(|| Some(mark(&V20, Severity::Note, other)))
}

/// The share of each block in which no transparent huge page fits, where these are larger than what blocks are rounded up to.
fn rest(pages: &Pages, params: &Params) -> f64 {
    let large = |huge: &u64| params.pages == PageKind::Transparent && *huge > params.pages.bytes() as u64;
    let block = params.pages.footprint(params.size_bytes).0;
    pages.transparent_page_bytes.filter(large).map_or(0.0, |huge| (block % huge) as f64 / block.max(1) as f64)
}

/// The share of the memory that is not on pages of this kind; not a number where there is no memory.
fn lacking(pages: &Pages, policy: PageKind) -> f64 {
    let of_kind = match policy {
        PageKind::Small => pages.base_bytes,
        PageKind::Transparent => pages.transparent_bytes,
        PageKind::Huge2M => pages.huge_2m_bytes,
        PageKind::Huge1G => pages.huge_1g_bytes,
    };
    1.0 - of_kind as f64 / pages.total() as f64
}

fn nodes(case: &Case<'_>) -> Option<Mark> {
    let nodes = || case.evidence().filter_map(|evidence| evidence.nodes.as_ref());
    let elsewhere =
        |nodes: &Nodes| 1.0 - nodes.asked_bytes.unwrap_or(nodes.local_bytes) as f64 / nodes.bytes.max(1) as f64;
    let (worst, asked) = nodes()
        .map(|nodes| (elsewhere(nodes), nodes.asked_bytes.is_some()))
        .max_by(|one, other| one.0.total_cmp(&other.0))?;
    let balanced = nodes().any(|nodes| nodes.balancing == Some(true)).then(|| {
        let reason = "the kernel moves pages between NUMA nodes (NUMA balancing)".into();
        mark(&V21, Severity::Suspect, reason)
    });
    let away = || match asked {
        true => format!("{} of the memory is on the wrong NUMA nodes", units::percent(worst)),
        false => format!("{} of the memory is on another NUMA node than its thread", units::percent(worst)),
    };
    raise(&V21, worst, away).or(balanced)
}

fn faults(case: &Case<'_>) -> Option<Mark> {
    let faulted = |run: &&Run| run.dirty.iter().any(|code| code == V22.code);
    let (runs, all) = (case.runs().filter(faulted).count(), case.runs().count());
    let for_disk = case.runs().flat_map(|run| &run.laps).any(Lap::waited_for_disk);
    raise(&V22, runs as f64 / all.max(1) as f64, || {
        let what = if for_disk { "waited for the disk" } else { "was not there yet" };
        format!("{runs} of {all} iterations discarded: page faults, as memory {what}")
    })
}

fn cached(case: &Case<'_>) -> Option<Mark> {
    let cache = case.facts.last_cache_bytes.filter(|_| case.obeys(&params::SIZE) && case.facts.about_memory)?;
    // A divided block is beyond them with those of the others.
    let together = if case.cell.block_bytes.is_some() { case.cell.workers } else { 1 };
    let block = case.facts.params.size_bytes.saturating_mul(together);
    let needed = cache.saturating_mul(BLOCK_PER_CACHE);
    raise(&V27, needed as f64 / block as f64, || {
        let (block, cache) = (units::iec(block), units::iec(cache));
        format!("working set {block} is below {BLOCK_PER_CACHE} times the last-level cache of {cache}")
    })
}
