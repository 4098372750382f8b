//! Runs the example program `web` and talks to it over a socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};

struct Server {
    program: Child,
    printout: BufReader<ChildStdout>,
    address: String,
}

impl Server {
    fn start() -> Self {
        let mut program = Command::new(env!("CARGO_BIN_EXE_web"))
            .arg("127.0.0.1:0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let mut printout = BufReader::new(program.stdout.take().expect("it has an output"));
        let mut line = String::new();
        printout
            .read_line(&mut line)
            .expect("it says where it listens");
        let address = line
            .trim()
            .strip_prefix("listening on http://")
            .expect("an address");
        Self {
            program,
            printout,
            address: address.to_owned(),
        }
    }

    /// Sends a request, and leaves the answer for later.
    fn send(&self, method: &str, path: &str, body: &str) -> Request {
        let mut stream = TcpStream::connect(&self.address).expect("it accepts connections");
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: bank\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream
            .write_all(head.as_bytes())
            .expect("it reads requests");
        Request(stream)
    }

    fn call(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        self.send(method, path, body).answer()
    }
}

/// A test that fails leaves no server behind.
impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

struct Request(TcpStream);

impl Request {
    /// Waits for the answer: its status and its body.
    fn answer(mut self) -> (u16, String) {
        let mut text = String::new();
        self.0.read_to_string(&mut text).expect("it answers");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).expect("a status");
        (status.parse().expect("a number"), body.to_owned())
    }
}

#[test]
fn a_reply_is_json_and_a_domain_error_is_a_conflict() {
    let server = Server::start();
    assert_eq!(server.call("GET", "/accounts/alice", "").0, 404);
    assert_eq!(server.call("PUT", "/accounts/alice", "").0, 201);
    assert_eq!(server.call("PUT", "/accounts/alice", "").0, 409);

    let deposited = server.call("POST", "/accounts/alice/deposit", r#"{"amount":50}"#);
    assert_eq!(
        deposited,
        (200, r#"{"name":"alice","balance":50}"#.to_owned())
    );
    let (status, body) = server.call("POST", "/accounts/alice/withdraw", r#"{"amount":80}"#);
    assert_eq!(status, 409);
    assert!(body.contains("the balance is only 50"), "{body}");
    let withdrawn = server.call("POST", "/accounts/alice/withdraw", r#"{"amount":20}"#);
    assert_eq!(
        withdrawn,
        (200, r#"{"name":"alice","balance":30}"#.to_owned())
    );
    let balance = server.call("GET", "/accounts/alice", "");
    assert_eq!(
        balance,
        (200, r#"{"name":"alice","balance":30}"#.to_owned())
    );
}

#[test]
fn a_timeout_is_504_and_a_full_mailbox_is_503() {
    let server = Server::start();
    let long = r#"{"pages":100000,"patience_ms":200}"#;

    // The first is begun, and goes on without its client.
    let (status, body) = server.call("POST", "/reports", long);
    assert_eq!(status, 504);
    assert!(body.contains(r#""nothing_was_done":false"#), "{body}");
    // The second waits in the mailbox, which has room for one.
    let (status, body) = server.call("POST", "/reports", long);
    assert_eq!(status, 504);
    assert!(body.contains(r#""nothing_was_done":true"#), "{body}");
    // The client of the second is gone, but its request holds the room until the actor comes to it.
    let (status, body) = server.call("POST", "/reports", long);
    assert_eq!(status, 503);
    assert!(body.contains("the mailbox is full"), "{body}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_answers_what_is_under_way_and_drains_what_is_queued() {
    let mut server = Server::start();
    assert_eq!(server.call("PUT", "/accounts/alice", "").0, 201);
    for _ in 0..50 {
        assert_eq!(
            server
                .call("POST", "/accounts/alice/deposit", r#"{"amount":1}"#)
                .0,
            200
        );
    }
    let report = server.send("POST", "/reports", r#"{"pages":50,"patience_ms":60000}"#);
    let is_busy = |_| {
        server
            .call("GET", "/actors", "")
            .1
            .contains("reports (Reports) busy")
    };
    assert!((0..100_000).any(is_busy), "the report is begun");

    let pid = server.program.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .expect("`kill` runs")
            .success()
    );
    assert_eq!(report.answer(), (200, r#"{"number":1}"#.to_owned()));
    let mut rest = String::new();
    server.printout.read_to_string(&mut rest).expect("it ends");
    let lines: Vec<&str> = rest.lines().take(3).collect();
    let expected = [
        "interrupted: no new requests",
        "accounts closed: 1",
        "journal: 50 lines written",
    ];
    assert_eq!(lines, expected, "{rest}");
    assert!(server.program.wait().expect("it ends").success());
    assert!(!rest.contains("not well"), "{rest}");
}
