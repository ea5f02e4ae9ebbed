use proptest::prelude::*;

use super::*;

type Stack<const TAG: u32> = Treiber<AtOnce, TAG>;

fn stack<const TAG: u32>(items: u32) -> Stack<TAG> {
    let stack = Stack::new(1, items).expect("none is refused");
    stack.fill((0..items).rev());
    stack
}

impl<const TAG: u32> Stack<TAG> {
    fn taken(&self) -> Option<u32> {
        self.take(&mut (), &mut WaitStats::default())
    }

    fn given(&self, item: u32) {
        self.give(&mut (), item, &mut WaitStats::default());
    }
}

/// A worker looks at a top with another item below, and is held up while so many takes go by, after which that top is back and
/// the item below is not. Whether the worker's exchange succeeds, and with it the item below is in two hands.
fn is_fooled<const TAG: u32>(takes: u32) -> bool {
    let stack = stack::<TAG>(3);
    let seen = stack.look().expect("it is full");
    let (top, below) = (stack.taken().unwrap(), stack.taken().unwrap());
    stack.given(top);
    for _ in 2..takes {
        let item = stack.taken().unwrap();
        stack.given(item);
    }
    let taken = stack.pop(&seen);
    assert_eq!(taken.is_some(), stack.taken() == Some(below), "a fooled exchange makes a held item the top");
    taken.is_some()
}

/// The tag protects until it comes around.
#[test]
fn a_tag_of_two_bits_comes_around_after_four_takes() {
    let fooled: Vec<_> = (2..=9).filter(|takes| is_fooled::<2>(*takes)).collect();
    assert_eq!(fooled, [4, 8]);
}

#[test]
fn no_tag_never_protects() {
    assert!((2..=9).all(is_fooled::<0>));
}

#[test]
fn a_whole_tag_protects() {
    let most = if cfg!(miri) { 40 } else { 4000 };
    assert!(!(2..=most).any(is_fooled::<32>));
}

/// A whole tag wraps as well, and the top does not feel it.
#[test]
fn the_tag_wraps_and_keeps_out_of_the_top() {
    let last = (u64::from(u32::MAX) << 32) | 7;
    assert_eq!(Stack::<32>::with_top(last, 9, 0), (u64::from(u32::MAX) << 32) | 9);
    assert_eq!(Stack::<32>::with_top(last, 9, 1), 9);
    assert_eq!(Stack::<2>::with_top(3 << 32, NOTHING, 1), u64::from(NOTHING));
}

#[test]
fn pauses_double_up_to_the_cap() {
    let pauses = |strands| {
        let mut backoff = Backoff::start(strands);
        let mut pauses = vec![backoff.pauses];
        (0..12).for_each(|_| {
            backoff.failed();
            pauses.push(backoff.pauses);
        });
        pauses
    };
    for strands in [1, 2, 64] {
        let pauses = pauses(strands);
        assert!(pauses.windows(2).all(|pair| pair[1] == (2 * pair[0]).min(strands * EACH)), "{pauses:?}");
        assert_eq!(pauses.last(), Some(&(strands * EACH)));
    }
}

proptest! {
    /// In any sequence of one worker's takes and returns, it is a stack.
    #[test]
    #[cfg_attr(miri, ignore = "too many steps for an interpreter")]
    fn it_is_a_stack(steps: Vec<bool>) {
        let stack = stack::<32>(4);
        let (mut model, mut held) = (vec![3, 2, 1, 0], Vec::new());
        for take in steps {
            if take {
                let taken = stack.taken();
                prop_assert_eq!(taken, model.pop());
                held.extend(taken);
            } else if let Some(item) = held.pop() {
                stack.given(item);
                model.push(item);
            }
        }
    }
}
