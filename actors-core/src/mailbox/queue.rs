//! The queue of a mailbox: room for one entry inline, and for a burst in a box of its own.
//!
//! An actor that gets one message at a time never allocates for it; a burst moves out as one pointer.

use std::collections::VecDeque;

use super::{Entry, Notice};

/// More than one entry, in order.
pub(crate) type Burst<M, N> = Box<VecDeque<Entry<M, N>>>;

/// The first entry, all others, and the number of messages among those.
pub(super) type Whole<M, N> = (Entry<M, N>, Option<Burst<M, N>>, u32);

/// Guarded by the lock of its mailbox. `first` comes before `rest`, and is empty only if `rest` is.
pub(super) struct Queue<M, N> {
    first: Option<Entry<M, N>>,
    rest: Option<Burst<M, N>>,
    /// How many entries are notices, which take no room.
    notices: u32,
    /// How many entries bring a message.
    messages: u32,
}

impl<M, N: Notice> Queue<M, N> {
    pub(super) const fn new() -> Self {
        Self {
            first: None,
            rest: None,
            notices: 0,
            messages: 0,
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.as_ref().map_or(0, |rest| rest.len())
    }

    /// The entries that bring a message.
    #[inline]
    pub(super) const fn messages(&self) -> u32 {
        self.messages
    }

    /// The entries that need room.
    #[inline]
    pub(super) fn counted(&self) -> usize {
        self.len() - self.notices as usize
    }

    #[inline]
    pub(super) fn push(&mut self, entry: Entry<M, N>) {
        self.count(&entry, 1);
        if self.first.is_none() {
            self.first = Some(entry);
        } else {
            self.rest.get_or_insert_default().push_back(entry);
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Entry<M, N>> {
        let entry = self.first.take()?;
        self.first = self.rest.as_mut().and_then(|rest| rest.pop_front());
        self.count(&entry, -1);
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
        let rest = self.rest.as_mut()?;
        let oldest = rest.iter().position(|entry| !entry.is_notice())?;
        match rest.remove(oldest) {
            Some(Entry::Message(message)) => {
                self.messages -= 1;
                Some(message)
            }
            _ => None,
        }
    }

    /// Takes everything, in order.
    pub(super) fn take(&mut self) -> VecDeque<Entry<M, N>> {
        let mut all = self.rest.take().map(|rest| *rest).unwrap_or_default();
        if let Some(first) = self.first.take() {
            all.push_front(first);
        }
        (self.notices, self.messages) = (0, 0);
        all
    }

    /// Takes the first entry, and all others as a burst with the number of messages in it.
    #[inline]
    pub(super) fn take_burst(&mut self) -> Option<Whole<M, N>> {
        let first = self.first.take()?;
        self.count(&first, -1);
        let messages = self.messages();
        (self.notices, self.messages) = (0, 0);
        Some((first, self.rest.take(), messages))
    }

    /// Puts a burst back before everything that has come since.
    pub(super) fn put_back(&mut self, mut burst: Burst<M, N>) {
        let since = self.take();
        burst.extend(since);
        self.refill(burst);
    }

    /// Takes out each message for which `pick` says so; the order of the rest stays.
    pub(super) fn extract(&mut self, mut pick: impl FnMut(&M) -> bool) -> Vec<M> {
        let all = self.take();
        let mut picked = Vec::new();
        let mut rest = Burst::default();
        for entry in all {
            match entry {
                Entry::Message(message) if pick(&message) => picked.push(message),
                other => rest.push_back(other),
            }
        }
        self.refill(rest);
        picked
    }

    fn refill(&mut self, mut entries: Burst<M, N>) {
        for entry in &*entries {
            self.notices += u32::from(entry.is_notice());
            self.messages += u32::from(entry.is_message());
        }
        self.first = entries.pop_front();
        self.rest = Some(entries).filter(|entries| !entries.is_empty());
    }

    /// Gives the memory of a burst back; only for an empty queue.
    #[inline]
    pub(super) fn shrink(&mut self) -> Option<Burst<M, N>> {
        self.rest.take()
    }

    #[inline]
    fn count(&mut self, entry: &Entry<M, N>, change: i32) {
        self.notices = self
            .notices
            .wrapping_add_signed(change * i32::from(entry.is_notice()));
        self.messages = self
            .messages
            .wrapping_add_signed(change * i32::from(entry.is_message()));
    }
}
