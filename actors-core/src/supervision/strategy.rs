//! Which children a failure concerns.

use crate::path::ActorId;

/// Which children of a parent are restarted when one of them has to be. The three are OTP's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// The failed one alone.
    OneForOne,
    /// All of them.
    OneForAll,
    /// The failed one, and those after it in start order.
    RestForOne,
}

impl Strategy {
    /// Says whether children are restarted together.
    pub(crate) fn is_group(self) -> bool {
        self != Self::OneForOne
    }

    /// Says whether the failure of one child concerns another; identities rise in start order.
    pub(crate) fn concerns(self, failed: ActorId, other: ActorId) -> bool {
        match self {
            Self::OneForOne => other == failed,
            Self::OneForAll => true,
            Self::RestForOne => other >= failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strategy_says_whom_a_failure_concerns() {
        let table = [
            (Strategy::OneForOne, [false, true, false]),
            (Strategy::OneForAll, [true, true, true]),
            (Strategy::RestForOne, [false, true, true]),
        ];
        for (strategy, expected) in table {
            let concerned =
                [1, 2, 3].map(|id| strategy.concerns(ActorId::new(2), ActorId::new(id)));
            assert_eq!(concerned, expected, "{strategy:?}");
        }
    }
}
