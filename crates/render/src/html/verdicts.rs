//! What comes out at each kernel: the best mapping, what leaving threads to the system costs, where it saturates.

use maud::{Markup, html};

use super::foreign::Foreign;
use charz_analysis::page::Page;

pub(super) fn section(page: &Page) -> Markup {
    let table = &page.verdicts;
    html! {
        @if !table.rows.is_empty() {
            section #verdicts aria-labelledby="verdicts-heading" {
                h2 #verdicts-heading { "The best mappings" }
                p.about { "With which mapping and how many workers each kernel did best, from how many workers on more of them give nothing more, and what it comes to with as many workers to leave threads to the system. Mappings after ~ are as good as the best." }
                div.scroll tabindex="0" role="region" aria-labelledby="verdicts-heading" {
                    table.verdicts {
                        thead { tr { @for name in &table.heading { th scope="col" { (name) } } } }
                        tbody {
                            @for row in &table.rows {
                                tr {
                                    @for (at, datum) in row.data.iter().enumerate() {
                                        @if at == 0 { th scope="row" { (Foreign(&datum.text)) } }
                                        @else { td.n[datum.number.is_some()] { (Foreign(&datum.text)) } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
