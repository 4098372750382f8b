//! Names of the user's do not meet those of generated code, whatever they are.

#![deny(warnings)]
#![allow(dead_code, non_upper_case_globals, reason = "the names are the point")]

use actors_core::{ActorContext, ReplyTo, actor};

type Result<T> = ::std::result::Result<T, Error>;

#[derive(Debug)]
struct Error;
#[derive(Clone, Debug, Default)]
struct Option(u8);
struct Box;
struct String;
struct Vec<T>(T);
struct Call;
struct Flow;
struct Message;
struct Value;
struct Fallible;
struct A;
trait Send {}
trait Sync {}
trait Sized {}
trait Debug {}
trait Clone {}
trait Future {}
trait Fn {}
trait FnOnce {}
trait Actor {}
trait Into {}
trait From {}
mod core {}
mod std {}
fn drop() {}
fn later() {}
fn finish() {}
const Ok: u8 = 0;
const Err: u8 = 1;
const Some: u8 = 2;
const None: u8 = 3;

mod inner {
    pub(super) struct Account;

    pub(super) mod deep {
        pub(crate) struct Holder<T>(pub(crate) T);
    }
}

#[actor]
impl inner::Account {
    #[handler]
    fn names(
        &mut self,
        option: Option,
        boxed: Box,
        string: String,
        vec: Vec<Option>,
        unit: (),
    ) -> Vec<String> {
        let _ = (option, boxed, vec, unit);
        Vec(string)
    }

    #[handler]
    async fn fallible(&mut self, call: Call, flow: Flow, message: Message) -> Result<Option> {
        let _ = (call, flow, message);
        Result::Ok(Option(1))
    }

    #[handler(err_is_failure)]
    fn failing(&mut self, value: Value, fallible: Fallible, a: A) -> Result<Option> {
        let _ = (value, fallible, a);
        Result::Err(Error)
    }

    #[handler]
    fn words(&mut self, self_: u8, message: u8, flow: u8, call: u8, actor: u8, never: u8) -> u8 {
        self_ + message + flow + call + actor + never
    }

    #[handler]
    async fn words_async(&mut self, ctx: u8, msg: u8, news: u8, me: u8, field0: u8) -> u8 {
        ctx + msg + news + me + field0
    }

    #[handler]
    fn swapped(&mut self, context: &mut ActorContext<Self>, back: ReplyTo<u8>, ctx: u8, msg: u8) {
        let _ = context;
        back.send(ctx + msg);
    }

    #[handler]
    fn raw(&mut self, r#type: u8, r#self_: u8, r#async: u8) -> u8 {
        r#type + r#self_ + r#async
    }

    #[handler]
    fn r#type(&mut self) {}

    #[handler]
    async fn r#await(&mut self, r#match: Box) {
        let _ = r#match;
    }

    #[handler]
    fn __private(&mut self) {}

    #[handler]
    fn variant(&mut self) {}

    #[handler]
    fn way_back(&mut self) {}

    #[handler]
    fn receive(&mut self) {}
}

#[actor]
impl<T: ::std::marker::Send + 'static> inner::deep::Holder<T> {
    #[handler]
    fn replace(&mut self, value: T) -> T {
        ::std::mem::replace(&mut self.0, value)
    }
}

fn main() {
    let _ = |account: &AccountRef| {
        account.r#type().tell();
        account.r#await(Box).tell();
        account.raw(1, 2, 3).tell();
        account.fallible(Call, Flow, Message).tell();
    };
    let _ = |holder: &HolderRef<u8>| holder.replace(1).tell();
}
