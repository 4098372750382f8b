#[actor(crate = crate::facade, msg = Order, ref = Clerk, supervision = Supervision::stop())]
impl Account {
    #[handler(fallible, err_is_failure)]
    fn close(&mut self) -> Answer {
        Ok(())
    }
}
