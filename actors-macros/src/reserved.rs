//! The names that a handler cannot have.

/// The methods that a reference has of itself, or through a trait every reference implements. A
/// handler of that name would hide the method. Sorted; a test of the runtime (`public_api_names`)
/// holds it to the methods that there are.
pub(crate) const RESERVED: &[&str] = &[
    "actor",
    "actor_id",
    "actor_path",
    "actor_state",
    "ask",
    "borrow",
    "borrow_mut",
    "clone",
    "clone_from",
    "clone_into",
    "deref",
    "downgrade",
    "drain",
    "drain_within",
    "drop",
    "enqueue",
    "eq",
    "fmt",
    "from",
    "hash",
    "into",
    "is_stopped",
    "kill",
    "kill_within",
    "mailbox_depth",
    "ne",
    "recipient",
    "recipient_with",
    "stop",
    "stop_within",
    "stopped",
    "tell",
    "to_owned",
    "try_from",
    "try_into",
    "try_tell",
    "type_id",
];

/// Whether a handler cannot be called `name`.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::RESERVED;

    #[test]
    fn the_list_is_sorted_and_has_no_name_twice() {
        assert!(RESERVED.is_sorted_by(|a, b| a < b));
    }
}
