//! The orders in which mappings fill a machine: what plays them, and the same in words.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::foreign::Foreign;
use charz_analysis::figure::{MachineDiagram, Order, Part, What};

/// The max number of workers listed per order; more than a picture has room for.
const MOST: usize = 2048;

/// A choice of the mapping and a slider over the workers, for the script; hidden without it.
pub(super) fn player(nest: &MachineDiagram, id: &str) -> Markup {
    html! {
        @if nest.orders.iter().any(|order| !order.seats.is_empty()) {
            div.player data-scripted hidden {
                label { "Mapping " select.mapping { @for order in &nest.orders { option { (Foreign(&order.mapping)) } } } }
                button.play type="button" aria-pressed="false" { "Play" }
                label.workers for=(format!("workers-{id}")) { "Threads" }
                input id=(format!("workers-{id}")) type="range" min="0" max="1" value="1" step="1";
                output for=(format!("workers-{id}")) aria-live="polite" {}
            }
        }
    }
}

/// Every order as a list, which the script reads too.
pub(super) fn lists(nest: &MachineDiagram, id: &str) -> Markup {
    let places = places(nest);
    html! {
        @if !nest.orders.is_empty() {
            details.orders {
                summary { "Order of CPUs in each mapping" }
                @for order in &nest.orders {
                    h4 { (Foreign(&order.mapping)) }
                    (list(order, id, &places))
                }
            }
        }
    }
}

fn list(order: &Order, id: &str, places: &BTreeMap<u32, String>) -> Markup {
    html! {
        ol.order data-of=(id) {
            @for strand in order.seats.iter().take(MOST) {
                li data-s=(strand) {
                    "CPU " (strand)
                    @if let Some(place) = places.get(strand) { (Foreign(place)) }
                }
            }
        }
        @if order.seats.is_empty() { p { "The operating system places threads." } }
        @if order.seats.len() > MOST { p { "And " (order.seats.len() - MOST) " more, left out here." } }
    }
}

/// Where each strand lies, by its number: `, core 1, package 0`. What there is only one of is not named.
fn places(nest: &MachineDiagram) -> BTreeMap<u32, String> {
    let mut places = BTreeMap::new();
    let named: Vec<What> = [What::Package, What::NumaNode, What::Core]
        .into_iter()
        .filter(|what| nest.parts.iter().map(|part| part.count(*what)).sum::<usize>() > 1)
        .collect();
    for part in &nest.parts {
        enter(part, "", &named, &mut places);
    }
    places
}

fn enter(part: &Part, outer: &str, named: &[What], places: &mut BTreeMap<u32, String>) {
    if let Some(strand) = part.strand {
        places.insert(strand, outer.to_owned());
        return;
    }
    let own = if named.contains(&part.what) { format!(", {}{outer}", part.label) } else { outer.to_owned() };
    for inner in &part.parts {
        enter(inner, &own, named, places);
    }
}

#[cfg(test)]
mod tests {
    use charz_analysis::page::nest;
    use charz_estimate::fixtures::report;

    use super::*;

    #[test]
    fn a_strand_is_said_to_be_where_it_is() {
        let nest = nest(&report("Package:1 Core:2 PU:2").machine, false, Vec::new());
        let places = places(&nest);
        assert_eq!(places.get(&3).map(String::as_str), Some(", core 1"));
        assert_eq!(places.len(), 4);
    }
}
