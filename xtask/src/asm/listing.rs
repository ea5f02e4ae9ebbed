//! Reading what objdump prints.

use std::ops::Range;

/// One line of the disassembly.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    pub address: u64,
    pub mnemonic: String,
    /// Its operands as printed, e.g. `$0x8`, `%rax`, `(%rdx,%rcx,8)`, `[x1, x2, lsl #3]`, `#1`.
    pub operands: Vec<String>,
}

impl Instruction {
    /// The address it jumps to, if it is a jump: objdump prints the place behind it, in angle brackets.
    fn target(&self) -> Option<u64> {
        let [operand] = self.operands.as_slice() else { return None };
        let (address, place) = operand.split_once(' ')?;
        if place.starts_with('<') { u64::from_str_radix(address, 16).ok() } else { None }
    }
}

/// The instructions in a disassembly of one symbol.
pub fn parse(text: &str) -> Result<Vec<Instruction>, String> {
    let instructions: Vec<Instruction> = text.lines().filter_map(instruction).collect();
    if instructions.is_empty() { Err("its loop is not in the program".to_owned()) } else { Ok(instructions) }
}

/// The instructions of the only loop, its jump back included.
pub fn only_loop(instructions: &[Instruction]) -> Result<Vec<Instruction>, String> {
    let mut loops = instructions.iter().enumerate().filter_map(|(end, jump)| {
        let start = instructions[..=end].iter().position(|first| Some(first.address) == jump.target())?;
        Some(Range { start, end: end + 1 })
    });
    match (loops.next(), loops.next()) {
        (Some(only), None) => Ok(instructions[only].to_vec()),
        (None, _) => Err("its code has no loop".to_owned()),
        (Some(_), Some(_)) => Err("its code has more than one loop".to_owned()),
    }
}

/// Reads `  1139:⇥add    %rdi,%rax`; other lines are headings.
fn instruction(line: &str) -> Option<Instruction> {
    let (address, rest) = line.split_once(":\t")?;
    let address = u64::from_str_radix(address.trim(), 16).ok()?;
    // A remark may follow the operands: `# 4010 <x>` on x86, `// b.any` on aarch64 (where `#` begins a number).
    let rest = rest.split("//").next()?.split(" # ").next()?.trim();
    let (mnemonic, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    Some(Instruction { address, mnemonic: mnemonic.to_owned(), operands: operands_of(operands.trim()) })
}

/// Splits at the commas outside of brackets.
fn operands_of(text: &str) -> Vec<String> {
    let mut operands = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                operands.push(text[start..at].trim().to_owned());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        operands.push(last.to_owned());
    }
    operands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(line: &str, address: u64, mnemonic: &str, operands: &[&str]) {
        let read = instruction(line).unwrap();
        assert_eq!((read.address, read.mnemonic.as_str()), (address, mnemonic));
        assert_eq!(read.operands, operands);
    }

    #[test]
    fn lines_of_both_machines() {
        reads("    1139:\tadd    %rdi,%rax", 0x1139, "add", &["%rdi", "%rax"]);
        reads("   11c0:\tmov    (%rdx,%rcx,8),%rax", 0x11c0, "mov", &["(%rdx,%rcx,8)", "%rax"]);
        reads("  f0:\tmovsd  0xe9(%rip),%xmm0        # 2004 <x>", 0xf0, "movsd", &["0xe9(%rip)", "%xmm0"]);
        reads("  f4:\tret", 0xf4, "ret", &[]);
        reads("  1c:\tldr\tx8, [x1, x9, lsl #3]", 0x1c, "ldr", &["x8", "[x1, x9, lsl #3]"]);
        reads("  40:\tb.ne\t1c <f+0x1c>  // b.any", 0x40, "b.ne", &["1c <f+0x1c>"]);
        assert_eq!(instruction("0000000000001139 <f>:"), None);
        assert_eq!(instruction("Disassembly of section .text:"), None);
    }

    #[test]
    fn a_loop_ends_in_a_jump_back() {
        let text = "10:\ttest   %rcx,%rcx\n13:\tje     20 <f+0x10>\n15:\tinc    %rax\n18:\tdec    %rcx\n1b:\tjne    15 <f+0x5>\n20:\tret\n";
        let all = parse(text).unwrap();
        let names: Vec<String> = only_loop(&all).unwrap().into_iter().map(|i| i.mnemonic).collect();
        assert_eq!(names, ["inc", "dec", "jne"]);
        assert!(only_loop(&all[..2]).unwrap_err().contains("no loop"));
        let twice = parse(&format!("{text}21:\tjmp    15 <f+0x5>\n")).unwrap();
        assert!(only_loop(&twice).unwrap_err().contains("more than one"));
        assert!(parse("no code\n").is_err());
    }
}
