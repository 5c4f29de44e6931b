//! The order in which hosts and addresses are tried (`load_balance_hosts`).

/// Leaves `items` as they are, or shuffles them evenly.
pub(super) fn arrange<T>(items: &mut [T], random: bool) {
    if !random || items.len() < 2 {
        return;
    }
    let mut state = seed();
    for last in (1..items.len()).rev() {
        // The bias of the remainder is below 2^-32 for any list that somebody writes by hand.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let other = usize::try_from(state >> 33).unwrap_or(0) % (last + 1);
        items.swap(last, other);
    }
}

/// Random bits of the system; this choice takes no part in what a seed reproduces.
fn seed() -> u64 {
    let mut bytes = [0; 8];
    let random = ring::rand::SystemRandom::new();
    ring::rand::SecureRandom::fill(&random, &mut bytes)
        .expect("the system's random numbers do not fail once the system is up");
    u64::from_ne_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_load_balancing_the_order_is_kept() {
        let mut items = [1, 2, 3];
        arrange(&mut items, false);
        assert_eq!(items, [1, 2, 3]);
    }

    #[test]
    fn with_load_balancing_every_host_comes_first_at_times() {
        let mut firsts = [0; 3];
        for _ in 0..3000 {
            let mut items = [0, 1, 2];
            arrange(&mut items, true);
            firsts[items[0]] += 1;
            items.sort_unstable();
            assert_eq!(items, [0, 1, 2]);
        }
        assert!(firsts.iter().all(|&count| count > 800), "{firsts:?}");
    }
}
