//! A message is `Debug` whatever it holds: what is not prints `..`.

use actors_core::{Message, prelude::*};

struct Opaque;

struct Printer;

#[actor]
impl Printer {
    #[handler]
    fn print(&mut self, title: String, body: Opaque, r#type: u8) {
        drop((title, body, r#type));
    }

    #[handler]
    fn flush(&mut self) {}
}

struct Holder<T>(T);

#[actor]
impl<T: Send + 'static> Holder<T> {
    #[handler]
    fn hold(&mut self, value: T, count: u64) {
        let _ = count;
        self.0 = value;
    }
}

fn main() {
    let print = PrinterMsg::Print {
        title: "a".to_owned(),
        body: Opaque,
        r#type: 1,
        reply: ReplyTo::nobody(),
    };
    assert_eq!(
        format!("{print:?}"),
        r#"Print { title: "a", body: .., type: 1 }"#
    );
    assert_eq!(print.variant(), "Print");
    assert!(print.way_back().is_none());
    let flush = PrinterMsg::Flush {
        reply: ReplyTo::nobody(),
    };
    assert_eq!(format!("{flush:?}"), "Flush");
    let hold = HolderMsg::Hold {
        value: 5,
        count: 2,
        reply: ReplyTo::nobody(),
    };
    assert_eq!(format!("{hold:?}"), "Hold { value: .., count: 2 }");
    let _ = PrinterRef::print;
    let _ = HolderRef::<u8>::hold;
}
