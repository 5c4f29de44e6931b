//! Numbers in sentences.

/// A noun in the number that goes with a count: `1 client`, `0 clients`. Only for nouns that take an `s`.
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {}", plural(count, noun))
}

/// The noun alone.
#[must_use]
pub fn plural(count: u64, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{noun}{s}")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn only_one_is_singular() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "agent")), ["0 agents", "1 agent", "2 agents"]);
    }
}
