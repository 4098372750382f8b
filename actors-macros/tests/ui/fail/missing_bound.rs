use actors_core::prelude::*;

struct Holder<T> {
    value: T,
}

#[actor]
impl<T> Holder<T> {
    #[handler]
    fn replace(&mut self, value: T) -> T {
        std::mem::replace(&mut self.value, value)
    }

    #[handler]
    async fn put(&mut self, value: T) {
        self.value = value;
    }
}

struct Pair<K, V> {
    pair: (K, V),
}

#[actor]
impl<K: Send + 'static, V: Send> Pair<K, V> {
    #[handler]
    fn put(&mut self, key: K, value: V) {
        self.pair = (key, value);
    }
}

fn main() {
    let _ = |holder: &HolderRef<u64>| holder.replace(5).tell();
}
