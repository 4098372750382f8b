//! The queue of a mailbox: room for one entry inline, and for a burst in a box of its own.
//!
//! An actor that gets one message at a time never allocates for it; a burst moves out as one pointer.
//!
//! What a push calls is inlined always: a message is made in its place, see
//! [`push_made`](super::MailboxCell::push_made), and a call on the way would move it.

use std::collections::VecDeque;
use std::mem;

use super::{Entry, Notice};

/// The most entries for which an emptied buffer is kept while the activation is active.
const KEPT: usize = 4096;
/// The most bytes of a buffer that is kept when it is not, because bursts follow one another.
const KEPT_IDLE: usize = 2048;
/// The entries that a buffer has room for at first. From there on it grows fourfold, as long as it is small.
const FEW: usize = 8;

/// Boxed, because most actors have none most of the time.
type Buffer<M, N> = Box<VecDeque<Entry<M, N>>>;

/// Entries in order, and a buffer for more.
pub(crate) struct Burst<M, N>(Option<Buffer<M, N>>);

impl<M, N> Burst<M, N> {
    pub(crate) const fn new() -> Self {
        Self(None)
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Entry<M, N>> {
        self.0.as_mut()?.pop_front()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|entries| entries.is_empty())
    }

    pub(super) fn front(&self) -> Option<&Entry<M, N>> {
        self.0.as_ref()?.front()
    }

    fn len(&self) -> u32 {
        let len = self.0.as_ref().map_or(0, |entries| entries.len());
        u32::try_from(len).expect("a queue counts its entries in four bytes")
    }

    /// Gives the memory of an emptied buffer back.
    #[inline]
    pub(crate) fn shrink(&mut self) {
        debug_assert!(self.is_empty());
        self.0 = None;
    }

    /// The same, if it is much.
    pub(super) fn trim(&mut self) {
        if self.0.as_ref().is_some_and(|all| all.capacity() > KEPT) {
            self.shrink();
        }
    }

    #[inline(always)]
    fn reserve(&mut self) -> &mut Buffer<M, N> {
        let entries = self.0.get_or_insert_default();
        if entries.len() == entries.capacity() {
            Self::grow(entries);
        }
        entries
    }

    #[inline(always)]
    fn push(&mut self, entry: Entry<M, N>) {
        self.reserve().push_back(entry);
    }

    #[cold]
    fn grow(entries: &mut VecDeque<Entry<M, N>>) {
        let len = entries.len();
        if len < KEPT {
            entries.reserve_exact((len * 3).max(FEW));
        }
    }

    /// Takes the buffer of an emptied burst, if this one has none and it is small.
    fn keep(&mut self, emptied: &mut Self) {
        let is_small = |entries: &VecDeque<Entry<M, N>>| {
            entries.capacity() * size_of::<Entry<M, N>>() <= KEPT_IDLE
        };
        if self.0.is_none() {
            self.0 = emptied.0.take_if(|entries| is_small(entries));
        }
    }

    fn into_entries(self) -> VecDeque<Entry<M, N>> {
        self.0.map(|entries| *entries).unwrap_or_default()
    }
}

/// Guarded by the lock of its mailbox. `first` comes before `rest`, and is empty only if `rest` is.
pub(super) struct Queue<M, N> {
    first: Option<Entry<M, N>>,
    rest: Burst<M, N>,
    len: u32,
    /// How many entries are notices, which take no room. Not of those that were put back: where room is counted, no bursts are
    /// taken.
    notices: u32,
    /// How many of those bring no message.
    silent: u32,
    /// As many messages are below the mark for a warning, whatever is left of the last burst: the activation writes down what is
    /// left all the time, and that is read when it matters.
    pub(super) look_at: u32,
}

