//! Private, `pub(crate)` and public actors, with private and public handlers, warn of nothing.

#![deny(warnings, private_interfaces, private_bounds, unnameable_types)]

use actors_core::prelude::*;

struct Hidden;

struct HiddenArgument;

#[actor]
impl Hidden {
    #[handler]
    fn private(&mut self, argument: HiddenArgument) -> HiddenArgument {
        argument
    }

    #[handler]
    pub(crate) fn shared(&mut self) {}

    #[handler]
    pub fn public(&mut self) {}
}

mod inner {
    use actors_core::prelude::*;

    pub(crate) struct Shared;

    #[actor]
    impl Shared {
        #[handler]
        fn private(&mut self) {}

        #[handler]
        pub(crate) fn shared(&mut self) {}

        #[handler]
        pub(in crate::inner) fn inner(&mut self) {}
    }

    pub struct Public;

    #[actor]
    impl Public {
        #[handler]
        fn private(&mut self) {}

        #[handler]
        pub fn public(&mut self) {}
    }
}

fn main() {
    let _ = |hidden: &HiddenRef, shared: &inner::SharedRef, public: &inner::PublicRef| {
        hidden.private(HiddenArgument).tell();
        shared.shared().tell();
        public.public().tell();
    };
    let _ = (Hidden, inner::Shared, inner::Public);
}
