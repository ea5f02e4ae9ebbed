//! The command line of charz as the program itself describes it, in its completions for fish.

pub struct Verb {
    /// `history add` is two words.
    pub words: Vec<String>,
    pub flags: Vec<Flag>,
}

#[derive(Debug, PartialEq)]
pub struct Flag {
    /// With its dashes.
    pub name: String,
    pub takes_value: bool,
    /// The values that its description lists.
    pub values: Vec<String>,
}

pub fn read(completions: &str) -> Vec<Verb> {
    let mut verbs: Vec<Verb> = Vec::new();
    for (words, flag) in completions.lines().filter_map(line) {
        match verbs.iter_mut().find(|verb| verb.words == words) {
            Some(verb) => verb.flags.push(flag),
            None => verbs.push(Verb { words, flags: vec![flag] }),
        }
    }
    verbs
}

impl Verb {
    pub fn formats(&self) -> &[String] {
        self.flags.iter().find(|flag| flag.name == "--format").map_or(&[], |flag| &flag.values)
    }

    /// Whether it may measure, and then wait for another charz that does.
    pub fn measures(&self) -> bool {
        self.flags.iter().any(|flag| flag.name == "--wait")
    }
}

/// The verb of a line, and its flag.
fn line(line: &str) -> Option<(Vec<String>, Flag)> {
    let (condition, rest) = line.split_once("-n \"__fish_charz_using_subcommand ")?.1.split_once('"')?;
    let words = condition.replace("; and __fish_seen_subcommand_from", "");
    let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    // The condition that no subcommand was seen has more words.
    if words.len() > 2 || words[0] == "help" {
        return None;
    }
    let (name, rest) = rest.split_once("-l ")?.1.split_once(' ')?;
    let (about, end) = rest.rsplit_once('\'')?;
    // The default is in brackets.
    let listed = about.split_once("How: ").map_or("", |(_, listed)| listed).split('[');
    let listed: String = listed.map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect();
    let values = listed.split([',', ';', ':']).map(str::trim).filter(|value| !value.is_empty() && !value.contains(' '));
    let values = values.map(str::to_owned).collect();
    Some((words, Flag { name: format!("--{name}"), takes_value: end.contains("-r"), values }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_with_their_flags() {
        let verbs = read(concat!(
            "complete -c charz -n \"__fish_charz_needs_command\" -f -a \"topo\" -d 'Show'\n",
            "complete -c charz -n \"__fish_charz_using_subcommand topo\" -l format -d 'How: tree, svg [default: tree]; with --a: csv' -r\n",
            "complete -c charz -n \"__fish_charz_using_subcommand topo\" -l wait -d 'Wait for another\\'s end'\n",
            "complete -c charz -n \"__fish_charz_using_subcommand history; and not __fish_seen_subcommand_from add help\" -l db -d 'x' -r\n",
            "complete -c charz -n \"__fish_charz_using_subcommand history; and __fish_seen_subcommand_from add\" -s d -l db -d 'x' -r -F\n",
            "complete -c charz -n \"__fish_charz_using_subcommand help; and __fish_seen_subcommand_from add\" -l db -d 'x' -r\n",
        ));
        let flag = |name: &str, takes_value| Flag { name: name.into(), takes_value, values: Vec::new() };
        assert_eq!(verbs.iter().map(|verb| verb.words.join(" ")).collect::<Vec<_>>(), ["topo", "history add"]);
        assert_eq!(verbs[0].formats(), ["tree", "svg", "csv"]);
        assert_eq!((&verbs[0].flags[1], &verbs[1].flags[..]), (&flag("--wait", false), &[flag("--db", true)][..]));
        assert!(verbs[0].measures() && !verbs[1].measures());
    }
}
