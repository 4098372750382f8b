//! What the macros of this crate expand to. No promise holds for it between versions.

pub use crate::failure::Mismatch;
