//! The text of `psrinfo -pv`, as Solaris prints it.
//!
//! Three or more consecutive ids are written as a range, fewer are written out, and pieces are separated by blanks:
//! `(0 1)`, `(0-7)`, `(0-7 16-23)`. Cores have lines of their own where a processor has several.

use std::collections::BTreeMap;
use std::io::{self, Write};

use charz_topology::{Machine, Strand};

use charz_data::escape::{counted, plain};

pub(super) fn write(machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
    // A machine without packages is shown as one processor, a strand without a core as a core of its own.
    let mut processors: BTreeMap<Option<u32>, Vec<&Strand>> = BTreeMap::new();
    for strand in &machine.strands {
        processors.entry(strand.package).or_default().push(strand);
    }
    for (package, strands) in processors {
        let mut cores: BTreeMap<(Option<u32>, Option<u32>), Vec<u32>> = BTreeMap::new();
        for strand in &strands {
            let own = strand.core.is_none().then_some(strand.os_id);
            cores.entry((strand.core, own)).or_default().push(strand.os_id);
        }
        // Where the description has no cores, none are made up.
        let known = strands.iter().any(|strand| strand.core.is_some()) && cores.len() > 1;
        let several = if known { format!("{} and ", counted(cores.len(), "core")) } else { String::new() };
        let ids = strands.iter().map(|strand| strand.os_id).collect();
        writeln!(out, "The physical processor has {several}{}", processors_text(ids))?;
        if known {
            for ids in cores.into_values() {
                writeln!(out, "  The core has {}", processors_text(ids))?;
            }
        }
        if let Some(chip) = chip(machine, package, &strands) {
            writeln!(out, "    {chip}")?;
        }
    }
    Ok(())
}

fn processors_text(mut ids: Vec<u32>) -> String {
    ids.sort_unstable();
    format!("{} ({})", counted(ids.len(), "virtual processor"), collapsed(&ids))
}

pub(super) fn collapsed(ids: &[u32]) -> String {
    let mut pieces = Vec::new();
    for run in ids.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
        match run {
            [first, _, .., last] => pieces.push(format!("{first}-{last}")),
            few => pieces.extend(few.iter().map(u32::to_string)),
        }
    }
    pieces.join(" ")
}

fn chip(machine: &Machine, package: Option<u32>, strands: &[&Strand]) -> Option<String> {
    let model = machine.packages.get(package? as usize)?.model.as_deref()?;
    let kinds = strands.iter().filter_map(|strand| machine.kinds.get(strand.kind? as usize));
    let infos = kinds.flat_map(|kind| &kind.infos).filter(|info| info.name == "FrequencyMaxMHz");
    let clock = infos.filter_map(|info| info.value.parse::<u32>().ok()).max();
    Some(plain(model) + &clock.map(|clock| format!(" (clock {clock} MHz)")).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::collapsed;

    #[test]
    fn three_ids_in_a_row_make_a_range() {
        for (ids, text) in [
            (vec![0, 1], "0 1"),
            (vec![0, 1, 2], "0-2"),
            (vec![0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 40, 41], "0-7 16-18 40 41"),
            (vec![5], "5"),
            (vec![u32::MAX - 1, u32::MAX], "4294967294 4294967295"),
        ] {
            assert_eq!(collapsed(&ids), text);
        }
    }
}
