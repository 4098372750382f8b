//! A hook that decides takes what it needs, in any order.

#![deny(warnings, clippy::pedantic)]

use actors_core::prelude::*;
use actors_core::Actor;

struct Bare;

#[actor]
impl Bare {
    #[on_failure]
    fn decide(&self) -> Directive {
        Directive::Stop
    }
}

struct All {
    failures: u32,
}

#[actor]
impl All {
    #[on_failure]
    fn decide(
        &mut self,
        child: &actors_core::ChildInfo,
        ctx: &mut ActorContext<Self>,
        failure: &Failure,
    ) -> Option<Directive> {
        self.failures += child.restarts();
        if failure.is_panic() {
            ctx.fail("it panicked");
        }
        (self.failures > 3).then_some(Directive::Stop)
    }
}

struct Generic<T>(T);

#[actor]
impl<T: Copy + Into<u64> + Send + 'static> Generic<T> {
    #[on_failure]
    fn decide(&self, failure: &Failure) -> Directive {
        if self.0.into() > 3 && failure.is_panic() {
            Directive::Resume
        } else {
            Directive::Restart
        }
    }
}

struct Conditional;

#[actor]
impl Conditional {
    #[cfg(any())]
    #[on_failure]
    fn decide(&self) -> Directive {
        Directive::Stop
    }
}

struct Plain;

#[actor]
impl Plain {
    #[handler]
    fn nothing(&mut self) {}
}

fn main() {
    const { assert!(Bare::DECIDES && All::DECIDES && Generic::<u32>::DECIDES) };
    const { assert!(!Conditional::DECIDES && !Plain::DECIDES) };
    let _ = (All { failures: 0 }, Conditional, Plain);
    assert_eq!(Bare.decide(), Directive::Stop);
    assert_eq!(Generic(5_u32).decide(&Failure::from("x")), Directive::Restart);
}
