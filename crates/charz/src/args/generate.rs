//! Documentation that follows from the grammar: shell completions and man pages; and the list of all generated pages.

use clap::CommandFactory;
use clap_complete::Shell;

use super::spelling::Cli;

/// A generated page: its name, and the file under the project's root in which it is kept.
pub struct Page {
    /// The name for `charz docs`.
    pub name: &'static str,
    /// The file.
    pub file: &'static str,
    make: fn(&str) -> Vec<u8>,
}

/// Every generated page.
pub const PAGES: &[Page] = &[
    Page { name: "kernels", file: "docs/kernels.md", make: |_| crate::render::kernels::markdown().into_bytes() },
    Page { name: "mappers", file: "docs/mappers.md", make: |_| crate::render::mappers::markdown().into_bytes() },
    Page { name: "checks", file: "docs/checks.md", make: |_| crate::render::explain::markdown().into_bytes() },
    Page { name: "exit-codes", file: "docs/exit-codes.md", make: |_| crate::render::exits::markdown().into_bytes() },
    Page { name: "schema", file: "docs/report.schema.json", make: |_| crate::render::report::schema().into_bytes() },
    Page {
        name: "comparison-schema",
        file: "docs/comparison.schema.json",
        make: |_| crate::render::compare::schema().into_bytes(),
    },
    Page {
        name: "replication-schema",
        file: "docs/replication.schema.json",
        make: |_| crate::render::replicate::schema().into_bytes(),
    },
    Page { name: "man", file: "docs/man/charz.1", make: man },
    Page { name: "man-topo", file: "docs/man/charz-topo.1", make: man },
    Page { name: "man-map", file: "docs/man/charz-map.1", make: man },
    Page { name: "man-kernels", file: "docs/man/charz-kernels.1", make: man },
    Page { name: "man-sweep", file: "docs/man/charz-sweep.1", make: man },
    Page { name: "man-c2c", file: "docs/man/charz-c2c.1", make: man },
    Page { name: "man-numa", file: "docs/man/charz-numa.1", make: man },
    Page { name: "man-ab", file: "docs/man/charz-ab.1", make: man },
    Page { name: "man-selftest", file: "docs/man/charz-selftest.1", make: man },
    Page { name: "man-replicate", file: "docs/man/charz-replicate.1", make: man },
    Page { name: "man-render", file: "docs/man/charz-render.1", make: man },
    Page { name: "man-compare", file: "docs/man/charz-compare.1", make: man },
    Page { name: "man-history", file: "docs/man/charz-history.1", make: man },
    Page { name: "man-history-add", file: "docs/man/charz-history-add.1", make: man },
    Page { name: "man-history-list", file: "docs/man/charz-history-list.1", make: man },
    Page { name: "man-history-show", file: "docs/man/charz-history-show.1", make: man },
    Page { name: "man-history-plot", file: "docs/man/charz-history-plot.1", make: man },
    Page { name: "man-doctor", file: "docs/man/charz-doctor.1", make: man },
    Page { name: "man-explain", file: "docs/man/charz-explain.1", make: man },
    Page { name: "man-docs", file: "docs/man/charz-docs.1", make: man },
    Page { name: "completions-bash", file: "docs/completions/charz.bash", make: |_| completions(Shell::Bash) },
    Page { name: "completions-zsh", file: "docs/completions/_charz", make: |_| completions(Shell::Zsh) },
    Page { name: "completions-fish", file: "docs/completions/charz.fish", make: |_| completions(Shell::Fish) },
];

impl Page {
    /// What the page says.
    pub fn text(&self) -> Vec<u8> {
        (self.make)(self.name)
    }
}

/// The commit would change the page with every commit: a page that is kept in the project names the version only.
fn grammar() -> clap::Command {
    Cli::command().version(env!("CARGO_PKG_VERSION"))
}

fn completions(shell: Shell) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut grammar(), "charz", &mut text);
    text
}

/// `man` is the page of the program, `man-NAME` that of a subcommand, `man-NAME-TASK` that of one below it.
fn man(name: &str) -> Vec<u8> {
    let mut grammar = grammar();
    grammar.build();
    let verbs = name.split('-').skip(1);
    let command = verbs.fold(grammar, |command, verb| command.find_subcommand(verb).cloned().unwrap_or(command));
    let title = command.get_display_name().unwrap_or("charz").to_owned();
    let mut text = Vec::new();
    clap_mangen::Man::new(command.display_name(title.clone()).name(leak(title)))
        .render(&mut text)
        .expect("writing to memory cannot fail");
    text
}

/// The grammar keeps names for the program's life; a page is made once a run.
fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subcommand_has_a_man_page() {
        let grammar = Cli::command();
        for verb in grammar.get_subcommands().filter(|verb| !verb.is_hide_set()) {
            let tasks = verb.get_subcommands().map(|task| format!("{}-{}", verb.get_name(), task.get_name()));
            for name in tasks.chain([verb.get_name().to_owned()]) {
                let page = PAGES.iter().find(|page| page.name == format!("man-{name}"));
                let page = page.unwrap_or_else(|| panic!("man-{name} is missing")).text();
                let page = String::from_utf8(page).unwrap();
                assert!(page.contains(&format!("charz\\-{}", name.replace('-', "\\-"))), "{page}");
            }
        }
    }

    #[test]
    fn no_two_pages_share_a_name_or_a_file() {
        for page in PAGES {
            assert_eq!(PAGES.iter().filter(|other| other.name == page.name || other.file == page.file).count(), 1);
        }
    }
}
