#[actor]
#[cfg(feature = "bank")]
impl Account {
    /// Only on some platforms.
    #[deprecated = "use `balance`"]
    #[cfg(unix)]
    #[handler]
    pub(crate) fn sum(&self) -> u64 {
        0
    }
}
