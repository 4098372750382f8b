use actors_core::prelude::*;

struct Account;

#[actor]
impl Account {
    #[on_failure]
    fn first(&mut self, failure: Failure) -> Directive {
        drop(failure);
        Directive::Stop
    }
}

struct Bank;

#[actor]
impl Bank {
    #[on_failure]
    async fn decide(&mut self, _failure: &Failure) -> Directive {
        Directive::Stop
    }
}

struct Branch;

#[actor]
impl Branch {
    #[on_failure]
    fn decide(&mut self, _failure: &Failure, _child: &ChildInfo) {}
}

struct Vault;

#[actor]
impl Vault {
    #[on_failure]
    fn decide(&mut self, _failure: &Failure, _again: &Failure) -> Directive {
        Directive::Stop
    }
}

struct Safe;

#[actor]
impl Safe {
    #[on_failure]
    fn decide(&mut self, _failure: &Failure, _amount: u64) -> Option<Directive> {
        None
    }
}

struct Till;

#[actor]
impl Till {
    #[on_failure]
    fn first(&mut self) -> Directive {
        Directive::Stop
    }

    #[on_failure]
    fn second(&mut self) -> Directive {
        Directive::Stop
    }

    #[on_failure]
    fn nothing(&mut self) -> () {}
}

fn main() {
    let _: Option<(AccountRef, BankRef, BranchRef, VaultRef, SafeRef, TillRef)> = None;
}
