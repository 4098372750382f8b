#[actor]
impl Account {
    #[on_start]
    async fn start(&mut self, ctx: &mut ActorContext<Self>) -> Result<(), DbError> {
        self.open(ctx).await
    }

    #[on_stop]
    fn ended(&mut self, reason: &StopReason) {}

    #[on_restart]
    fn replaced(&mut self, cause: &Failure, ctx: &mut ActorContext<Self>) {}

    #[on_terminated]
    async fn gone(&self, who: Terminated) {}

    #[on_failure]
    fn decide(&mut self, child: &ChildInfo, failure: &Failure) -> Option<Directive> {
        self.seen.check(child, failure)
    }
}
