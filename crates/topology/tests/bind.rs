//! Seating and reading back: on this machine with both backends, and on fake ones.
#![allow(clippy::print_stdout)] // A test that cannot run here says so.
#![allow(clippy::disallowed_methods)] // A test may panic.

use std::sync::Mutex;
use std::thread;

use charz_topology::{Backend, Binder, Error, Seating, Seats, Source, discover};

/// A machine of 1536 strands that seats one thread, unless it ignores the request.
struct Fake {
    obeys: bool,
    seat: Mutex<Vec<u32>>,
}

impl Fake {
    fn new(obeys: bool) -> Self {
        Self { obeys, seat: Mutex::new((0..1536).collect()) }
    }
}

impl Seats for Fake {
    fn seat(&self, os_id: u32) -> Result<(), String> {
        if os_id >= 1536 {
            return Err("there is no such strand".to_owned());
        }
        if self.obeys {
            *self.seat.lock().unwrap() = vec![os_id];
        }
        Ok(())
    }

    fn read_back(&self) -> Result<Seating, String> {
        let allowed = self.seat.lock().unwrap().clone();
        let on = allowed.first().copied();
        Ok(Seating { allowed, on })
    }
}

#[test]
fn a_machine_of_1536_strands_seats_on_the_last() {
    let binder = Binder::through(Fake::new(true));
    binder.seat(1535).unwrap();
    assert!(binder.read_back().unwrap().is_only(1535));
    let refused = binder.seat(1536);
    assert_eq!(refused, Err(Error::Seat { os_id: 1536, reason: "there is no such strand".to_owned() }));
}

#[test]
fn a_seat_that_was_silently_refused_shows_when_it_is_read_back() {
    let binder = Binder::through(Fake::new(false));
    binder.seat(0).unwrap();
    let seating = binder.read_back().unwrap();
    assert!(!seating.is_only(0) && seating.allowed.len() == 1536);
}

#[test]
fn both_backends_seat_on_every_usable_strand_of_this_machine() {
    let machine = discover(&Source::ThisMachine).unwrap();
    for backend in [Backend::Hwloc, Backend::CoreAffinity] {
        let binder = Binder::new(backend);
        for strand in machine.usable_strands() {
            // A thread for each seat, so the test's own thread stays where it is.
            let seating = thread::scope(|scope| {
                let seated = scope.spawn(|| {
                    binder.seat(strand.os_id).unwrap();
                    binder.read_back().unwrap()
                });
                seated.join().unwrap()
            });
            assert!(seating.is_only(strand.os_id), "{backend}: {seating:?} instead of {}", strand.os_id);
        }
    }
}

#[test]
fn strands_that_do_not_exist_are_refused() {
    for (backend, os_id, part) in [
        (Backend::CoreAffinity, 1024, "bind through hwloc"),
        (Backend::CoreAffinity, u32::MAX, "bind through hwloc"),
        (Backend::CoreAffinity, 1023, "refuses"),
        (Backend::Hwloc, 1 << 20, "largest id"),
        (Backend::Hwloc, u32::MAX, "largest id"),
        (Backend::Hwloc, 70_000, "CPU 70000 is offline"),
    ] {
        let error = Binder::new(backend).seat(os_id).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
        assert_eq!(backend.cannot_seat(&[None, Some(os_id)]).is_some(), part == "bind through hwloc");
    }
}

#[test]
fn backends_are_named() {
    for backend in [Backend::Hwloc, Backend::CoreAffinity] {
        assert_eq!(backend.to_string().parse(), Ok(backend));
    }
    assert!("taskset".parse::<Backend>().unwrap_err().contains("hwloc or core-affinity"));
}

#[test]
fn memory_comes_from_where_it_is_asked_for() {
    let machine = discover(&Source::ThisMachine).unwrap();
    let binder = Binder::new(Backend::Hwloc);
    let nodes = machine.nodes_for_memory();
    // A thread of its own, so the test's other memory is left alone.
    let placed = thread::scope(|scope| {
        let worker = scope.spawn(|| {
            binder.place_memory(&nodes)?;
            let buffer = vec![1_u8; 4 << 20];
            let start = std::hint::black_box(buffer.as_ptr()) as usize;
            Ok((start, std::fs::read_to_string("/proc/thread-self/numa_maps").unwrap_or_default(), buffer.len()))
        });
        worker.join().unwrap()
    });
    match placed {
        Err(Error::PlaceMemory { reason, .. }) => println!("skipped: {reason}"),
        Err(other) => panic!("{other}"),
        Ok((start, maps, bytes)) => {
            let starts = maps.lines().filter_map(|line| {
                let at = usize::from_str_radix(line.split(' ').next()?, 16).ok()?;
                (at <= start).then_some((at, line))
            });
            let Some((_, line)) = starts.max() else { return println!("skipped: no numa_maps here") };
            let word = if nodes.len() > 1 { "interleave:" } else { "bind:" };
            // For a mapping without a policy the kernel reports that of the thread: this thread reads its own.
            assert!(line.contains(word), "{bytes} bytes at {start:x}: {line}");
        }
    }
}

#[test]
fn memory_is_not_put_where_there_is_none() {
    let nowhere = Binder::new(Backend::Hwloc).place_memory(&[1000]).unwrap_err().to_string();
    assert!(nowhere.contains("NUMA node 1000") && nowhere.contains("there are 0"), "{nowhere}");
    let other = Binder::new(Backend::CoreAffinity).place_memory(&[0]).unwrap_err().to_string();
    assert!(other.contains("bind through hwloc"), "{other}");
}
