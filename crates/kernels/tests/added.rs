//! Kernels that a program brings along. The catalog belongs to the whole process, so this test has a program of its own.

use charz_kernels::catalog::NotAdded;
use charz_kernels::{Bytes, Card, Error, Family, Kernel, Metric, Params, Stage, add, find, kernels};

/// A kernel that is no more than its card.
struct Named(&'static Card);

macro_rules! named {
    ($name:literal) => {
        const {
            &Named(const { &Card::new($name, Family::Floor, "is there", Metric::Duration).source("this test") })
                as &dyn Kernel
        }
    };
}

impl Kernel for Named {
    fn card(&self) -> &'static Card {
        self.0
    }

    fn footprint(&self, _: &Params) -> Bytes {
        Bytes(0)
    }

    fn stage(&self, _: &Params, _: usize) -> Result<Box<dyn Stage>, Error> {
        Err(Error::Unavailable("it is only a name".into()))
    }
}

#[test]
fn added_kernels_are_listed_and_found_once_and_under_names_of_their_own() {
    assert_eq!(add(const { &[named!("first"), named!("noop")] }), Err(NotAdded::NameTaken("noop")));
    assert_eq!(add(const { &[named!("first"), named!("first")] }), Err(NotAdded::NameTaken("first")));
    add(const { &[named!("first")] }).expect("what was refused leaves no trace");
    assert_eq!(add(const { &[named!("first")] }), Err(NotAdded::NameTaken("first")));
    add(const { &[named!("second")] }).expect("the name is free");
    let names: Vec<_> = kernels().map(|kernel| &*kernel.card().name).collect();
    assert!(names.ends_with(&["first", "second", "noop"]), "{names:?}");
    assert_eq!(find("second").expect("it was added").check(), Ok(()));
    assert!(find("arith-int").is_some() && find("third").is_none());

    assert_eq!(add(const { &[named!("third")] }), Err(NotAdded::Late));
    assert!(find("third").is_none());
}
