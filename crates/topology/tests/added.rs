//! A mapper that a program brings along is as good as a built-in one. Alone in its process: a list is added once.

use charz_topology::{
    Error, Machine, Mapper, MapperCard, Mapping, NotAdded, Order, Source, add, discover, mappers, parse_mappings,
};

/// Strands by their ids, the largest first, as many as asked for.
struct Last(usize);

impl Mapper for Last {
    fn order(&self, machine: &Machine) -> Result<Order, Error> {
        let mut ids: Vec<u32> = machine.usable_strands().map(|strand| strand.os_id).collect();
        ids.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
        ids.truncate(self.0);
        Ok(Order::Strands(ids))
    }
}

fn read(text: &str) -> Result<(Box<dyn Mapper>, String), String> {
    let count: usize = text.parse().map_err(|_| format!("{text:?} is not a number"))?;
    Ok((Box::new(Last(count)), count.to_string()))
}

static ADDED: [MapperCard; 1] =
    [MapperCard { name: "last", parameter: Some("2"), about: "The last strands, backwards.", read }];
static TAKEN: [MapperCard; 1] = [MapperCard { name: "dumb", parameter: None, about: "", read }];
static BAD: [MapperCard; 1] = [MapperCard { name: "a:b", parameter: None, about: "", read }];

#[test]
fn an_added_mapper_is_found_everywhere() {
    assert_eq!(add(&TAKEN), Err(NotAdded::NameTaken("dumb")));
    assert_eq!(add(&BAD), Err(NotAdded::BadName("a:b")));
    assert_eq!(add(&ADDED), Ok(()));
    assert_eq!(add(&ADDED), Err(NotAdded::Twice));
    assert_eq!(mappers().last().map(|card| card.name), Some("last"));
    let machine = discover(&Source::Synthetic("Core:4 PU:1".to_owned())).unwrap();
    let mapping: Mapping = "last:02".parse().unwrap();
    assert_eq!(mapping.to_string(), "last:2");
    assert_eq!(mapping.order(&machine), Ok(Order::Strands(vec![3, 2])));
    assert_eq!(parse_mappings("dumb,last:2,auto").unwrap().len(), 3);
    assert!("last:x".parse::<Mapping>().unwrap_err().to_string().contains("is not a number"));
    assert!("first".parse::<Mapping>().unwrap_err().to_string().contains("last"));
}
