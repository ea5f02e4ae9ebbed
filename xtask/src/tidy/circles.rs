//! No circle of files: within a crate, every file lies above those that it names. A child is a part of its parent and may name what
//! that defines. A parent that only passes a child's names on does not name it, and asking it for such a name is asking the child.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::source::{Source, has_word, is_word};

/// The files of all crates, by crate and module; the module of a root is empty.
#[derive(Default)]
pub struct Crates(BTreeMap<String, BTreeMap<String, File>>);

struct File {
    path: String,
    /// Without the imports.
    code: String,
    imports: Vec<Import>,
}

struct Import {
    line: usize,
    is_public: bool,
    path: String,
    /// By which name it is known here.
    name: String,
}

/// The lines in which a file names others, from 0.
type Arrows<'a> = BTreeMap<&'a str, BTreeMap<&'a str, usize>>;

impl Crates {
    pub fn add(&mut self, path: &str, source: &Source) {
        let Some((krate, inside)) = path.split_once("/src/").filter(|_| path.starts_with("crates/")) else { return };
        let module = inside.trim_end_matches(".rs").replace('/', "::");
        if module.split("::").any(|part| part == "tests") {
            return;
        }
        let module = if ["lib", "main"].contains(&module.as_str()) { String::new() } else { module };
        let (imports, code) = imports(&source.code[..source.tests].join("\n"));
        let file = File { path: path.to_owned(), code, imports };
        self.0.entry(krate.to_owned()).or_default().insert(module, file);
    }

    pub fn check(&self) -> Vec<Finding> {
        self.0.values().flat_map(circles).collect()
    }
}

fn circles(files: &BTreeMap<String, File>) -> Vec<Finding> {
    let arrows: Arrows<'_> = files.keys().map(|own| (own.as_str(), named(own, files))).collect();
    let finding = |circle: BTreeSet<&str>| {
        let within: Arrows<'_> = circle.iter().map(|own| (*own, arrows[own].clone())).collect();
        let each = within.iter().flat_map(|(from, to)| to.iter().map(move |(to, line)| (*from, *to, *line)));
        let left = |(from, to, _): &(&str, &str, usize)| {
            let mut without = within.clone();
            without.entry(from).or_default().remove(to);
            knots(&without).iter().map(BTreeSet::len).sum::<usize>()
        };
        let (from, to, line) = each.filter(|(_, to, _)| circle.contains(to)).min_by_key(left)?;
        let paths: Vec<&str> = circle.iter().map(|own| files[*own].path.as_str()).collect();
        let sentence = format!(
            "a circle of files: {}; cut the arrow to {}: what is named there belongs below both",
            paths.join(", "),
            files[to].path
        );
        Some(Finding::new(&files[from].path, line, sentence))
    };
    knots(&arrows).into_iter().filter_map(finding).collect()
}

/// The groups of files that reach each other.
fn knots<'a>(arrows: &Arrows<'a>) -> Vec<BTreeSet<&'a str>> {
    let reach = |from: &&'a str| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![*from]);
        while let Some(at) = next.pop() {
            let to = arrows.get(at).into_iter().flat_map(BTreeMap::keys);
            next.extend(to.filter(|to| arrows.contains_key(*to) && seen.insert(**to)));
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> = arrows.keys().map(|from| (*from, reach(from))).collect();
    let circle = |from: &&'a str| -> BTreeSet<&'a str> {
        reached[from].iter().filter(|to| reached[**to].contains(from)).copied().collect()
    };
    let found: BTreeSet<BTreeSet<&str>> = arrows.keys().map(circle).filter(|circle| !circle.is_empty()).collect();
    found.into_iter().collect()
}

/// The files that one names, with the first line.
fn named<'a>(own: &str, files: &'a BTreeMap<String, File>) -> BTreeMap<&'a str, usize> {
    let file = &files[own];
    let passed_on = |import: &&Import| import.is_public && !has_word(&file.code, &import.name);
    let imported =
        file.imports.iter().filter(|import| !passed_on(import)).map(|import| (import.line, import.path.clone()));
    let inline = file.code.match_indices("::").filter_map(|(at, _)| {
        let before = file.code[..at].rsplit(|c: char| !is_word(c)).next().unwrap_or_default();
        let begins = !file.code[..at - before.len()].ends_with([':', '$']);
        let path = file.code[at - before.len()..].split(|c: char| !is_word(c) && c != ':').next().unwrap_or_default();
        begins.then(|| (file.code[..at].matches('\n').count(), path.to_owned()))
    });
    let mut found = BTreeMap::new();
    for (line, path) in imported.chain(inline) {
        if let Some(module) = resolve(own, &path, files, 0).filter(|module| !is_within(own, module)) {
            found.entry(module).and_modify(|first: &mut usize| *first = line.min(*first)).or_insert(line);
        }
    }
    found
}

fn is_within(module: &str, parent: &str) -> bool {
    parent.is_empty() || module.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn join(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

/// The file where a path ends, through the names that files pass on; `None` for another crate's.
fn resolve<'a>(own: &str, path: &str, files: &'a BTreeMap<String, File>, depth: usize) -> Option<&'a str> {
    let mut parts = path.split("::").filter(|part| !part.is_empty()).peekable();
    let mut at = match parts.next()? {
        "crate" => String::new(),
        "self" => own.to_owned(),
        "super" => own.rsplit_once("::").map_or("", |(above, _)| above).to_owned(),
        child => Some(join(own, child)).filter(|module| files.contains_key(module))?,
    };
    while parts.next_if_eq(&"super").is_some() {
        at = at.rsplit_once("::").map_or("", |(above, _)| above).to_owned();
    }
    for name in parts {
        if files.contains_key(&join(&at, name)) {
            at = join(&at, name);
            continue;
        }
        let import = files.get(&at)?.imports.iter().find(|import| import.name == name && depth < 9);
        let further = import.and_then(|import| resolve(&at, &import.path, files, depth + 1));
        return further.or(files.get_key_value(&at).map(|(module, _)| module.as_str()));
    }
    files.get_key_value(&at).map(|(module, _)| module.as_str())
}

