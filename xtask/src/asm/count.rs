//! Counting a loop's arithmetic, apart from what only drives the loop.

use std::collections::BTreeSet;
use std::fmt;

use super::listing::Instruction;

/// The type that a chain computes with.
#[derive(Clone, Copy, PartialEq)]
pub enum Arithmetic {
    Integer,
    Float,
}

/// The names of the instructions on one kind of machine.
pub struct Instructions {
    /// Those that add, subtract and multiply.
    arithmetic: [&'static [&'static str]; 3],
    /// Those that bring a value from memory into a register.
    load: &'static [&'static str],
    /// Those that may only drive the loop: they change a register by a constant, compare, or jump.
    control: &'static [&'static str],
    /// Whether the result is the last operand, as in the AT&T notation, and not the first.
    result_last: bool,
}

impl Instructions {
    /// The names on `machine`, as Rust calls it; `None` for one whose names are not listed.
    pub fn of(machine: &str, arithmetic: Arithmetic) -> Option<Self> {
        const X86: &[&str] =
            &["inc", "dec", "add", "sub", "and", "cmp", "test", "jne", "je", "jb", "jae", "ja", "jbe", "jmp"];
        const ARM: &[&str] =
            &["add", "adds", "sub", "subs", "and", "ands", "cmp", "tst", "b.ne", "b.eq", "b", "cbnz", "cbz"];
        let integer = arithmetic == Arithmetic::Integer;
        let names = match (machine, integer) {
            ("x86_64", true) => [&["add"][..], &["sub"], &["imul"], &["mov"]],
            ("x86_64", false) => [
                &["addsd", "vaddsd"][..],
                &["subsd", "vsubsd"],
                &["mulsd", "vmulsd"],
                &["movsd", "vmovsd", "movq", "vmovq"],
            ],
            ("aarch64", true) => [&["add"][..], &["sub"], &["mul"], &["ldr"]],
            ("aarch64", false) => [&["fadd"][..], &["fsub"], &["fmul"], &["ldr"]],
            _ => return None,
        };
        let [add, sub, mul, load] = names;
        let x86 = machine == "x86_64";
        let control = if x86 { X86 } else { ARM };
        Some(Instructions { arithmetic: [add, sub, mul], load, control, result_last: x86 })
    }

    /// The result and the sources of an instruction that computes. With two operands the result is a source, too.
    fn operands<'a>(&self, instruction: &'a Instruction) -> Option<(&'a str, Vec<&'a str>)> {
        let mut operands: Vec<&str> = instruction.operands.iter().map(String::as_str).collect();
        if operands.len() == 2 && self.result_last {
            return Some((operands[1], operands));
        }
        if operands.len() != 3 {
            return None;
        }
        let result = operands.remove(if self.result_last { 2 } else { 0 });
        Some((result, operands))
    }
}

/// What a loop computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    /// The steps that its body holds: one for each input that it reads.
    pub steps: usize,
    /// Additions, subtractions and multiplications in the body.
    pub arithmetic: [usize; 3],
    /// Instructions that only drive the loop.
    pub control: usize,
}

impl Count {
    /// What one step of a chain is.
    pub const STEP: Count = Count { steps: 1, arithmetic: [2, 2, 4], control: 0 };

    /// Whether each step is [`Count::STEP`].
    pub fn is_whole(&self) -> bool {
        self.steps > 0 && self.arithmetic == Count::STEP.arithmetic.map(|count| count * self.steps)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Count { steps, arithmetic: [add, sub, mul], control } = self;
        let s = if *steps == 1 { "" } else { "s" };
        write!(
            f,
            "{steps} step{s}: {add} additions, {sub} subtractions, {mul} multiplications; {control} for the loop itself"
        )
    }
}

/// Counts the arithmetic in the body of a loop. Refused is a body that holds something which belongs neither to the chain nor to
/// driving the loop, and an operation that does not use the result of the one before it: then the count says nothing.
pub fn count(body: &[Instruction], instructions: &Instructions) -> Result<Count, String> {
    let mut count = Count { steps: 0, arithmetic: [0; 3], control: 0 };
    let mut inputs: BTreeSet<&str> = BTreeSet::new();
    let mut driving = BTreeSet::new();
    let mut chain: Vec<(&str, Vec<&str>)> = Vec::new();
    for instruction in body {
        let is = |names: &[&str]| names.contains(&instruction.mnemonic.as_str());
        let constant = instruction.operands.iter().any(|operand| operand.starts_with(['$', '#']));
        let memory = instruction.operands.iter().map(String::as_str).filter(|operand| operand.contains(['(', '[']));
        let reads = memory.clone().count();
        inputs.extend(memory);
        let operation = instructions.arithmetic.iter().position(|names| is(names)).filter(|_| !constant);
        if let Some(operation) = operation {
            count.arithmetic[operation] += 1;
            chain.push(instructions.operands(instruction).ok_or_else(|| strange(instruction))?);
        } else if is(instructions.control) {
            count.control += 1;
            driving.extend(instruction.operands.iter().filter(|o| !o.starts_with(['$', '#'])).map(String::as_str));
        } else if !is(instructions.load) || reads == 0 {
            return Err(strange(instruction));
        }
    }
    count.steps = inputs.len();
    dependent(&chain)?;
    match chain.iter().find(|(result, _)| driving.contains(result)) {
        Some((result, _)) => {
            Err(format!("{result} both holds a result and drives the loop, and they cannot be separated"))
        }
        None => Ok(count),
    }
}

/// Each operation has to use the result of the one before, and the first that of the last.
fn dependent(chain: &[(&str, Vec<&str>)]) -> Result<(), String> {
    let before = chain.iter().cycle().skip(chain.len().saturating_sub(1));
    for ((_, sources), (result, _)) in chain.iter().zip(before) {
        if !sources.contains(result) {
            return Err(format!(
                "an operation on {} does not use the result before it, {result}",
                sources.join(" and ")
            ));
        }
    }
    Ok(())
}

fn strange(instruction: &Instruction) -> String {
    let operands = instruction.operands.join(", ");
    format!("`{} {operands}` is neither a step of the chain nor part of the loop's control", instruction.mnemonic)
}

#[cfg(test)]
mod tests;
