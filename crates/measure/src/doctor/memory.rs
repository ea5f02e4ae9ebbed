//! Pages, and what the kernel does with them unasked.

use super::root::{chosen, start};
use super::{Item, Look, Seen};
use charz_data::{PageKind, cpulist, units};
use charz_kernels::sys::mmap;
use charz_system::file::ONLINE_NODES as NODES;
use charz_system::meminfo;

pub(super) const ITEMS: &[Item] = &[
    Item {
        name: "transparent huge pages",
        key: "thp",
        effect: "Blocks get small pages although `--pages thp` is asked for, and rates hold more address translation.",
        checks: &["V20"],
        look: transparent,
    },
    Item {
        name: "huge page defragmentation",
        key: "thp-defrag",
        effect: "Where memory is fragmented, huge pages come later or not at all.",
        checks: &["V20"],
        look: defrag,
    },
    Item {
        name: "reserved huge pages",
        key: "huge-pages",
        effect: "Cells with `--pages 2m` or `--pages 1g` are skipped.",
        checks: &["V20"],
        look: reserved,
    },
    Item {
        name: "NUMA balancing",
        key: "numa-balancing",
        effect: "The kernel takes mappings away to see who touches which page, and moves pages while they are measured.",
        checks: &["V21", "V22"],
        look: balancing,
    },
    Item {
        name: "same-page merging",
        key: "ksm",
        effect: "A kernel thread compares pages, and pages with the same content become one that fits the caches.",
        checks: &["V03", "V22"],
        look: merging,
    },
    Item {
        name: "swap",
        key: "swap",
        effect: "Memory is on disk already; blocks may follow, and faults then wait for the disk.",
        checks: &["V04", "V22"],
        look: swap,
    },
    Item {
        name: "overcommit",
        key: "overcommit",
        effect: "The kernel promises no more memory than it has, so blocks may be refused though memory is free.",
        checks: &[],
        look: overcommit,
    },
    Item {
        name: "memory",
        key: "memory",
        effect: "Configurations whose blocks do not fit are skipped; the largest numbers of threads go first.",
        checks: &["V27"],
        look: available,
    },
];

const THP: &str = "/sys/kernel/mm/transparent_hugepage";

/// The size of a worker's block, unless another one is asked for.
const USUAL_BLOCK: u64 = 256 << 20;

fn choice(look: &Look, file: &str) -> Result<String, String> {
    let path = format!("{THP}/{file}");
    let text = look.root.text(&path)?;
    chosen(&text).map(str::to_owned).ok_or_else(|| format!("{path}: {:?} holds no choice", start(&text)))
}

fn transparent(look: &Look) -> Result<Seen, String> {
    let choice = choice(look, "enabled")?;
    // Memory that was never written is one page of zeros; blocks are written before they are read.
    let zero = look.root.text(format!("{THP}/use_zero_page")).unwrap_or_else(|_| "unknown".into());
    // Since Linux 6.8 each size has a choice of its own.
    let own = |kib: u64| {
        let own = self::choice(look, &format!("hugepages-{kib}kB/enabled")).ok().filter(|own| own != "never")?;
        Some(format!(", {} {own}", units::iec(kib << 10)))
    };
    let own: String = sizes(look, THP).unwrap_or_default().into_iter().filter_map(own).collect();
    let read = format!("{choice}, use_zero_page {}{own}", start(&zero));
    Ok(match choice.as_str() {
        "always" | "madvise" => Seen::ok(read),
        _ => Seen::limits(read, format!("`echo madvise > {THP}/enabled`")),
    }
    .valued(choice))
}

/// KiB of the page sizes that the kernel lists in a folder, ascending.
fn sizes(look: &Look, folder: &str) -> Result<Vec<u64>, String> {
    let kib = |name: String| name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse::<u64>().ok();
    let mut sizes: Vec<u64> = look.root.names(folder)?.into_iter().filter_map(kib).collect();
    sizes.sort_unstable();
    Ok(sizes)
}

fn defrag(look: &Look) -> Result<Seen, String> {
    let choice = choice(look, "defrag")?;
    Ok(match choice.as_str() {
        // With these, asking waits until the kernel has made room.
        "always" | "madvise" | "defer+madvise" => Seen::ok(choice),
        _ => Seen::limits(choice, format!("`echo madvise > {THP}/defrag`")),
    })
}

