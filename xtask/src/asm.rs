//! `asm`: shows the loop of an arithmetic kernel as it was compiled, and counts its arithmetic.
//!
//! A compiler that finds a shorter way to the same result makes a kernel look faster than the machine is. So what is
//! counted is not the source but the program that measures.

mod count;
mod listing;

use std::path::Path;
use std::process::Command;

use count::{Arithmetic, Count, Instructions};
use listing::Instruction;
use xtask::packages::{self, OBJDUMP};
use xtask::target::Target;
use xtask::{Failure, Outcome, process, setup, workspace};

/// A kernel whose loop has a name of its own in the program.
struct Chain {
    kernel: &'static str,
    symbol: &'static str,
    arithmetic: Arithmetic,
}

const CHAINS: [Chain; 2] = [
    Chain { kernel: "arith-int", symbol: "charz_arith_int_loop", arithmetic: Arithmetic::Integer },
    Chain { kernel: "arith-float", symbol: "charz_arith_float_loop", arithmetic: Arithmetic::Float },
];

pub fn start(arguments: &[String]) -> Outcome {
    let names = CHAINS.map(|chain| chain.kernel).join(" and ");
    let (name, target) = match arguments {
        [name] => (name, Target::host()?),
        [name, flag, triple] if flag == "--target" => (name, Target::named(triple)?),
        _ => return Err(Failure::usage(format!("`asm` takes the name of one kernel, {names}, and --target TRIPLE"))),
    };
    let chain = CHAINS.iter().find(|chain| chain.kernel == name);
    let chain = chain.ok_or_else(|| Failure::usage(format!("`asm` knows {names}, not {name:?}")))?;
    // The released program has no symbols; this one is the same with them.
    let build = ["build", "--profile", "lines", "--package", "charz"];
    let program = if target.is_host() {
        setup::quietly()?;
        process::run(workspace::cargo().args(build))?;
        workspace::built("lines").join("charz")
    } else {
        target.prepare()?;
        process::run(&mut target.cargo(&build)?)?;
        target.folder("lines").join("charz")
    };
    packages::ensure(&[OBJDUMP])?;
    show(chain, target, &program)
}

/// Checks every kernel in a program that is built already. The loops are assembly, the same in every profile.
pub fn check(target: &Target, program: &Path) -> Outcome {
    packages::ensure(&[OBJDUMP])?;
    CHAINS.iter().try_for_each(|chain| show(chain, target, program))
}

fn show(chain: &Chain, target: &Target, program: &Path) -> Outcome {
    // What builds for another architecture brings its own.
    let objdump = target.tool("objdump");
    let mut command = Command::new(process::find(&objdump).unwrap_or_else(|| objdump.into()));
    command.args(["--disassemble", "--no-show-raw-insn"]).arg(program);
    let text = process::read(command.arg(format!("--disassemble={}", chain.symbol)))?;
    let refused = |reason: String| Failure::found(format!("{}: {reason}", chain.kernel));
    let body = listing::parse(&text).and_then(|all| listing::only_loop(&all)).map_err(refused)?;
    for Instruction { address, mnemonic, operands } in &body {
        println!("{address:>10x}  {mnemonic:<8} {}", operands.join(", "));
    }
    let instructions = Instructions::of(target.arch, chain.arithmetic)
        .ok_or_else(|| refused(format!("the instructions of {} are not known here", target.arch)))?;
    let count = count::count(&body, &instructions).map_err(refused)?;
    println!("{}: {count}", chain.kernel);
    if count.is_whole() { Ok(()) } else { Err(refused(format!("{count}; want {}", Count::STEP))) }
}
