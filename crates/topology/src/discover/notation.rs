//! How hwloc's XML writes sets and distances, and the infos that are ours.

/// The info of a Core whose ALU groups are known: how many it has, with a blank and [`STATED`] behind it unless they were measured.
pub(super) const ALU_GROUPS: &str = "CharzAluGroups";
pub(super) const STATED: &str = "stated";

/// The info of the Machine with a doubt; one for each.
pub(super) const DOUBT: &str = "CharzDoubt";

/// The info of a NUMANode or of a device whose CPUs are those of no object around it: a list of them.
pub(super) const NODE_CPUS: &str = "CharzCPUs";

/// The subtype of an accelerator that is no GPU: hwloc has one type for both.
pub(super) const ACCELERATOR: &str = "Accelerator";

/// A line with an info.
pub(super) fn info(name: &str, value: &str) -> String {
    format!("<info name=\"{name}\" value=\"{}\"/>\n", super::xml::escaped(value))
}

/// The largest identity of an object of a text; those beyond it are unused.
pub(super) fn unused_identity(text: &str) -> u64 {
    let all = text.split(" gp_index=\"").skip(1).filter_map(|rest| rest.split('"').next()?.parse().ok());
    all.max().unwrap_or(0)
}

/// A matrix of distances between the nodes with these ids, row by row, of a kind of hwloc/distances.h.
pub(super) fn distances(name: &str, kind: u8, ids: &[usize], values: impl Iterator<Item = u64>) -> String {
    let nodes = ids.len();
    let indexes: String = ids.iter().map(|id| format!("{id} ")).collect();
    let values: String = values.map(|value| format!("{value} ")).collect();
    format!(
        "  <distances2 type=\"NUMANode\" nbobjs=\"{nodes}\" kind=\"{kind}\" name=\"{name}\" indexing=\"os\">\n    \
         <indexes length=\"{}\">{indexes}</indexes>\n    <u64values length=\"{}\">{values}</u64values>\n  </distances2>\n",
        indexes.len(),
        values.len()
    )
}

/// Strands in hwloc's words of 32 bits, the highest first.
pub(super) fn mask(strands: &[usize]) -> String {
    let mut words = vec![0_u32; strands.iter().max().map_or(1, |most| most / 32 + 1)];
    for strand in strands {
        words[strand / 32] |= 1 << (strand % 32);
    }
    words.iter().rev().map(|word| format!("0x{word:08x}")).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn masks_are_written_as_hwloc_writes_them() {
        assert_eq!(mask(&[0, 1]), "0x00000003");
        assert_eq!(mask(&[33, 64]), "0x00000001,0x00000002,0x00000000");
    }
}
