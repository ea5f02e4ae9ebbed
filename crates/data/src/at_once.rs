use std::sync::{Mutex, PoisonError};
use std::thread;

/// What `work` makes of each item, in their order: as many at once as there are CPUs, and fewer where the system refuses threads.
pub fn at_once<T: Send, R: Send>(items: impl IntoIterator<Item = T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let items: Vec<T> = items.into_iter().collect();
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let queue = Mutex::new(items.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let help = || {
        while let Some((at, item)) = next() {
            let own = (at, work(item));
            done.lock().unwrap_or_else(PoisonError::into_inner).push(own);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // What is refused a thread is left to the others, at last to the caller's own.
            let _ = thread::Builder::new().spawn_scoped(scope, help);
        }
        help();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, own)| own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_in_the_order_of_the_items() {
        assert_eq!(at_once(0..1000, |number| number * 2), (0..1000).map(|number| number * 2).collect::<Vec<_>>());
        let mut items = [1, 2, 3];
        at_once(&mut items, |item| *item += 1);
        assert_eq!(items, [2, 3, 4]);
        assert_eq!(at_once([(); 0], |()| 1), [0; 0]);
    }
}
