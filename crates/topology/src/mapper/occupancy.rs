//! Occupancy: so many workers on each package.

use super::round_robin::{interleave, within_packages};
use super::{Mapper, Order, misfit};
use crate::error::quote;
use crate::{Error, Machine};

/// How the numbers were written, which matters on a machine of one package.
enum Occupancy {
    /// One digit a package: `2200`.
    Digits(String),
    /// One number a package: `12,12,0,0`.
    Numbers(Vec<usize>),
}

pub(super) fn read(text: &str) -> Result<(Box<dyn Mapper>, String), String> {
    let pieces: Vec<&str> = text.split(',').collect();
    let numbers = pieces.iter().map(|piece| number(piece)).collect::<Result<Vec<usize>, String>>()?;
    if numbers.iter().all(|number| *number == 0) {
        return Err("it has no workers; give at least one package a worker".to_owned());
    }
    let occupancy = if pieces.len() == 1 { Occupancy::Digits(text.to_owned()) } else { Occupancy::Numbers(numbers) };
    let canonical = occupancy.text();
    Ok((Box::new(occupancy), canonical))
}

/// A number of workers; its size is checked against the machine, so that reading it need only not overflow.
fn number(text: &str) -> Result<usize, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits {
        return Err(format!("{} is not a number of workers; write 2200 or 12,12,0,0", quote(text)));
    }
    // A row of digits that stand for one package each may be longer than any number: only their sum being zero matters.
    Ok(text.parse().unwrap_or(usize::MAX))
}

impl Occupancy {
    fn text(&self) -> String {
        match self {
            Self::Digits(text) => text.clone(),
            Self::Numbers(numbers) => numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
        }
    }

    /// The number of workers for each package of a machine with so many packages.
    ///
    /// On a machine of one package a row of digits can only mean one number.
    fn numbers(&self, packages: usize) -> Vec<usize> {
        match self {
            Self::Numbers(numbers) => numbers.clone(),
            Self::Digits(text) if packages == 1 => vec![text.parse().unwrap_or(usize::MAX)],
            Self::Digits(text) => text.bytes().map(|digit| usize::from(digit - b'0')).collect(),
        }
    }
}

impl Mapper for Occupancy {
    fn order(&self, machine: &Machine) -> Result<Order, Error> {
        let refuse = |reason: String| Err(misfit(&format!("occupancy:{}", self.text()), &reason));
        let mut packages = within_packages(machine);
        let numbers = self.numbers(packages.len());
        if numbers.len() != packages.len() {
            return refuse(format!("it has {} entries, the machine {} packages", numbers.len(), packages.len()));
        }
        for (package, (strands, number)) in packages.iter_mut().zip(&numbers).enumerate() {
            if *number > strands.len() {
                let room = strands.len();
                return refuse(format!("package {package} has {room} usable strands, which is less than {number}"));
            }
            strands.truncate(*number);
        }
        Ok(Order::Strands(interleave(packages)))
    }
}
