//! The check that a file passes before hwloc sees it.
//!
//! The file is read once, whole and with a limit, and hwloc gets what was checked, written anew: a file that changes in
//! between, or is no file at all, cannot slip past, nor can a difference between two readers of XML. The text must be well-formed XML to its end, without entities of
//! its own, with a topology in it whose strands have sane ids and whose parts lie inside each other.

mod devices;
mod object;
mod rewrite;
mod set;
mod tiers;

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

pub(super) use self::devices::{cpus, devices};
use self::object::{Objects, attributes};
pub(super) use self::rewrite::escaped;
use self::rewrite::{Rewrite, is_readable, second_device};
pub(super) use self::tiers::tiers;
use crate::error::quote;

/// The largest file in bytes. hwloc writes about 1.5 KiB a strand for the largest machines there are.
const MAX_FILE: u64 = 64 << 20;

/// The deepest nesting of elements, as libxml2 limits it too.
const MAX_DEPTH: usize = 256;

/// Reads a file of hwloc XML and checks it.
pub(super) fn read(path: &Path) -> Result<String, String> {
    let about = fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            "there is no such file; a topology is this machine, a file of hwloc XML, or a synthetic \
             description such as Package:4 Core:16 PU:8"
                .to_owned()
        }
        _ => error.to_string(),
    })?;
    if about.is_dir() {
        return Err("it is a directory; name a file of hwloc XML in it".to_owned());
    }
    if !about.is_file() {
        return Err("it is not a regular file; write the XML to a file first".to_owned());
    }
    let too_large = || format!("it is larger than {} MiB, which no topology is", MAX_FILE >> 20);
    if about.len() > MAX_FILE {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(too_large());
    }
    let text = decode(bytes)?;
    check(&text)
}

/// The text in a file's bytes, if they can be XML at all.
pub(crate) fn decode(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.is_empty() {
        return Err("it is empty".to_owned());
    }
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return Err("it is compressed; unpack it with gunzip first".to_owned());
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text, as hwloc writes it".to_owned())?;
    if text.contains('\0') {
        return Err("it contains a NUL character, which XML cannot".to_owned());
    }
    if !text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).starts_with('<') {
        return Err("it is not XML; write it with lstopo --of xml".to_owned());
    }
    Ok(text)
}

/// Whether a text that passed the check says where memory is.
pub(super) fn names_memory(text: &str) -> bool {
    text.contains("NUMANode")
}

