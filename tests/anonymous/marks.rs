//! A report with everything that one can have, and a mark in every text of it.

use std::collections::{BTreeMap, BTreeSet};

use charz_data::card::Metric;
use charz_data::machine::{Device, DeviceKind, Group, Info, Kind};
use charz_data::program::{ProgramFile, ProgramIdentity};
use charz_data::report::fixtures::{barren, cell, report};
use charz_data::report::{
    Cell, Culprit, CulpritKind, Ending, Evidence, Growth, Halt, Hardware, ProgramSeen, Report, SCHEMA, Status, Unit,
};
use charz_data::{Better, COMMAND, Program, ProgramValue, ReportedUnit, Role, Times};
use serde_json::{Value, json};

/// Fields whose text may be any to a reader, and is of no use as such: words that are known or a date, and names that are the same in several
/// fields, of which [`Marker::marked`] makes its own.
pub(super) const KNOWN: &[&str] = &[
    "Card.params",
    "Cell.mapping",
    "Plan.mappings",
    "ProgramSeen.followed",
    // With it the numbers are those of a table, and nothing else is looked at.
    "Report.measured_by",
    "Report.id",
    "Report.started",
    "Schema.name",
    "Card.name",
    "Cell.kernel",
    "Plan.kernels",
];

/// Fields that an anonymous report has as they were; all others are left out, or lose what was put into them here.
pub(super) const STAYS: &[&str] = &[
    "Card.about",
    "Card.source",
    "Card.uncounted_traffic",
    "Cell.level",
    "Group.what",
    "Host.clock_source",
    "Host.cpu_quota",
    "Host.energy",
    "Host.frequency_governor",
    "Host.microcode",
    "Host.processor",
    "Host.transparent_huge_pages",
    "Info.name",
    "Info.value",
    "Invocation.variant",
    "Kind.how_known",
    "Machine.doubts",
    "Memory.modules",
    "Metric.bytes",
    "Metric.op_time",
    "Metric.ops",
    "Metric.serial_time",
    "Metric.time_per_gib",
    "NumaNode.subtype",
    "Package.model",
    "Plan.binder",
    "Plan.clock",
    "Role.lock.backs_off",
    "Role.lock_free_pool.backs_off",
    "Role.lock_pool.backs_off",
    "Symbol",
    "Times.first",
    "Times.second",
    "Tool.commit",
    "Tool.hwloc",
    "Tool.kernels",
    "Tool.profile",
    "Tool.rustc",
    "Tool.target",
    "Tool.version",
    "Usable.affinity",
    "Usable.cpuset",
    "Usable.memory",
];

/// In the name of every kernel but that of a program.
pub(super) const KERNEL: &str = "zqkernelqz";
/// In the mapping that a program gives.
pub(super) const MAPPER: &str = "zqmapperqz";

/// The process and the user of every culprit.
pub(super) const NUMBERS: [u32; 2] = [77_123, 77_456];

/// What is put before a mark, where a text has a form.
fn form(field: &str, mark: &str) -> String {
    match field {
        "Report.command" => format!("charz sweep --setup '{mark}' --label={mark}={mark}"),
        "Host.kernel" => format!("Linux 6.8.0-{mark}"),
        "Host.disturbances" => format!("other programs: {mark}"),
        "Tool.rustflags" => format!("-L /{mark}"),
        "Program.command" => format!("{mark}=1 ./{mark} {mark} {{threads}}"),
        _ => mark.to_owned(),
    }
}

/// The schema of reports, and the mark that each field has got.
pub(super) struct Marker {
    schema: Value,
    pub(super) marks: BTreeMap<String, String>,
}

/// The definitions that a schema names.
fn named(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .flat_map(
                |(key, field)| if key == "$ref" { Marker::name(field).into_iter().collect() } else { named(field) },
            )
            .collect(),
        Value::Array(items) => items.iter().flat_map(named).collect(),
        _ => Vec::new(),
    }
}

impl Marker {
    pub(super) fn new() -> Self {
        let mut schema: Value = serde_json::from_str(SCHEMA).unwrap();
        // Conclusions are made of measurements, which have the marks.
        schema["properties"].as_object_mut().unwrap().remove("derived").expect("a report has what is derived");
        let definitions = schema["$defs"].take();
        let (mut reached, mut next) = (BTreeMap::new(), named(&schema));
        while let Some(name) = next.pop() {
            let definition = &definitions[&name];
            if reached.insert(name, definition.clone()).is_none() {
                next.extend(named(definition));
            }
        }
        schema["$defs"] = serde_json::to_value(reached).unwrap();
        Marker { schema, marks: BTreeMap::new() }
    }

