//! Runnable programs with actors.
