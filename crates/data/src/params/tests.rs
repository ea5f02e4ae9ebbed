use std::collections::HashSet;

use super::*;

#[test]
fn names_and_keys_are_distinct_and_the_keys_are_those_of_the_json() {
    let json = serde_json::to_value(Params::default()).unwrap();
    let json = json.as_object().unwrap();
    let keys: HashSet<&str> = PARAMS.iter().map(|param| param.key).collect();
    let names: HashSet<&str> = PARAMS.iter().map(|param| param.name).collect();
    assert_eq!((keys.len(), names.len()), (PARAMS.len(), PARAMS.len()));
    assert_eq!(keys, json.keys().map(String::as_str).collect());
}

#[test]
fn what_is_shown_is_read_into_its_own_field_and_no_other() {
    for param in PARAMS {
        let mut example = Params::SMALL;
        (param.read)(param.example, &mut example).unwrap();
        let mut again = Params::SMALL;
        (param.read)(&(param.show)(&example), &mut again).unwrap();
        assert_eq!(again, example, "{}", param.name);
        let mut copied = Params::SMALL;
        (param.copy)(&mut copied, &example);
        assert_eq!(copied, example, "{}", param.name);
        let before = serde_json::to_value(Params::SMALL).unwrap();
        let after = serde_json::to_value(example).unwrap();
        let changed: Vec<&str> = PARAMS.iter().map(|param| param.key).filter(|key| before[key] != after[key]).collect();
        assert!(changed.is_empty() || changed == [param.key], "{}: {changed:?}", param.name);
    }
}

#[test]
fn every_default_is_a_value_that_can_be_typed() {
    for params in [Params::SMALL, Params::default()] {
        for param in PARAMS {
            assert_eq!((param.read)(&(param.show)(&params), &mut params.clone()), Ok(()), "{}", param.name);
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused_in_a_clause() {
    let cases: [(&Param, &[(&str, &str)]); 9] = [
        (
            &SIZE,
            &[
                ("0MiB", "minimum of 64 B"),
                ("100B", "next one is 128 B"),
                ("1KB", "multiple of 64 B"),
                ("256", "unit"),
                ("16PiB", "size"),
                ("2000TiB", "maximum"),
            ],
        ),
        (&STRIDE, &[("100", "next one is 128"), ("0", "64"), ("-64", "size"), ("", "size")]),
        (
            &CHAINS,
            &[
                ("0", "minimum of 1"),
                ("17", "maximum of 16"),
                ("+4", "from 1 to 16"),
                ("1.5", "whole"),
                ("0x1", "whole"),
            ],
        ),
        (&OPS, &[("99", "next one is 100"), ("4098", "maximum of 4096")]),
        (&PAGES, &[("8k", "4k, thp, 2m or 1g")]),
        (&MEMORY, &[("far", "node:N"), ("node:x", "OS id")]),
        (&PERIOD, &[("soon", "fitting, closed"), ("3s", "maximum of 2 s"), ("0s", "minimum")]),
        (&TIMEOUT, &[("101ms", "maximum of 100 ms"), ("0s", "minimum of 1 ns"), ("1", "unit")]),
        (&LAYOUT, &[("Padded", "padded or contiguous")]),
    ];
    for (param, cases) in cases {
        for (text, word) in cases {
            let mut params = Params::SMALL;
            let error = (param.read)(text, &mut params).expect_err(text);
            assert!(error.contains(word) && !error.contains('\n'), "{}: {error}", param.name);
            assert_eq!(params, Params::SMALL, "a refused value changes nothing");
        }
    }
}