fn reserved(look: &Look) -> Result<Seen, String> {
    const FOLDER: &str = "/sys/kernel/mm/hugepages";
    let pools = sizes(look, FOLDER)?;
    let (mut read, mut empty) = (Vec::new(), Vec::new());
    for kib in &pools {
        let (bytes, free) = (kib << 10, look.root.number(format!("{FOLDER}/hugepages-{kib}kB/free_hugepages"))?);
        read.push(format!("{}: {free} free", units::iec(bytes)));
        // aarch64 has other sizes too.
        let kind = [PageKind::Huge2M, PageKind::Huge1G].into_iter().find(|kind| kind.bytes() as u64 == bytes);
        empty.extend(kind.filter(|_| free == 0));
    }
    let read = format!("{}; the smallest have {}", read.join(", "), units::iec(mmap::base_page() as u64));
    if pools.is_empty() {
        return Err(format!("{FOLDER}: names no pool"));
    }
    if empty.is_empty() {
        return Ok(Seen::ok(read));
    }
    // Pages in use count too: a smaller number would take pages from the pool.
    let pool = format!("{FOLDER}/hugepages-2048kB/nr_hugepages");
    let before = look.root.number(&pool).ok().filter(|_| empty.contains(&PageKind::Huge2M));
    Ok(match before {
        Some(before) => Seen::limits(read, format!("`echo {} > {pool}`", before.saturating_add(512))),
        None => {
            Seen::limits(read, "Reserve pages of the size that has none free, those of 1 GiB when the kernel starts.")
        }
    })
}

fn balancing(look: &Look) -> Result<Seen, String> {
    let mode = look.root.number("/proc/sys/kernel/numa_balancing")?;
    let nodes = cpulist::parse(&look.root.text(NODES)?).map_err(|error| format!("{NODES}: {error}"))?.len();
    let read = format!("kernel.numa_balancing is {mode}, NUMA nodes: {nodes}");
    let moves = mode > 0 && nodes > 1;
    let seen = if moves { Seen::disturbs(read, "`sysctl kernel.numa_balancing=0`") } else { Seen::ok(read) };
    Ok(seen.switched(mode > 0))
}

fn merging(look: &Look) -> Result<Seen, String> {
    const RUN: &str = "/sys/kernel/mm/ksm/run";
    let run = look.root.number(RUN)?;
    let read = format!("{RUN} is {run}");
    let seen = if run == 1 { Seen::disturbs(read, format!("`echo 0 > {RUN}`")) } else { Seen::ok(read) };
    Ok(seen.switched(run == 1))
}

fn bytes(look: &Look, name: &str) -> Result<u64, String> {
    let bytes = meminfo::bytes(&look.root.text(meminfo::FILE)?, name);
    bytes.ok_or_else(|| format!("{}: does not tell {name}", meminfo::FILE))
}

fn swap(look: &Look) -> Result<Seen, String> {
    let (total, free) = (bytes(look, "SwapTotal")?, bytes(look, "SwapFree")?);
    let used = total.saturating_sub(free);
    // What does not fit would end programs.
    let fix = match bytes(look, "MemAvailable") {
        Ok(available) if used < available => "`swapoff -a`",
        _ => "End programs until memory holds what is in swap, then `swapoff -a`.",
    };
    Ok(match (total, used) {
        (0, _) => Seen::ok("none"),
        (_, 0) => Seen::ok(format!("{}, unused", units::iec(total))).valued("unused"),
        _ => Seen::limits(format!("{} of {} used", units::iec(used), units::iec(total)), fix).valued("used"),
    })
}

fn overcommit(look: &Look) -> Result<Seen, String> {
    let mode = look.root.number("/proc/sys/vm/overcommit_memory")?;
    let read = format!("vm.overcommit_memory is {mode}");
    let seen = if mode == 2 { Seen::limits(read, "`sysctl vm.overcommit_memory=0`") } else { Seen::ok(read) };
    Ok(seen.valued(mode.to_string()))
}

fn available(look: &Look) -> Result<Seen, String> {
    let budget =
        look.limits.memory_budget_bytes.ok_or("neither /proc/meminfo nor a control group reports free memory")?;
    let allowed = super::processors::usable_online(look)? as u64;
    let read = format!("{} for the blocks of a configuration", units::iec(budget));
    let fix = "Free memory, lift the control group's limit, or take smaller blocks (`--size`).";
    Ok(if budget >= allowed * USUAL_BLOCK { Seen::ok(read) } else { Seen::limits(read, fix) })
}
