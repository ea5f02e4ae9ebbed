//! charz with one more mapper: `cargo run --example added_mapper -- map --mapping backwards --threads 4`.

use std::process::ExitCode;

use charz_topology::{Error, Machine, Mapper, MapperCard, Order};

/// The strand with the largest operating-system id first.
struct Backwards;

impl Mapper for Backwards {
    fn order(&self, machine: &Machine) -> Result<Order, Error> {
        let mut ids: Vec<u32> = machine.usable_strands().map(|strand| strand.os_id).collect();
        ids.sort_unstable();
        ids.reverse();
        Ok(Order::Strands(ids))
    }
}

static MAPPERS: &[MapperCard] = &[MapperCard {
    name: "backwards",
    parameter: None,
    about: "Worker i on the strand with the i-th largest operating-system id.",
    read: |_| Ok((Box::new(Backwards), String::new())),
}];

fn main() -> ExitCode {
    charz_topology::add(MAPPERS).expect("the name is free");
    charz::program::main()
}
