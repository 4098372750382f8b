//! The room of a bounded mailbox, and the line of those who wait for it.

use std::collections::{HashSet, VecDeque};
use std::num::NonZeroUsize;
use std::task::Waker;

use super::{Overflow, Wait};

/// Guarded by the lock of its mailbox. Each method takes how many queued messages need room.
pub(super) struct Room {
    capacity: usize,
    overflow: Overflow,
    next_ticket: u64,
    /// In order of arrival, and so of rising tickets.
    waiting: VecDeque<(u64, Waker)>,
    /// Tickets that have room reserved.
    granted: HashSet<u64>,
}

impl Room {
    pub(super) fn new(capacity: NonZeroUsize, overflow: Overflow) -> Self {
        Self {
            capacity: capacity.get(),
            overflow,
            next_ticket: 0,
            waiting: VecDeque::new(),
            granted: HashSet::new(),
        }
    }

    pub(super) fn overflow(&self) -> Overflow {
        self.overflow
    }

    /// Says whether somebody who does not wait finds no room: because there is none, or because others wait for it.
    pub(super) fn is_full(&self, queued: usize) -> bool {
        !self.waiting.is_empty() || queued + self.granted.len() >= self.capacity
    }

    /// Polls for room; returns the waker that this replaces or does not need, to be dropped outside the lock.
    pub(super) fn poll(
        &mut self,
        ticket: &mut Option<u64>,
        queued: usize,
        waker: Waker,
    ) -> (Wait, Option<Waker>) {
        let Some(ticket) = *ticket else {
            let new = self.next_ticket;
            self.next_ticket += 1;
            *ticket = Some(new);
            if self.is_full(queued) {
                self.waiting.push_back((new, waker));
                return (Wait::Pending, None);
            }
            self.granted.insert(new);
            return (Wait::Granted, Some(waker));
        };
        if self.granted.contains(&ticket) {
            return (Wait::Granted, Some(waker));
        }
        let old = match self.place_of(ticket) {
            Some(place) => std::mem::replace(&mut self.waiting[place].1, waker),
            None => waker,
        };
        (Wait::Pending, Some(old))
    }

    fn place_of(&self, ticket: u64) -> Option<usize> {
        self.waiting
            .binary_search_by_key(&ticket, |(ticket, _)| *ticket)
            .ok()
    }

    /// Forgets a ticket; returns its waker, to be dropped outside the lock.
    pub(super) fn leave(&mut self, ticket: u64) -> Option<Waker> {
        self.granted.remove(&ticket);
        let place = self.place_of(ticket)?;
        self.waiting.remove(place).map(|(_, waker)| waker)
    }

    /// Reserves free room for the first who waits, and returns its waker.
    pub(super) fn grant(&mut self, queued: usize) -> Option<Waker> {
        if queued + self.granted.len() >= self.capacity {
            return None;
        }
        let (ticket, waker) = self.waiting.pop_front()?;
        self.granted.insert(ticket);
        Some(waker)
    }

    /// The holder of a grant pushes now.
    pub(super) fn use_grant(&mut self, ticket: u64) {
        self.granted.remove(&ticket);
    }

    /// Lets all who wait go: the mailbox has closed.
    pub(super) fn release_all(&mut self) -> Vec<Waker> {
        self.waiting.drain(..).map(|(_, waker)| waker).collect()
    }
}
