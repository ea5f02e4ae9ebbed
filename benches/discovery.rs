//! What it takes to describe a machine and to place threads on it.

use charz_benches::cases::{Case, case, keep};
use charz_topology::{MAPPERS, Machine, Mapping, Source, discover, place};

fn main() {
    let mut cases = vec![
        case("discovery/this machine", || {
            Box::new(|| keep(discover(&Source::ThisMachine).expect("this machine can be described")))
        }),
        case("discovery/synthetic 512", || Box::new(|| keep(machine(512)))),
    ];
    for strands in [512, 4096] {
        for card in MAPPERS.iter().filter(|card| card.parameter.is_none()) {
            cases.push(case(format!("order/{} {strands}", card.name), move || {
                let machine = machine(strands);
                let mapping: Mapping = card.name.parse().expect("the table's own name");
                Box::new(move || keep(mapping.order(&machine)))
            }));
        }
    }
    cases.push(placing());
    charz_benches::cases::run(&cases);
}

fn placing() -> Case {
    case("place", || {
        let order =
            "dumb".parse::<Mapping>().and_then(|mapping| mapping.order(&machine(4096))).expect("it has strands");
        Box::new(move || keep(place(&order, 10_000)))
    })
}

/// A machine of so many strands, a power of two from 512 on: T3-4s side by side.
fn machine(strands: u32) -> Machine {
    let description = format!("Package:{} Core:16 Group:2 PU:4", strands / 128);
    discover(&Source::Synthetic(description)).expect("the description is right")
}
