//! Promises F: what a failure is, and what each directive does.

mod common;

use actors_core::prelude::*;
use common::puppet::Script;
use common::{Log, paused};

#[test]
fn a_panic_restarts_by_default() {
    paused(async {
        let log = Log::default();
        let system = ActorSystem::new("test").unwrap();
        let puppet = Script::new("a", &log).spawn(&system);
        assert_eq!(puppet.note("one").await, Ok(1));
        puppet.crash("boom").tell();
        assert_eq!(puppet.note("two").await, Ok(1));
        assert_eq!(
            log.take(),
            [
                "a made",
                "a started",
                "a one",
                "a on_restart: boom",
                "a dropped",
                "a made",
                "a started",
                "a two"
            ]
        );
    });
}
