//! Many actors may know each other: whether one is `Send` is no question about the next.

#![deny(warnings)]

use actors_core::prelude::*;

macro_rules! ring {
    ($($name:ident $name_ref:ident $next_ref:ident,)*) => {$(
        struct $name(Vec<$next_ref>);

        #[actor]
        impl $name {
            #[handler]
            fn join(&mut self, next: $next_ref) {
                self.0.push(next);
            }

            #[handler]
            async fn next(&mut self, back: Option<$name_ref>) -> Vec<$next_ref> {
                drop(back);
                self.0.clone()
            }
        }

        const _: fn(&$name_ref, $next_ref) = |one, next| one.join(next).tell();
        const _: fn(Vec<$next_ref>) -> $name = $name;
    )*};
}

ring! {
    A ARef BRef,
    B BRef CRef,
    C CRef DRef,
    D DRef ERef,
    E ERef FRef,
    F FRef GRef,
    G GRef HRef,
    H HRef IRef,
    I IRef JRef,
    J JRef KRef,
    K KRef LRef,
    L LRef MRef,
    M MRef NRef,
    N NRef ORef,
    O ORef PRef,
    P PRef QRef,
    Q QRef RRef,
    R RRef SRef,
    S SRef TRef,
    T TRef URef,
    U URef VRef,
    V VRef WRef,
    W WRef XRef,
    X XRef YRef,
    Y YRef ZRef,
    Z ZRef ARef,
}

fn main() {}