    fn name(reference: &Value) -> Option<String> {
        Some(reference.as_str()?.rsplit('/').next()?.to_owned())
    }

    /// Puts a mark into each text of a value that a schema allows to be any.
    fn put(&mut self, schema: &Value, value: &mut Value, at: &str) {
        if let Some(name) = Self::name(&schema["$ref"]) {
            let definition = self.schema["$defs"][&name].clone();
            return self.put(&definition, value, &name);
        }
        let is_of = |kind: &str| match &schema["type"] {
            Value::Array(kinds) => kinds.iter().any(|own| own == kind),
            own => own == kind,
        };
        let is_free = schema.get("enum").is_none() && schema.get("const").is_none();
        if is_of("string") && is_free {
            if !KNOWN.contains(&at) {
                // A unit has at most 24 characters.
                let name: String = at.to_lowercase().chars().filter(char::is_ascii_alphabetic).take(20).collect();
                let mark = self.marks.entry(at.to_owned()).or_insert_with(|| format!("zq{name}qz"));
                *value = form(at, mark).into();
            }
            return;
        }
        for alternative in ["anyOf", "oneOf"].iter().filter_map(|key| schema[key].as_array()).flatten() {
            // Of those with a name the one that has it.
            let named = alternative["properties"].as_object().and_then(|named| named.keys().next().cloned());
            if !value.is_null() && named.is_none_or(|name| value.get(name).is_some()) {
                self.put(alternative, value, at);
            }
        }
        if let (true, Value::Array(list)) = (is_of("array"), &mut *value) {
            // What changed makes a result invalid: that of one.
            let stays_empty = KNOWN.contains(&at) || at == "Evidence.changes";
            if list.is_empty() && schema["items"]["type"] == "string" && !stays_empty {
                list.push("".into());
            }
            list.iter_mut().for_each(|item| self.put(&schema["items"], item, at));
        }
        if !is_of("object") {
            return;
        }
        for (name, own) in schema["properties"].as_object().into_iter().flatten() {
            let is_text =
                own["type"].is_array() && own["type"][0] == "string" || own["additionalProperties"]["type"] == "string";
            if value.get(name).is_none() && is_text {
                value[name] = Value::Null;
            }
            if let Some(field) = value.get_mut(name) {
                self.put(own, field, &format!("{at}.{name}"));
            }
        }
        if schema["additionalProperties"]["type"] == "string" {
            let mut label = Value::Null;
            self.put(&schema["additionalProperties"], &mut label, at);
            *value = json!({ label.as_str().unwrap(): label });
        }
    }

    /// The fields that a schema allows to be any text.
    fn texts(&self, schema: &Value, at: &str, found: &mut BTreeSet<String>) {
        if schema["$ref"].is_string() {
            return;
        }
        let is_text =
            schema["type"] == "string" || schema["type"].as_array().is_some_and(|all| all.contains(&"string".into()));
        if is_text && schema.get("enum").is_none() && schema.get("const").is_none() {
            found.insert(at.to_owned());
        }
        for alternative in ["anyOf", "oneOf"].iter().filter_map(|key| schema[key].as_array()).flatten() {
            self.texts(alternative, at, found);
        }
        for below in ["items", "additionalProperties"].iter().filter_map(|key| schema.get(key)) {
            self.texts(below, at, found);
        }
        for (name, own) in schema["properties"].as_object().into_iter().flatten() {
            self.texts(own, &format!("{at}.{name}"), found);
        }
    }

    pub(super) fn all_texts(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.texts(&self.schema, "Report", &mut found);
        for (name, definition) in self.schema["$defs"].as_object().unwrap() {
            self.texts(definition, name, &mut found);
        }
        found
    }

    /// A report with a mark in every text.
    pub(super) fn marked(&mut self, report: &Report) -> Report {
        let mut value = serde_json::to_value(report).unwrap();
        let schema = self.schema.clone();
        self.put(&schema, &mut value, "Report");
        fn rename(value: &mut Value, names: &[String]) {
            match value {
                Value::String(text) if names.contains(text) => text.push_str(KERNEL),
                Value::Array(list) => list.iter_mut().for_each(|item| rename(item, names)),
                Value::Object(fields) => fields.values_mut().for_each(|field| rename(field, names)),
                _ => {}
            }
        }
        let names: Vec<String> = report.cards.iter().map(|card| card.name.to_string()).collect();
        rename(&mut value, &names.into_iter().filter(|name| name != COMMAND).collect::<Vec<_>>());
        serde_json::from_value(value).unwrap()
    }
}

