use super::*;

#[test]
fn devices_far_from_their_interrupts_are_named() {
    use State::{Limits, Ok};
    const NIC: &str = "/sys/bus/pci/devices/0000:3b:00.0";
    let of = |node: &'static str, counts: &str, affinity: &'static str| {
        let files =
            [("class", "0x020000\n"), ("numa_node", node), ("msi_irqs/30", "msix\n"), ("msi_irqs/31", "msix\n")];
        let mut files: Vec<(String, String)> =
            files.map(|(name, text)| (format!("{NIC}/{name}"), text.to_owned())).to_vec();
        files.push((
            "/proc/interrupts".into(),
            format!("  CPU0 CPU1\n 30: {counts} edge eth0-0\n 31: {counts} edge eth0-1\n"),
        ));
        files.extend([0, 1].map(|node| (format!("/sys/devices/system/node/node{node}/cpulist"), format!("{node}\n"))));
        files.extend([30, 31].map(|irq| (format!("/proc/irq/{irq}/effective_affinity_list"), affinity.to_owned())));
        files
    };
    let check = |files: Vec<(String, String)>, state, word: &str| {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        check("devices", &files, state, word);
        finding("devices", &files, |_| {}).fix
    };
    let fix = check(of("1\n", "900 100", "0\n"), Limits, "0000:3b:00.0 is on NUMA node 1, 90.0% of");
    assert_eq!(fix, "`for irq in 30 31; do echo 1 > /proc/irq/$irq/smp_affinity_list; done`");
    // Too few to say anything, moved since, all on its node, and on a machine of one node.
    check(of("1\n", "90 10", "0\n"), Ok, "1 devices");
    check(of("1\n", "900 100", "1\n"), Ok, "1 devices");
    check(of("0\n", "900 100", "0\n"), Ok, "1 devices");
    check(of("-1\n", "900 100", "0\n"), Limits, "not reported (-1) of 0000:3b:00.0");
    let one =
        of("-1\n", "900 100", "0\n").into_iter().chain([("/sys/devices/system/node/online".into(), "0\n".into())]);
    check(one.collect(), Ok, "NUMA nodes: 1");
}
