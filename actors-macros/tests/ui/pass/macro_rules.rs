//! Actors that a `macro_rules` writes: fragments come in invisible groups.

#![deny(warnings)]

use actors_core::{Call, Fallible, prelude::*};

macro_rules! holder {
    ($vis:vis $name:ident, $ty:ty, $body:block, $(#[$attr:meta])* $answer:ty) => {
        $vis struct $name($ty);

        #[actor]
        impl $name {
            $(#[$attr])*
            $vis fn replace(&mut self, _value: $ty) -> $answer $body

            #[handler]
            fn put(&mut self, value: $ty) {
                self.0 = value;
            }
        }
    };
}

holder!(pub(crate) Number, u64, { Err(String::new()) }, #[handler] Result<u64, String>);

macro_rules! pass {
    ($item:item) => {
        $item
    };
}

struct Plain<T>(T);

macro_rules! actor_of {
    ($ty:ty, $handler:meta) => {
        #[actor]
        impl $ty {
            #[$handler]
            fn get(&self, of: Option<&'static Self>) -> u8 {
                of.map_or(self.0, |of| of.0)
            }
        }
    };
}

actor_of!(Plain<u8>, handler);

struct Whole;

pass! {
    #[actor]
    impl Whole {
        #[handler]
        fn tick(&mut self) {}
    }
}

fn main() {
    let _ = |number: &NumberRef, plain: &PlainRef, whole: &WholeRef| {
        let _: Call<'_, Number, Fallible<Result<u64, String>>, (u64,)> = number.replace(1);
        number.put(1).tell();
        plain.get(None).tell();
        whole.tick().tell();
    };
    let _ = (Number(1).0, Plain(1), Whole);
}
