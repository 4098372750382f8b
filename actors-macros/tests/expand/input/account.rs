#[actor]
impl Account {
    /// Adds `amount` and answers the new balance.
    #[handler]
    pub fn deposit(&mut self, amount: u64) -> u64 {
        self.balance += amount;
        self.balance
    }

    #[handler]
    async fn withdraw(&mut self, amount: u64) -> Result<u64, Overdrawn> {
        self.balance -= amount;
        Ok(self.balance)
    }

    #[handler]
    fn audit(&self, ctx: &mut ActorContext<Self>, reply: ReplyTo<Report>) {
        reply.send(self.report(ctx));
    }

    fn report(&self, ctx: &mut ActorContext<Self>) -> Report {
        Report::of(self, ctx)
    }
}
