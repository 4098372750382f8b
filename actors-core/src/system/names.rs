//! Names under numbers: an actor keeps two bytes of the handler that it runs, and writes them without a lock.

use std::num::NonZeroU16;
use std::ptr;
use std::sync::OnceLock;

/// How many names a page holds.
const PAGE: usize = 64;

/// How many pages there are at most.
const PAGES: usize = 64;

/// How many places of a page a name is looked for in.
const TRIES: usize = 8;

type Page = [OnceLock<&'static str>; PAGE];

/// The names that had to be told so far; none is ever forgotten. A place is given for good, so that looking takes no lock.
#[derive(Debug)]
pub(crate) struct Names([OnceLock<Box<Page>>; PAGES]);

impl Default for Names {
    fn default() -> Self {
        Self([const { OnceLock::new() }; PAGES])
    }
}

impl Names {
    /// Returns the number of a name: always the same, but not the same for the same text in two places of the program. `None`
    /// if there are too many.
    #[inline]
    pub(crate) fn number(&self, name: &'static str) -> Option<NonZeroU16> {
        let first = place(name);
        for (number, page) in self.0.iter().enumerate() {
            let page =
                page.get_or_init(|| Box::new([const { OnceLock::<&'static str>::new() }; PAGE]));
            for place in (first..first + TRIES).map(|place| place % PAGE) {
                if ptr::eq(*page[place].get_or_init(|| name), name) {
                    return NonZeroU16::new((number * PAGE + place + 1) as u16);
                }
            }
        }
        None
    }

    /// Returns the name that has a number.
    pub(crate) fn name(&self, number: NonZeroU16) -> Option<&'static str> {
        let place = usize::from(number.get() - 1);
        let page = self.0.get(place / PAGE)?.get()?;
        page[place % PAGE].get().copied()
    }
}

/// Where in a page a name is looked for first.
fn place(name: &'static str) -> usize {
    // Names lie close together in the program: the multiplication brings the low bits of the address up.
    let mixed = (name.as_ptr().addr() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 58) as usize % PAGE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_number_and_can_be_told_from_it() {
        let names = Names::default();
        let text: &'static str = "abcdefghijklmnopqrstuvwxyz".repeat(8).leak();
        let all: Vec<&'static str> = (1..text.len()).map(|end| &text[end - 1..end]).collect();
        let numbers: Vec<_> = all.iter().map(|name| names.number(name)).collect();
        for (name, number) in all.iter().zip(&numbers) {
            assert_eq!(names.number(name), *number);
            assert_eq!(names.name(number.unwrap()), Some(*name));
        }
        let mut different = numbers.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), numbers.len());
    }

    #[test]
    fn names_of_one_address_and_two_lengths_are_two() {
        let names = Names::default();
        let text = "Deposit";
        assert_ne!(names.number(text), names.number(&text[..3]));
    }

    #[test]
    fn when_there_are_too_many_names_the_next_has_no_number() {
        let names = Names::default();
        let text: &'static str = "x".repeat(PAGE * PAGES * 64).leak();
        let mut all = (0..text.len()).map(|begin| &text[begin..]);
        assert!(all.any(|name| names.number(name).is_none()));
    }
}
