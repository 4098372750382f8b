//! The Rust code in the pages of the documentation, compiled and run as doctests.

macro_rules! pages {
    ($($name:ident = $path:literal),* $(,)?) => {
        $(
            #[doc = include_str!($path)]
            mod $name {}
        )*
    };
}

pages! {
    readme = "../../README.md",
    getting_started = "../../docs/getting-started.md",
    supervision = "../../docs/supervision.md",
    testing = "../../docs/testing.md",
    troubleshooting = "../../docs/troubleshooting.md",
}
