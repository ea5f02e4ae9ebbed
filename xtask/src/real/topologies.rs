//! Descriptions of machines: whether they are read, with the counts of lscpu, and whether round-robin keeps its order on them.

use std::collections::BTreeMap;

use super::{Bench, Json, Outcome, Part, each, percent, text};

/// CPUs, cores, sockets and NUMA nodes.
type Counts = [usize; 4];

pub(super) fn check(bench: &Bench) -> Outcome<Part> {
    let machines = bench.machines()?;
    let lscpu: BTreeMap<String, Option<Counts>> =
        bench.table("lscpu.tsv.gz")?.into_iter().map(|row| (row["machine"].clone(), counts(&row))).collect();
    let found = each(&machines, |machine| one(bench, machine));
    let (mut part, mut read, mut same, mut compared, mut ordered) = (Part::default(), 0, 0, 0, 0);
    for (machine, found) in machines.iter().zip(found) {
        match found {
            Ok((counts, order)) => {
                read += 1;
                if let Some(Some(theirs)) = lscpu.get(machine) {
                    compared += 1;
                    same += usize::from(*theirs == counts);
                }
                match order {
                    Ok(()) => ordered += 1,
                    Err(why) => part.wrong.push(format!("{machine}: {why}")),
                }
            }
            Err(why) => part.wrong.push(format!("{machine}: {why}")),
        }
    }
    let of = machines.len();
    part.rows = vec![
        format!("{read} of {of} descriptions read"),
        format!(
            "{same} of {compared} with the CPUs, cores, sockets and NUMA nodes of lscpu ({}), which may be of another instance",
            percent(same, compared)
        ),
        format!("{ordered} of {of} with round-robin once over all CPUs, and no core twice before all have a thread"),
    ];
    Ok(part)
}

fn counts(row: &super::Row) -> Option<Counts> {
    let number = |name: &str| row.get(name)?.parse::<usize>().ok();
    let sockets = number("sockets")?;
    Some([number("cpus")?, number("cores_per_socket")? * sockets, sockets, number("numa_nodes")?])
}

fn one(bench: &Bench, machine: &str) -> Result<(Counts, Result<(), String>), String> {
    let xml = bench.xml(machine).ok_or("its description is gone")?;
    let topology = ["--topology", text(&xml)];
    let described = bench.charz(&[&["topo"], &topology[..]].concat())?;
    let count = |name: &str| described[name].list().len();
    let counts = [count("strands"), count("cores"), count("packages"), count("numa_nodes")];
    let usable: BTreeMap<u32, u32> = described["strands"]
        .list()
        .iter()
        .filter(|strand| strand["usable"] == Json::Bool(true))
        .filter_map(|strand| Some((strand["os_id"].id()?, strand["core"].id().unwrap_or(u32::MAX))))
        .collect();
    let threads = usable.len().to_string();
    let placed = ["map", "--mapping", "round-robin", "--threads", &threads];
    let seats = bench.charz(&[&placed[..], &topology[..]].concat())?["seats"].ids();
    Ok((counts, order(&seats, &usable)))
}

/// Each CPU once, and no core has a second thread before all have one.
fn order(seats: &[u32], core_of: &BTreeMap<u32, u32>) -> Result<(), String> {
    let mut once = seats.to_vec();
    once.sort_unstable();
    once.dedup();
    if once.len() != core_of.len() || once.iter().any(|cpu| !core_of.contains_key(cpu)) {
        return Err(format!("round-robin has {} of {} CPUs", once.len(), core_of.len()));
    }
    let mut cores: Vec<u32> = core_of.values().copied().collect();
    cores.sort_unstable();
    cores.dedup();
    let mut first: Vec<u32> = seats.iter().take(cores.len()).map(|cpu| core_of[cpu]).collect();
    first.sort_unstable();
    first.dedup();
    match first.len() == cores.len() {
        true => Ok(()),
        false => Err(format!("round-robin puts {} threads on {} cores", cores.len(), first.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_that_doubles_up_too_early_is_seen() {
        let cores = BTreeMap::from([(0, 0), (1, 0), (4, 1), (5, 1)]);
        assert_eq!(order(&[0, 4, 1, 5], &cores), Ok(()));
        assert!(order(&[0, 1, 4, 5], &cores).is_err());
        assert!(order(&[0, 4, 4, 5], &cores).is_err());
    }
}
