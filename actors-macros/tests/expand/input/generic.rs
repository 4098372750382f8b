#[actor]
impl<K: Hash + Eq + Send + 'static, V, const N: usize> Cache<K, V, N>
where
    V: Clone + Send + 'static,
{
    #[handler]
    async fn put(&mut self, key: K, value: V) -> Option<Self> {
        self.entries.insert(key, value);
        None
    }
}
