#[actor(nmae = Order)]
impl Account {
    #[handler]
    fn balance(&self) -> u64 {
        0
    }

    #[handler]
    fn rename(&mut self, name: &str) {}

    #[handler]
    fn balance(&self) -> u32 {
        1
    }
}
