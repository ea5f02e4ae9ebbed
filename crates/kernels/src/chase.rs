//! The latency kernels: loads of which each needs what the one before it found.
//!
//! A worker follows rings through its block. Each load takes as long as the caches, the memory and the translation of addresses
//! need for it, and no two loads of a ring are ever under way at once. In which order a ring comes by its places decides what
//! is measured: at random nothing can be foretold and every load pays in full; in ascending order the hardware reads ahead.
//!
//! The random rings are cycles drawn with equal chances from all cycles over the places, as in S. Sattolo, "An algorithm to
//! generate a random cyclic permutation", Information Processing Letters 22 (1986). They are drawn the other way round: the places
//! are shuffled, and each is linked to the one behind it, which gives every cycle the same chance, too. Sattolo's own loop leaves
//! it unknown at which step of the cycle a place comes by; to find out takes a walk along the whole cycle, each step of which waits
//! for memory, whereas here the step is known, and is written beside the link.

mod worker;

use charz_data::card::{self, ROOM};
use charz_data::params::{CHAINS, MEMORY, OPS, PAGES, SIZE, SPAN, STRIDE};
use charz_data::{Bytes, Card, Family, Metric, Param, Params, Role};

use crate::kernel::{Axes, Error, Sizes, Stage};
use crate::plain::{Extent, PlainKernel, kernels, stage};

pub(crate) use worker::Order;
use worker::{Chaser, Chasing};

/// The fewest cycles from a load that finds its word in the first-level cache to the next one: 3 on the Woodcrest and the Opteron of
/// TACC's paper, 4 or 5 on processors since (Agner Fog, "The microarchitecture of Intel, AMD and VIA CPUs").
pub(crate) const LATENCY: f64 = 3.0;

/// Loads that a core can begin in a cycle: 3 on Zen 3 and on Golden Cove (Agner Fog, as above).
pub(crate) const LOADS: f64 = 3.0;

/// The pages on which a curve of latencies is drawn: with the smallest the translation of addresses costs most, and with huge ones
/// next to nothing.
const CURVE_PAGES: (&Param, &str) = (&PAGES, "4k,thp");

const CARD: Card = Card::new("", Family::Memory, "", Metric::op_time("a load that needs what the one before it found"))
    .params(&[&SPAN, &SIZE, &MEMORY, &PAGES, &STRIDE])
    .source("")
    .max_per_cycle(ROOM / LATENCY);

const STRIDES: Axes =
    Axes { sizes: Sizes::Levels, lists: &[CURVE_PAGES, (&STRIDE, "64,128,256,512,1024,2048,4096")], alone: true };

const STRIDE_CARD: Card = CARD
    .uncounted_traffic(
        "what the hardware reads ahead, which is most of it where the stride is short: then the time is none of memory's latency. \
         Beyond a line that depends on how many load instructions the loop has: a prefetcher that goes by their addresses follows 16 \
         of them, but not 100, which took 2 to 10 times as long. With long strides the places share few sets of the caches",
    )
    .role(Role::Latency(card::Chase::Stride));

kernels! {
    chase, Order::Random, Axes { sizes: Sizes::Curve, lists: &[CURVE_PAGES], alone: true } => CARD
        .named("chase-random", "follows one random cycle through all places of a private block, a load at a time")
        .uncounted_traffic("the translation of the address: with small pages a block that is larger than what the TLB \
            reaches pays for page walks as well; and, on some processors, the other line of a pair that the hardware \
            fetches")
        .role(Role::Latency(card::Chase::Random))
        .source("S. Sattolo, \"An algorithm to generate a random cyclic permutation\", Information Processing Letters \
            22 (1986)");
    chase, Order::Ascending, STRIDES => STRIDE_CARD
        .named("chase-stride", "follows the places of a private block in ascending order, a stride apart and over \
            again, a load at a time, by a loop of 16 load instructions")
        .source("Milfeld et al., \"Effective Use of Multi-Core Commodity Systems in HPC\": strided reads, 64 to 4096 \
            bytes");
    chase, Order::Unrolled, STRIDES => STRIDE_CARD
        .named("chase-stride-unrolled", "does as chase-stride by a loop of 100 load instructions, as lmbench's")
        .source("L. McVoy, C. Staelin, lmbench (1996): lat_mem_rd, whose loop has 100 loads");
    chase, Order::Random, Axes {
        sizes: Sizes::Levels,
        lists: &[(&PAGES, "thp"), (&CHAINS, "1,2,4,8,16")],
        alone: true,
    } => CARD
        .named("chase-chains", "follows several random cycles through a private block at once, each of which waits for \
            itself alone")
        .metric(Metric::op_time("a load of any chain: as long as the loads of all chains are under way together, more \
            chains make it shorter"))
        .uncounted_traffic("as for chase-random")
        .params(&[&SPAN, &SIZE, &MEMORY, &PAGES, &STRIDE, &CHAINS])
        .role(Role::Latency(card::Chase::Chains))
        .source("chase-random, with so many cycles that each has its share of the places")
        .max_per_cycle(ROOM * LOADS);
    chase, Order::Computing, Axes {
        sizes: Sizes::Block,
        lists: &[(&PAGES, "thp"), (&CHAINS, "1,2,4,8,16"), (&OPS, "0,100")],
        alone: true,
    } => CARD
        .named("chase-compute", "follows several random cycles through a private block in turn: computes the place of the next \
            load from what the last one found, by operations that wait for each other, asks for it, and goes on with the next cycle")
        .metric(Metric::op_time("a load of any chain with the operations behind it: as long as one chain computes while \
            others wait, more chains make it shorter"))
        .uncounted_traffic("as for chase-random; a chain asks for its next place by a prefetch, behind which the core computes \
            for the others: behind a load that waits it has room for a few hundred instructions only")
        .params(&[&SPAN, &SIZE, &MEMORY, &PAGES, &OPS, &CHAINS, &STRIDE])
        .role(Role::Latency(card::Chase::Computing))
        .source("N. Nagarajayya, \"Improving Application Efficiency Through Chip Multi-Threading\" (2005), Figures 2, 3 and 7: \
            C cycles of computing, then M of waiting")
        .max_per_cycle(ROOM * LOADS);
}

const fn chase(card: &'static Card, order: Order, axes: Axes) -> PlainKernel<Order> {
    let footprint = |kernel: &PlainKernel<Order>, params: &Params| footprint(kernel.data, params);
    let kernel = PlainKernel::new(card, order, footprint, |kernel, params, _| {
        let chains = if kernel.card.obeys(&CHAINS) { params.chains } else { 1 };
        chasing(kernel.name(), kernel.data, &Params { chains, ..*params })
    });
    kernel.axes(axes)
}

/// The memory of a worker with its block and what it takes to draw the order.
pub(crate) fn footprint(order: Order, params: &Params) -> Bytes {
    let places = params.size_bytes / params.stride_bytes.max(1);
    Bytes(params.pages.footprint(params.size_bytes).0.saturating_add(order.footprint(places)))
}

pub(crate) fn chasing(name: &'static str, order: Order, params: &Params) -> Result<Box<dyn Stage>, Error> {
    let chasing = Chasing::new(name, order, params)?;
    stage("loads of 8 bytes", Extent::Span(params.span()), move |rank| Ok(Box::new(Chaser::new(chasing, rank)?)))
}

#[cfg(test)]
mod tests;