/// A report that has everything that a report can have; the number of its program comes from there.
pub(super) fn everything(id: usize, value: ProgramValue) -> Report {
    let unit = Unit::Reported(ReportedUnit::new("J", Better::Lower).unwrap());
    let rate =
        |mapping: &str, workers: u64, value: f64| cell("mem-read", workers, Unit::BytesPerSecond, value).under(mapping);
    let own = |workers: u64, value: f64| cell(COMMAND, workers, unit, value).under("dumb").in_order();
    let failed = |mut cell: Cell, ending: Ending| {
        cell = cell.unmeasured(Status::Failed, "it failed");
        cell.invocations = vec![barren(ending)];
        cell
    };
    let times: Vec<(u64, u64)> = (0..2000).map(|at| (1000 + at, 4000 + at % 700)).collect();
    let mut cells = vec![
        rate("dumb", 1, 9e9),
        rate("dumb", 2, 14e9),
        rate("auto", 2, 15e9).suspect(),
        rate(&format!("command:/{MAPPER}/x {MAPPER}"), 2, 16e9),
        rate("dumb", 4, 20e9).unmeasured(Status::Skipped, "too large"),
        cell("arith-int", 2, Unit::OpsPerSecond, 3e9).under("dumb").in_order().counted(Hardware::default()),
        cell("signal", 2, Unit::NanosecondsSampled, 4400.0).under("pair:core").timed(&times),
        own(1, 9.0),
        own(2, 5.0),
        failed(own(3, 1.0), Ending::Died),
        failed(own(4, 1.0), Ending::Refused),
    ];
    let culprit = |kind| Culprit {
        kind,
        name: "x".into(),
        pid: Some(NUMBERS[0]),
        uid: Some(NUMBERS[1]),
        others: 3,
        cpu_ns: 90,
        time_ns: 100,
    };
    use CulpritKind::{Host, Interrupts, Process, Quota, Unseen};
    for (at, run) in cells.iter_mut().flat_map(|cell| &mut cell.invocations).enumerate() {
        let seen = ProgramSeen { threads: 2, followed: "ptrace".into(), ..ProgramSeen::default() };
        run.evidence = Some(Evidence {
            culprits: [Process, Interrupts, Quota, Host, Unseen].map(culprit).into(),
            looked_ns: Some(100),
            wake_ups: Some([5].into_iter().collect()),
            changes: (at == 0).then(String::new).into_iter().collect(),
            program: Some(seen),
            ..Evidence::default()
        });
        if let Some(run) = run.runs.first_mut().filter(|_| at == 0) {
            run.growth = Some(Box::new(Growth::new(Vec::new(), Halt::Time)));
        }
    }
    let mut report = report(cells);
    let (card, all) = (report.cards[0].clone(), report.cards.len());
    let text = || "x".into();
    let metrics = [
        Metric::Ops(text()),
        Metric::Bytes(text()),
        Metric::SerialTime(text()),
        Metric::OpTime(text()),
        Metric::TimePerGib(text()),
    ];
    for (at, metric) in metrics.into_iter().enumerate() {
        let mut card = card.clone();
        (card.name, card.metric) = (format!("unused-{at}").into(), metric);
        card.times = Some(Times { first: text(), second: text(), on_one_strand: true });
        report.cards.push(card);
    }
    let own = report.cards[..all].iter_mut().find(|card| card.name == COMMAND).unwrap();
    (own.role, own.metric) = (Role::Program, Metric::Reported(text()));
    let unit = ReportedUnit::new("J", Better::Lower).unwrap();
    report.plan.program = Some(Program::new("", value, unit));
    let file = ProgramFile { path: "x".into(), device: 0, inode: 0, bytes: 0, modified_ns: 0 };
    report.plan.program_identity = Some(ProgramIdentity { folder: "x".into(), files: vec![file] });
    report.machine.groups = vec![Group { what: "die".into(), strands: 2 }];
    let infos = vec![Info { name: "CoreType".into(), value: "x".into() }];
    let device = Device {
        names: vec!["x".into()],
        kind: DeviceKind::Nic,
        model: Some("x".into()),
        pci: Some("x".into()),
        pci_root: Some("x".into()),
        package: None,
        numa: None,
        cpus: "x".into(),
    };
    report.machine.devices = vec![device];
    report.machine.kinds = vec![Kind { speed_rank: None, how_known: "x".into(), infos, strands: 2 }];
    report.complete = false;
    report.id = format!("{id:032x}");
    report
}
