//! Children that are restarted together.

use actors_core::prelude::*;
use actors_testkit::TestKit;

/// What the children of a family do, as they tell it.
type Log = Recipient<String>;

struct Child {
    name: &'static str,
    log: Log,
}

#[actor]
impl Child {
    #[on_start]
    fn start(&mut self) {
        self.log.tell(format!("{} starts", self.name));
    }

    #[on_restart]
    fn restart(&mut self, _cause: &Failure) {
        self.log.tell(format!("{} goes", self.name));
    }

    #[handler]
    fn fail(&mut self) {
        panic!("{}", self.name);
    }

    #[handler]
    fn note(&mut self, number: u32) {
        self.log.tell(format!("{} notes {number}", self.name));
    }
}

struct Parent {
    log: Log,
}

#[actor(supervision = Supervision::one_for_all())]
impl Parent {
    #[handler]
    fn spawn(&mut self, ctx: &mut ActorContext<Self>, name: &'static str) -> ChildRef {
        let log = self.log.clone();
        ctx.spawn(name, move || Child {
            name,
            log: log.clone(),
        })
        .expect("the name is free")
    }
}

#[actors_testkit::test]
async fn all_children_go_in_reverse_start_order_and_start_in_start_order(kit: TestKit) {
    let mut log = kit.probe::<String>();
    let to = log.recipient();
    let parent = kit
        .system()
        .spawn("parent", move || Parent { log: to.clone() })
        .unwrap();
    let mut children = Vec::new();
    for name in ["a", "b", "c", "d", "e"] {
        children.push(parent.spawn(name).await.unwrap());
        log.expect(format!("{name} starts")).await;
    }
    kit.allow_failures();
    children[2].fail().tell();
    children[2].note(1).tell();
    for line in ["e goes", "d goes", "c goes", "b goes", "a goes"] {
        log.expect(line.to_owned()).await;
    }
    for line in ["a starts", "b starts", "c starts", "c notes 1"] {
        log.expect(line.to_owned()).await;
    }
}