impl<M, N: Notice> Queue<M, N> {
    pub(super) const fn new(look_at: u32) -> Self {
        Self {
            first: None,
            rest: Burst::new(),
            len: 0,
            notices: 0,
            silent: 0,
            look_at,
        }
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entries that bring a message.
    #[inline]
    pub(super) const fn messages(&self) -> u32 {
        self.len - self.silent
    }

    /// The entries that need room.
    #[inline]
    pub(super) const fn counted(&self) -> usize {
        (self.len - self.notices) as usize
    }

    pub(super) fn push(&mut self, entry: Entry<M, N>) {
        match entry {
            Entry::Message(message) => self.push_message(message),
            Entry::Notice(notice) => {
                self.notices += 1;
                self.silent += u32::from(!notice.brings_message());
                self.append(Entry::Notice(notice));
            }
        }
    }

    /// Makes room for one more entry.
    #[inline(always)]
    pub(super) fn reserve(&mut self) {
        if self.first.is_some() {
            self.rest.reserve();
        }
    }

    #[inline(always)]
    pub(super) fn push_message(&mut self, message: M) {
        self.append(Entry::Message(message));
    }

    #[inline(always)]
    fn append(&mut self, entry: Entry<M, N>) {
        self.len += 1;
        if self.first.is_none() {
            self.first = Some(entry);
        } else {
            self.rest.push(entry);
        }
    }

    pub(super) const fn front(&self) -> Option<&Entry<M, N>> {
        self.first.as_ref()
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Entry<M, N>> {
        let entry = self.first.take()?;
        self.first = self.rest.pop();
        self.uncount(&entry);
        Some(entry)
    }

    /// Takes the oldest message out; notices before it stay.
    pub(super) fn evict(&mut self) -> Option<M> {
        if matches!(self.first, Some(Entry::Message(_))) {
            return match self.pop() {
                Some(Entry::Message(message)) => Some(message),
                _ => None,
            };
        }
        let rest = self.rest.0.as_mut()?;
        let oldest = rest.iter().position(|entry| !entry.is_notice())?;
        match rest.remove(oldest) {
            Some(Entry::Message(message)) => {
                self.len -= 1;
                Some(message)
            }
            _ => None,
        }
    }

    /// Takes everything, in order.
    pub(super) fn take(&mut self) -> VecDeque<Entry<M, N>> {
        let mut all = mem::replace(&mut self.rest, Burst::new()).into_entries();
        if let Some(first) = self.first.take() {
            all.push_front(first);
        }
        self.forget_counts();
        all
    }

    /// Takes the first entry, and all others into the emptied `burst`, whose buffer stays here. Says how many messages are
    /// among those. `bursts` counts how many had others in a row, as far as it matters.
    #[inline]
    pub(super) fn take_burst(
        &mut self,
        burst: &mut Burst<M, N>,
        bursts: &mut u8,
    ) -> Option<(Entry<M, N>, u32)> {
        let Some(first) = self.first.take() else {
            self.rest.keep(burst);
            return None;
        };
        self.uncount(&first);
        let messages = self.messages();
        if self.len == 0 {
            *bursts = 0;
            return Some((first, 0));
        }
        *bursts = bursts.saturating_add(1);
        self.forget_counts();
        mem::swap(&mut self.rest, burst);
        Some((first, messages))
    }

    /// Puts a burst back before everything that has come since. Only that is moved, and so once for each entry; or a row of
    /// failures in a deep mailbox would move all of it each time. The burst has an entry or more, of which `messages` count.
    pub(super) fn put_back(&mut self, burst: &mut Burst<M, N>, messages: u32) {
        mem::swap(&mut self.rest, burst);
        let len = self.rest.len();
        self.len += len;
        self.silent += len - messages;
        let next = mem::replace(&mut self.first, self.rest.pop());
        let since = next.into_iter().chain(std::iter::from_fn(|| burst.pop()));
        since.for_each(|entry| self.rest.push(entry));
    }

    /// Takes out each message for which `pick` says so; the order of the rest stays.
    pub(super) fn extract(&mut self, mut pick: impl FnMut(&M) -> bool) -> Vec<M> {
        let all = self.take();
        let mut picked = Vec::new();
        let mut rest = VecDeque::new();
        for entry in all {
            match entry {
                Entry::Message(message) if pick(&message) => picked.push(message),
                other => rest.push_back(other),
            }
        }
        self.refill(rest);
        picked
    }

    fn refill(&mut self, entries: VecDeque<Entry<M, N>>) {
        for entry in entries {
            self.push(entry);
        }
    }

    /// Takes the buffer out of an empty queue that becomes idle, unless one burst follows another.
    #[inline]
    pub(super) fn take_buffer(&mut self, bursts: u8) -> Burst<M, N> {
        let mut buffer = mem::replace(&mut self.rest, Burst::new());
        if bursts > 1 {
            self.rest.keep(&mut buffer);
        }
        buffer
    }

    #[inline]
    fn uncount(&mut self, entry: &Entry<M, N>) {
        self.len -= 1;
        if let Entry::Notice(notice) = entry {
            self.notices = self.notices.saturating_sub(1);
            self.silent -= u32::from(!notice.brings_message());
        }
    }

    fn forget_counts(&mut self) {
        (self.len, self.notices, self.silent) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Notice for bool {
        fn brings_message(&self) -> bool {
            *self
        }
    }

    /// Each third entry is a notice, and each second of those brings a message.
    fn entry(number: u32) -> Entry<u32, bool> {
        match number % 6 {
            2 => Entry::Notice(Box::new(true)),
            5 => Entry::Notice(Box::new(false)),
            _ => Entry::Message(number),
        }
    }

    fn shown(entry: Option<Entry<u32, bool>>) -> Option<String> {
        entry.map(|entry| format!("{entry:?}"))
    }

    /// Takes `taken` entries of a burst of 60 while `since` come, and puts the rest back.
    fn put_back_after(taken: u32, since: u32) -> (Queue<u32, bool>, bool) {
        let (mut queue, mut burst) = (Queue::new(u32::MAX), Burst::new());
        (0..60).for_each(|number| queue.push(entry(number)));
        let (first, mut messages) = queue.take_burst(&mut burst, &mut 0).unwrap();
        assert_eq!(shown(Some(first)), shown(Some(entry(0))));
        for number in 1..taken {
            let next = burst.pop();
            messages -= u32::from(next.as_ref().unwrap().is_message());
            assert_eq!(shown(next), shown(Some(entry(number))));
        }
        (60..60 + since).for_each(|number| queue.push(entry(number)));
        let address = |burst: &Burst<_, _>| burst.0.as_ref().map(|entries| &raw const **entries);
        let before = address(&burst);
        queue.put_back(&mut burst, messages);
        assert!(burst.is_empty());
        let stays = address(&queue.rest) == before;
        (queue, stays)
    }

    #[test]
    fn a_burst_is_put_back_in_order_and_counted_and_is_not_moved_however_long_it_is() {
        for (taken, since) in [
            (1, 0),
            (1, 1),
            (7, 5),
            (30, 30),
            (58, 100),
            (59, 0),
            (59, 3),
        ] {
            let (mut queue, stays) = put_back_after(taken, since);
            assert!(stays);
            for number in taken..60 + since {
                let left = (number..60 + since).filter(|&number| entry(number).is_message());
                assert_eq!(queue.messages() as usize, left.count());
                assert_eq!(shown(queue.pop()), shown(Some(entry(number))));
            }
            assert!(queue.is_empty() && queue.pop().is_none());
        }
    }
}