/// An attribute of an element.
pub(super) fn value<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = element.split_once(&format!(" {name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

/// The bytes of the memory-side caches that a text which passed the check puts before NUMA nodes, with the nodes' OS ids. hwloc leaves them
/// out, and is not asked for them: it asserts what it expects of such objects.
pub(super) fn memory_side_caches(text: &str) -> Vec<(u32, u64)> {
    let (mut caches, mut before) = (Vec::new(), None);
    for element in text.split('<') {
        match value(element, "type") {
            Some("MemCache") => before = value(element, "cache_size").and_then(|size| size.parse().ok()),
            Some("NUMANode") => {
                caches.extend(value(element, "os_index").and_then(|id| id.parse().ok()).zip(before.take()))
            }
            _ => {}
        }
    }
    caches
}

/// OS ids of the NUMA nodes that a text which passed the check gives no CPU: hwloc gives them those of the object around.
pub(super) fn nodes_without_cpus(text: &str) -> Vec<u32> {
    let is_bare = |element: &&str| {
        let set = value(element, "cpuset").filter(|_| value(element, "type") == Some("NUMANode"));
        set.is_some_and(|set| set.bytes().all(|byte| b"0x,".contains(&byte)))
    };
    text.split('<').filter(is_bare).filter_map(|element| value(element, "os_index")?.parse().ok()).collect()
}

/// Checks a whole text and gives it as hwloc shall see it.
pub(crate) fn check(text: &str) -> Result<String, String> {
    let mut reader = Reader::from_str(text);
    let mut document = Document::default();
    loop {
        let event = reader.read_event().map_err(|error| format!("its XML is broken: {}", quote(&error.to_string())));
        match event.and_then(|event| document.take(&event)) {
            Ok(true) => {}
            Ok(false) => {
                document.end()?;
                return Ok(document.text.finish());
            }
            Err(reason) => {
                let at = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX).min(text.len());
                let line = 1 + text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
                return Err(format!("{reason} (line {line})"));
            }
        }
    }
}

/// What has been read of the document so far.
#[derive(Default)]
struct Document {
    /// The names of the elements that are open.
    open: Vec<String>,
    topology: bool,
    /// Whether the format is hwloc 3's: that of version 2, with infos of the topology behind the objects, and other numbers of devices.
    is_third: bool,
    /// The identity of the last object, where the file gives none to the first: hwloc's own tests take them out.
    identity: Option<u64>,
    objects: Objects,
    /// What hwloc gets.
    text: Rewrite,
}

impl Document {
    /// Takes the next piece; false at the end of the text.
    fn take(&mut self, event: &Event<'_>) -> Result<bool, String> {
        match event {
            Event::Start(start) => {
                self.element(start)?;
                self.open.push(start.name().0.to_owned());
                self.objects.enter(start.name().0);
            }
            Event::Empty(start) => {
                self.element(start)?;
                self.objects.enter(start.name().0);
                self.objects.leave(start.name().0)?;
                self.end_element(start.name().0);
            }
            Event::End(_) => {
                if let Some(name) = self.open.pop() {
                    self.objects.leave(&name)?;
                    self.end_element(&name);
                }
            }
            Event::Decl(declaration) => {
                let encoding = declaration.encoding().and_then(Result::ok);
                if encoding.is_some_and(|encoding| !encoding.eq_ignore_ascii_case("UTF-8")) {
                    return Err("its encoding is not UTF-8".to_owned());
                }
            }
            Event::DocType(doctype) => {
                let words: Vec<&str> = doctype.split_whitespace().collect();
                if !matches!(words[..], ["topology", "SYSTEM", "\"hwloc.dtd\"" | "\"hwloc2.dtd\""]) {
                    return Err(
                        "it has a document type or entities of its own, which is not allowed; hwloc's document type \
                                is hwloc2.dtd"
                            .to_owned(),
                    );
                }
            }
            Event::GeneralRef(reference) => {
                let known = ["amp", "lt", "gt", "quot", "apos"];
                if !known.contains(&&**reference) && !reference.starts_with('#') {
                    return Err(format!("it refers to the unknown entity {}", quote(reference)));
                }
            }
            Event::PI(_) => return Err("it contains a processing instruction, which is not allowed".to_owned()),
            // Blanks between elements mean nothing.
            Event::Text(text) if !text.trim().is_empty() && !self.open.is_empty() => self.text.text(text),
            Event::Text(_) => {}
            Event::CData(_) | Event::Comment(_) => {}
            Event::Eof => return Ok(false),
        }
        Ok(true)
    }

    fn element(&mut self, start: &BytesStart<'_>) -> Result<(), String> {
        let name = start.name().0;
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("its elements are nested more than {MAX_DEPTH} deep"));
        }
        if !is_readable(name) {
            return Err(format!("it holds the element {}, which no topology has", quote(name)));
        }
        let mut attributes = attributes(start)?;
        if self.open.is_empty() {
            if name != "topology" || self.topology {
                return Err(format!("it holds the element {} where a topology should be", quote(name)));
            }
            self.topology = true;
            // Version 1 had no number.
            let version = attributes.iter().find(|(name, _)| name == "version");
            self.objects.strict = version.is_some();
            if let Some((_, version)) =
                version.filter(|(_, version)| !["2.", "3."].iter().any(|known| version.starts_with(known)))
            {
                return Err(format!(
                    "its format has version {}; versions 1 to 3 can be read: `lstopo --if xml -i FILE --export-xml-flags v2 NEW.xml` \
                     writes version 2",
                    quote(version)
                ));
            }
            self.is_third = version.is_some_and(|(_, version)| version.starts_with("3."));
        }
        if self.is_third {
            for (name, value) in &mut attributes {
                match name.as_str() {
                    "version" => "2.0".clone_into(value),
                    "osdev_type" => *value = second_device(value),
                    _ => {}
                }
            }
        }
        if name == "object" && self.objects.strict && !attributes.iter().any(|(name, _)| name == "gp_index") {
            let is_first = self.objects.is_empty();
            self.identity = self.identity.or(is_first.then_some(0)).map(|last| last + 1);
            attributes.extend(self.identity.map(|identity| ("gp_index".to_owned(), identity.to_string())));
        }
        if !self.is_left_out(name) {
            self.text.begin(name, &attributes);
        }
        match name {
            "object" if !matches!(self.open.last().map(String::as_str), Some("topology" | "object")) => {
                Err("it has an object outside of all objects".to_owned())
            }
            "object" => self.objects.object(&attributes),
            _ => Ok(()),
        }
    }

    fn end_element(&mut self, name: &str) {
        if !self.is_left_out(name) {
            self.text.end(name);
        }
    }

    /// An info of the topology: hwloc 2 has none, and reads nothing behind one.
    fn is_left_out(&self, name: &str) -> bool {
        self.is_third && name == "info" && self.open.len() == 1
    }

    fn end(&self) -> Result<(), String> {
        match self.open.last() {
            Some(name) => Err(format!("it is cut off: the element {} is not closed", quote(name))),
            None if !self.topology => Err("it holds no topology".to_owned()),
            None => self.objects.end(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{check, decode};

    const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n";

    /// An object with all its sets: those of strands are given, and there is one NUMA node.
    fn object(kind: &str, strands: &str, identity: u32, inside: &str) -> String {
        let sets =
            format!("cpuset=\"{strands}\" complete_cpuset=\"{strands}\" nodeset=\"0x1\" complete_nodeset=\"0x1\"");
        format!("<object type=\"{kind}\" os_index=\"0\" {sets} gp_index=\"{identity}\">{inside}</object>")
    }

    /// A machine of two strands, the second of which is written as given.
    fn machine(second: &str) -> String {
        let (node, first) = (object("NUMANode", "0x3", 4, ""), object("PU", "0x1", 2, ""));
        let machine = object("Machine", "0x3", 1, &format!("{node}{first}{second}"));
        format!("{HEAD}<topology version=\"2.0\">{machine}</topology>")
    }

    /// The second strand as it should be.
    fn second() -> String {
        object("PU", "0x2", 3, "").replace("os_index=\"0\"", "os_index=\"1\"")
    }

    #[track_caller]
    fn refuses(text: &str, part: &str) {
        let found = decode(text.into()).and_then(|text| check(&text)).expect_err(part);
        assert!(found.contains(part), "{found:?} does not say {part:?}");
        assert!(found.len() < 400 && !found.contains('\u{1b}'), "{found:?}");
    }

    #[test]
    fn accepts_a_small_machine_cut_nowhere() {
        let text = machine(&second());
        assert!(check(&text).is_ok());
        let old = text.replace(" version=\"2.0\"", "");
        refuses(&old, "gp_index");
        let plain =
            |text: &str| (1..5).fold(text.to_owned(), |text, id| text.replace(&format!(" gp_index=\"{id}\""), ""));
        let (old, node) = (plain(&old), plain(&object("NUMANode", "0x3", 4, "")));
        assert!(check(&old).is_ok(), "version 1 has no number");
        let silent = old.replace(&node, "").replace(" nodeset=\"0x1\" complete_nodeset=\"0x1\"", "");
        assert!(check(&silent).is_ok(), "version 1 needs no memory");
        refuses(&old.replace(&node, ""), "no memory");
        refuses(&old.replace("NUMANode", "Misc"), "Misc has strands");
        for end in 1..text.len() {
            assert!(decode(text[..end].into()).and_then(|text| check(&text)).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn version_3_is_given_to_hwloc_as_version_2() {
        let device =
            r#"<object type="OSDev" gp_index="9" name="eth0" osdev_type="16"><info name="a" value="b"/></object>"#;
        let kinds = r#"<info name="OSName" value="Linux"/><cpukind cpuset="0x2" forced_efficiency="1"/><cpukind cpuset="0x1" forced_efficiency="0"/>"#;
        let third = machine(&(second() + device))
            .replace("\"2.0\"", "\"3.0\"")
            .replace("</topology>", &format!("{kinds}</topology>"));
        let text = check(&third).unwrap();
        assert!(text.contains("osdev_type=\"2\"") && text.contains("name=\"a\"") && !text.contains("OSName"), "{text}");
        let machine = crate::discover::from_xml(&text, String::new()).unwrap();
        assert_eq!((machine.strands.len(), machine.kinds.len()), (2, 2), "what is behind the infos is read too");
        let bare = [1, 2, 3, 4, 9].iter().fold(third, |text, id| text.replace(&format!(" gp_index=\"{id}\""), ""));
        let again = crate::discover::from_xml(&check(&bare).unwrap(), String::new()).unwrap();
        assert_eq!(again, machine, "identities are of no consequence");
    }

    /// hwloc 1 writes an empty nodeset of it.
    #[test]
    fn version_1_may_have_a_node_without_memory() {
        let of = |id: u32, bits: &str, nodeset: &str| {
            let strand = object("PU", bits, 9, "").replace("os_index=\"0\"", &format!("os_index=\"{id}\""));
            let sets = format!("nodeset=\"{nodeset}\" complete_nodeset=\"0x{:x}\"", 1 << id);
            let node =
                object("NUMANode", bits, 9, &strand).replacen("nodeset=\"0x1\" complete_nodeset=\"0x1\"", &sets, 1);
            node.replacen("os_index=\"0\"", &format!("os_index=\"{id}\""), 1)
        };
        let file = |second: &str| {
            let nodes = of(0, "0x1", "0x1") + &of(1, "0x2", second);
            format!("<topology>{}</topology>", object("Machine", "0x3", 9, &nodes))
                .replace(" gp_index=\"9\"", "")
                .replacen("complete_nodeset=\"0x1\"", "complete_nodeset=\"0x3\"", 1)
        };
        let machine = crate::discover::from_xml(&check(&file("0x0")).unwrap(), String::new()).unwrap();
        let strands: Vec<u32> = machine.strands.iter().map(|strand| strand.os_id).collect();
        assert_eq!(strands, [0, 1]);
        refuses(&file("0x4"), "not its own bit");
    }

    /// A machine of one NUMA node, which hwloc 1 wrote as that node.
    #[test]
    fn version_1_may_have_a_numa_node_outermost() {
        let strand = |id: u32| {
            let set = format!("0x{:x}", 1 << id);
            object("PU", &set, 9, "").replace("os_index=\"0\"", &format!("os_index=\"{id}\""))
        };
        let node = object("NUMANode", "0x3", 9, &(strand(0) + &strand(1))).replace(" gp_index=\"9\"", "");
        let old = format!("<topology>{node}</topology>");
        let machine = crate::discover::from_xml(&check(&old).unwrap(), String::new()).unwrap();
        assert_eq!((machine.strands.len(), machine.numa_nodes.len(), machine.numa_nodes[0].strands), (2, 1, 2));
        refuses(&old.replace("<topology>", "<topology version=\"2.0\">"), "outermost object");
        refuses(&old.replacen("\"0x3\"", "\"0x7\"", 2), "none of its children");
        let offline = strand(0).replace(" cpuset=\"0x1\"", " cpuset=\"0x0\"").replace(" gp_index=\"9\"", "");
        let offline = object("NUMANode", "0x0", 9, &offline).replace(" gp_index=\"9\"", "");
        refuses(
            &format!(
                "<topology>{}</topology>",
                offline.replacen("complete_cpuset=\"0x0\"", "complete_cpuset=\"0x1\"", 1)
            ),
            "offline",
        );
    }

    #[test]
    fn a_node_without_cpus_is_local_to_none_and_one_without_memory_has_none() {
        let bare = object("NUMANode", "0x0", 5, "").replace("=\"0\"", "=\"1\" local_memory=\"4096\"");
        let text = machine(&(bare.replace("nodeset=\"0x1\"", "nodeset=\"0x2\"") + &second()));
        let text =
            text.replacen("nodeset=\"0x1\" complete_nodeset=\"0x1\"", "nodeset=\"0x3\" complete_nodeset=\"0x3\"", 1);
        let machine = crate::discover::from_xml(&check(&text).unwrap(), String::new()).unwrap();
        let nodes: Vec<_> = machine.numa_nodes.iter().map(|node| (node.strands, node.memory_bytes)).collect();
        assert_eq!(nodes, [(2, Some(0)), (0, Some(4096))]);
        assert_eq!(machine.nodes_of(&[Some(0)]), [Some(1)]);
    }

    #[test]
    fn a_memory_side_cache_lies_before_its_node() {
        let node = object("NUMANode", "0x3", 4, "");
        let cache =
            object("MemCache", "0x3", 5, &node).replacen("os_index=\"0\"", "depth=\"1\" cache_size=\"4096\"", 1);
        let of = |text: String| crate::discover::from_xml(&check(&text).unwrap(), String::new()).unwrap();
        let [plain, cached] = [of(machine(&second())), of(machine(&second()).replacen(&node, &cache, 1))];
        let found = |machine: &crate::Machine| machine.numa_nodes[0].memory_side_cache_bytes;
        assert_eq!((found(&plain), found(&cached)), (None, Some(4096)));
        assert_eq!(found(&of(crate::machine_xml(&cached).unwrap())), Some(4096));
        assert_eq!(plain.strands, cached.strands);
    }

    /// hwloc reads them as empty, says so itself, and does not load what allows nothing.
    #[test]
    fn refuses_a_machine_that_allows_no_set() {
        for name in ["allowed_cpuset", "allowed_nodeset"] {
            let outermost =
                |value: &str| machine(&second()).replacen("os_index", &format!("{name}=\"{value}\" os_index"), 1);
            assert!(check(&outermost("0x1")).is_ok());
            refuses(&outermost("0"), &format!("the {name} \"0\" is no set"));
            refuses(&outermost("0x0"), "allows none of its strands or none of its memory");
        }
    }

    #[test]
    fn refuses_what_is_no_topology() {
        refuses("", "empty");
        refuses("hello", "not XML");
        refuses("<html></html>", "\"html\" where a topology should be");
        refuses("<topology/>", "no strands");
        refuses("<!-- nothing -->", "no topology");
        refuses("<topology></object>", "broken");
        refuses(&format!("<topology><a{}></b>", "\u{1b}".repeat(4000)), "no topology has");
        refuses("<topology version=\"4.0\"/>", "version \"4.0\"");
        refuses("<topology version=\"3.0\"/>", "no strands");
        refuses("<a\u{1b}[2J/>", "which no topology has");
        assert!(decode(vec![0x1f, 0x8b, 8]).unwrap_err().contains("gunzip"));
        assert!(decode(vec![0xff, 0xfe, b'<', 0]).unwrap_err().contains("not UTF-8"));
        assert!(decode(b"<a\0>".to_vec()).unwrap_err().contains("NUL"));
    }

    #[test]
    fn refuses_entities_and_other_cleverness() {
        let laugh = "<!DOCTYPE topology [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><topology/>";
        refuses(laugh, "of its own");
        for elsewhere in ["\"http://localhost/hwloc2.dtd\"", "\"file:///etc/passwd\"", "\"/hwloc2.dtd\""] {
            refuses(&format!("<!DOCTYPE topology SYSTEM {elsewhere}><topology/>"), "of its own");
        }
        refuses("<!DOCTYPE topology PUBLIC \"-//X//Y\" \"hwloc2.dtd\"><topology/>", "of its own");
        refuses("<topology>&b;</topology>", "unknown entity");
        refuses(&machine("<info name=\"x\" value=\"&b;\"/>"), "attribute");
        refuses("<?php x?><topology/>", "processing instruction");
        refuses("<?xml version=\"1.0\" encoding=\"UTF-16\"?><topology/>", "encoding");
        refuses(&format!("<topology>{}", "<a>".repeat(20_000)), "256 deep");
        refuses(&machine(&format!("<info name=\"x\" value=\"{}\"/>", "a".repeat(10 << 20))), "longer than");
    }

    #[test]
    fn refuses_insane_objects() {
        let changed = |from: &str, to: &str| machine(&second().replacen(from, to, 1));
        refuses(&machine(&(second() + &second().replace("gp_index=\"3\"", "gp_index=\"5\""))), "twice");
        refuses(&changed("os_index=\"1\"", "os_index=\"-1\""), "os_index");
        refuses(&changed("os_index=\"1\"", "os_index=\"4294967296\""), "os_index");
        refuses(&changed("os_index=\"1\"", "os_index=\"99999999\""), "os_index");
        refuses(&changed("os_index=\"1\"", ""), "no os_index");
        refuses(&changed(" cpuset=\"0x2\"", ""), "no cpuset");
        refuses(&changed("complete_cpuset=\"0x2\"", ""), "no complete_cpuset");
        refuses(&changed("\"0x2\"", "\"0x4\""), "not its own bit");
        refuses(&changed("\"0x2\"", "\"zz\""), "is no set");
        refuses(
            &changed("complete_cpuset=\"0x2\"", "complete_cpuset=\"0x1\""),
            "complete_cpuset of PU 1 is not its own bit",
        );
        refuses(
            &changed("nodeset=\"0x1\" complete_nodeset=\"0x1\"", "nodeset=\"0x2\" complete_nodeset=\"0x2\""),
            "outside of the object",
        );
        refuses(&changed("gp_index=\"3\"", "gp_index=\"2\""), "gp_index");
        refuses(&changed("gp_index=\"3\"", "gp_index=\"18446744073709551615\""), "gp_index");
        refuses(&machine(&object("Core", "0x6", 5, &second())), "outside of the object around it");
        refuses(&machine(&object("Core", "0x3", 5, &second())), "two objects");
        refuses(&machine(""), "none of its children");
        let without = machine(&second()).replace("NUMANode", "Misc");
        refuses(&without, "does not name the objects of type NUMANode");
        refuses(&without.replace("nodeset=\"0x1\"", "nodeset=\"0x0\""), "no memory");
        refuses(&machine(&second()).replace("Machine", "Package"), "outermost object");
        refuses(&machine(&second()).replace("\"Machine\"", "\"Machine\" allowed_cpuset=\"0x0\""), "allows none");
        refuses(&changed("gp_index=\"3\"", ""), "no gp_index");
        refuses(&machine("<distances2 nbobjs=\"99999999\"/>"), "nbobjs");
        refuses("<topology><info><object type=\"PU\"/></info></topology>", "outside of all objects");
    }
}