/// The imports, and the code without them.
fn imports(code: &str) -> (Vec<Import>, String) {
    let (mut found, mut rest, mut statement) = (Vec::new(), String::new(), None::<(usize, bool, String)>);
    for (line, text) in code.lines().enumerate() {
        let bare = text.trim_start();
        if statement.is_none() && (bare.starts_with("use ") || (bare.starts_with("pub") && bare.contains(" use "))) {
            statement = Some((line, bare.starts_with("pub"), String::new()));
        }
        match &mut statement {
            None => rest.push_str(text),
            Some((_, _, tree)) => tree.push_str(text),
        }
        rest.push('\n');
        if let Some((line, is_public, tree)) = statement.take_if(|(_, _, tree)| tree.contains(';')) {
            let tree = tree.split_once("use ").map_or("", |(_, tree)| tree).trim_end_matches([';', ' ']);
            let import = |path: String| {
                let (path, name) = match path.split_once(" as ") {
                    Some((path, name)) => (path.trim().to_owned(), name.trim().to_owned()),
                    None => (path.clone(), path.rsplit("::").next().unwrap_or_default().to_owned()),
                };
                Import { line, is_public, path, name }
            };
            found.extend(branches("", tree).into_iter().map(import));
        }
    }
    (found, rest)
}

/// The paths of a tree such as `a::{self, b::{c, d}}`.
fn branches(before: &str, tree: &str) -> Vec<String> {
    let Some((stem, list)) = tree.split_once('{') else {
        let path = format!("{before}{}", tree.trim());
        return vec![path.strip_suffix("::self").map(str::to_owned).unwrap_or(path)];
    };
    let before = format!("{before}{}", stem.trim());
    let list = list.trim_end().trim_end_matches('}').len();
    let list = &tree[stem.len() + 1..][..list];
    let mut depth = 0;
    let parts = list.split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    parts.filter(|part| !part.trim().is_empty()).flat_map(|part| branches(&before, part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[(&str, usize, &str)]) {
        let mut crates = Crates::default();
        files.iter().for_each(|(path, text)| crates.add(&format!("crates/x/src/{path}.rs"), &Source::new(text)));
        let found = crates.check();
        let seen: Vec<(&str, usize)> = found.iter().map(|found| (found.path.as_str(), found.line)).collect();
        let paths: Vec<String> = expected.iter().map(|(path, ..)| format!("crates/x/src/{path}.rs")).collect();
        let lines = expected.iter().map(|(_, line, _)| *line);
        assert_eq!(seen, paths.iter().map(String::as_str).zip(lines).collect::<Vec<_>>());
        for (found, (_, _, to)) in found.iter().zip(expected) {
            assert!(found.sentence.contains(&format!("arrow to crates/x/src/{to}.rs")), "{}", found.sentence);
        }
    }

    #[test]
    fn a_planted_circle_is_found_with_an_arrow_to_cut() {
        check(&[("a", "use crate::b::B;\n"), ("b", "struct B;\n\nfn f() { crate::a::f() }\n")], &[("a", 1, "b")]);
        let (a, b) = ("use crate::{b::{self, B}, c};\n", "use crate::c::C;\n");
        check(&[("a", a), ("b", b), ("c", "fn f() {}\nuse super::b;\n")], &[("b", 1, "c")]);
        // Without the arrow from c all is well; without any other a circle is left.
        let three = [("a", "use crate::b;\nuse crate::c;\n"), ("b", "use crate::c;\n"), ("c", "\nuse crate::a;\n")];
        check(&three, &[("c", 2, "a")]);
    }

    #[test]
    fn a_child_is_a_part_of_its_parent() {
        let (parent, child) =
            (("a", "mod b;\nmod c;\nuse b::B;\npub struct A(B);\n"), ("a/b", "use super::A;\npub struct B;\n"));
        check(&[parent, child], &[]);
        check(&[parent, child, ("a/c", "use crate::d;\n"), ("d", "use crate::a::A;\n")], &[]);
        check(&[parent, ("a/b", "use crate::d;\n"), ("d", "\nuse crate::a::A;\n")], &[("a", 3, "a/b")]);
        check(&[parent, ("a/b", "use super::c::C;\n"), ("a/c", "use super::b::B;\n")], &[("a/b", 1, "a/c")]);
    }

    #[test]
    fn a_name_that_is_passed_on_is_the_childs() {
        let files = [
            ("a", "mod b;\nmod c;\npub use b::B;\npub fn a() { c::c() }\n"),
            ("a/b", "pub struct B;\n"),
            ("a/c", "use super::B;\n"),
        ];
        check(&files, &[]);
    }

    #[test]
    fn tests_name_what_they_like() {
        check(&[("a", "use crate::b;\n"), ("b", "#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n")], &[]);
        check(&[("a", "use crate::b;\n"), ("b/tests", "use crate::a;\n"), ("b", "// crate::a\n")], &[]);
    }
}
