//! Occupancy: so many workers on each package.

use charz_data::escape::counted;

use super::round_robin::{interleave, within_packages};
use super::{Mapper, Order, misfit};
use crate::error::quote;
use crate::{Error, Machine};

/// One digit a package, `2200`, or one number a package, `12,12,0,0`: without leading zeros.
struct Occupancy(String);

pub(super) fn read(text: &str) -> Result<(Box<dyn Mapper>, String), String> {
    let numbers = text.split(',').map(number).collect::<Result<Vec<usize>, String>>()?;
    if numbers.iter().all(|number| *number == 0) {
        return Err("it has no threads; give at least one socket a thread".to_owned());
    }
    let canonical = match numbers[..] {
        [_] => text.to_owned(),
        _ => numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
    };
    Ok((Box::new(Occupancy(canonical.clone())), canonical))
}

/// A number of workers; its size is checked against the machine, so reading it need only not overflow.
fn number(text: &str) -> Result<usize, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits {
        return Err(format!("{} is not a number of threads; write 2200 or 12,12,0,0", quote(text)));
    }
    // A row of digits with one digit per package may be longer than any number: it only matters whether their sum is zero.
    Ok(text.parse().unwrap_or(usize::MAX))
}

impl Occupancy {
    /// The number of workers for each package of a machine with so many packages.
    ///
    /// On a machine of one package a row of digits can only mean one number.
    fn numbers(&self, packages: usize) -> Vec<usize> {
        if packages > 1 && !self.0.contains(',') {
            return self.0.bytes().map(|digit| usize::from(digit - b'0')).collect();
        }
        self.0.split(',').map(|number| number.parse().unwrap_or(usize::MAX)).collect()
    }
}

impl Mapper for Occupancy {
    fn order(&self, machine: &Machine) -> Result<Order, Error> {
        let refuse = |reason: String| Err(misfit(&format!("occupancy:{}", self.0), &reason));
        let mut packages = within_packages(machine);
        let numbers = self.numbers(packages.len());
        if numbers.len() != packages.len() {
            return refuse(format!(
                "it has {}, the machine {}",
                counted(numbers.len(), "number"),
                counted(packages.len(), "socket")
            ));
        }
        for (package, (strands, number)) in packages.iter_mut().zip(&numbers).enumerate() {
            if *number > strands.len() {
                return refuse(format!("socket {package} has only {}", counted(strands.len(), "usable CPU")));
            }
            strands.truncate(*number);
        }
        Ok(Order::Strands(interleave(packages)))
    }
}
