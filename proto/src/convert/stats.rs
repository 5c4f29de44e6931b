//! Histograms, counters, intervals and totals.

use pgsurge_common::stats::{
    Counts, ErrorCounts, Histogram, Interval, Moments, Phase, ScriptStats, Vitals,
};

use crate::error::{WireError, each, optional, required};
use crate::wire;

/// Bounds the name of a kind of error.
const KIND_BYTES: usize = 64;

fn split(wide: u128) -> (u64, u64) {
    let low = u64::try_from(wide & u128::from(u64::MAX)).expect("masked to 64 bits");
    let high = u64::try_from(wide >> 64).expect("shifted to 64 bits");
    (high, low)
}

fn join(high: u64, low: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

impl From<Moments> for wire::Moments {
    fn from(moments: Moments) -> Self {
        let Moments { count, sum, sum_of_squares, min, max } = moments;
        let (sum_high, sum_low) = split(sum);
        let (squares_high, squares_low) = split(sum_of_squares);
        Self { count, sum_high, sum_low, squares_high, squares_low, min, max }
    }
}

impl TryFrom<wire::Moments> for Moments {
    type Error = WireError;

    fn try_from(wire: wire::Moments) -> Result<Self, WireError> {
        if wire.min > wire.max {
            return Err(WireError::invalid("Moments.min", &"above the maximum"));
        }
        Ok(Self {
            count: wire.count,
            sum: join(wire.sum_high, wire.sum_low),
            sum_of_squares: join(wire.squares_high, wire.squares_low),
            min: wire.min,
            max: wire.max,
        })
    }
}

impl From<&Histogram> for wire::Histogram {
    fn from(histogram: &Histogram) -> Self {
        let moments = *histogram.moments();
        Self {
            buckets: (moments.count > 0).then(|| histogram.encode()),
            moments: Some(moments.into()),
            clipped: histogram.clipped(),
        }
    }
}

impl TryFrom<wire::Histogram> for Histogram {
    type Error = WireError;

    fn try_from(wire: wire::Histogram) -> Result<Self, WireError> {
        let moments: Moments = required(wire.moments, "Histogram.moments")?;
        match wire.buckets {
            Some(bytes) => Self::decode(&bytes, moments, wire.clipped)
                .map_err(|e| WireError::invalid("Histogram.buckets", &e)),
            None if moments == Moments::default() && wire.clipped == 0 => Ok(Self::new()),
            None => Err(WireError::Missing("Histogram.buckets")),
        }
    }
}

impl From<Counts> for wire::Counts {
    fn from(counts: Counts) -> Self {
        let Counts {
            transactions,
            serialization_failures,
            deadlock_failures,
            other_failures,
            connection_failures,
            skipped,
            retried,
            retries,
            late,
            commits,
            connects,
            connect_us,
            reconnects,
            unreachable_us,
        } = counts;
        Self {
            transactions,
            serialization_failures,
            deadlock_failures,
            other_failures,
            connection_failures,
            skipped,
            retried,
            retries,
            late,
            commits,
            connects,
            connect_us,
            reconnects,
            unreachable_us,
        }
    }
}

impl From<wire::Counts> for Counts {
    fn from(wire: wire::Counts) -> Self {
        Self {
            transactions: wire.transactions,
            serialization_failures: wire.serialization_failures,
            deadlock_failures: wire.deadlock_failures,
            other_failures: wire.other_failures,
            connection_failures: wire.connection_failures,
            skipped: wire.skipped,
            retried: wire.retried,
            retries: wire.retries,
            late: wire.late,
            commits: wire.commits,
            connects: wire.connects,
            connect_us: wire.connect_us,
            reconnects: wire.reconnects,
            unreachable_us: wire.unreachable_us,
        }
    }
}

impl From<&ErrorCounts> for wire::ErrorCounts {
    fn from(errors: &ErrorCounts) -> Self {
        Self { kinds: errors.0.clone() }
    }
}

impl TryFrom<wire::ErrorCounts> for ErrorCounts {
    type Error = WireError;

    fn try_from(wire: wire::ErrorCounts) -> Result<Self, WireError> {
        // One more than kept apart: `others`.
        if wire.kinds.len() > Self::MOST + 1 {
            return Err(WireError::invalid(
                "ErrorCounts.kinds",
                &format!("{} kinds", wire.kinds.len()),
            ));
        }
        // SQLSTATEs and names of errno; they are kept, merged and printed.
        if wire.kinds.keys().any(|kind| kind.len() > KIND_BYTES) {
            return Err(WireError::invalid("ErrorCounts.kinds", &"a kind that is too long"));
        }
        Ok(Self(wire.kinds))
    }
}

impl From<Phase> for wire::Phase {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Warmup => Self::Warmup,
            Phase::Measure => Self::Measure,
        }
    }
}

impl TryFrom<wire::Phase> for Phase {
    type Error = WireError;

    fn try_from(wire: wire::Phase) -> Result<Self, WireError> {
        match wire {
            wire::Phase::Unspecified => Err(WireError::Missing("Interval.phase")),
            wire::Phase::Warmup => Ok(Self::Warmup),
            wire::Phase::Measure => Ok(Self::Measure),
        }
    }
}

impl From<Vitals> for wire::Vitals {
    fn from(vitals: Vitals) -> Self {
        let Vitals { cpu_fraction, loop_lag_us, rss_bytes } = vitals;
        Self { cpu_fraction, loop_lag_us, rss_bytes }
    }
}

impl TryFrom<wire::Vitals> for Vitals {
    type Error = WireError;

    fn try_from(wire: wire::Vitals) -> Result<Self, WireError> {
        Ok(Self {
            cpu_fraction: fraction(wire.cpu_fraction, "Vitals.cpu_fraction")?,
            loop_lag_us: wire.loop_lag_us,
            rss_bytes: wire.rss_bytes,
        })
    }
}

/// A figure that is finite and not negative; coarse clocks may show a little more than 1.
pub(super) fn fraction(value: f64, field: &'static str) -> Result<f64, WireError> {
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err(WireError::invalid(field, &value))
    }
}

impl From<&ScriptStats> for wire::ScriptStats {
    fn from(script: &ScriptStats) -> Self {
        let ScriptStats { counts, response } = script;
        Self { counts: Some((*counts).into()), response: Some(response.into()) }
    }
}

impl TryFrom<wire::ScriptStats> for ScriptStats {
    type Error = WireError;

    fn try_from(wire: wire::ScriptStats) -> Result<Self, WireError> {
        Ok(Self {
            counts: required(wire.counts, "ScriptStats.counts")?,
            response: required(wire.response, "ScriptStats.response")?,
        })
    }
}

impl From<&Interval> for wire::Interval {
    fn from(interval: &Interval) -> Self {
        let Interval {
            phase,
            index,
            counts,
            response,
            service,
            lag,
            scripts,
            errors,
            clients,
            disconnected,
            vitals,
        } = interval;
        Self {
            phase: wire::Phase::from(*phase).into(),
            index: *index,
            counts: Some((*counts).into()),
            response: Some(response.into()),
            service: service.as_ref().map(Into::into),
            lag: lag.as_ref().map(Into::into),
            scripts: scripts.iter().map(Into::into).collect(),
            errors: Some(errors.into()),
            clients: *clients,
            disconnected: *disconnected,
            vitals: Some((*vitals).into()),
        }
    }
}

impl TryFrom<wire::Interval> for Interval {
    type Error = WireError;

    fn try_from(wire: wire::Interval) -> Result<Self, WireError> {
        Ok(Self {
            phase: wire.phase().try_into()?,
            index: wire.index,
            counts: required(wire.counts, "Interval.counts")?,
            response: required(wire.response, "Interval.response")?,
            service: optional(wire.service)?,
            lag: optional(wire.lag)?,
            scripts: each(wire.scripts)?,
            errors: required(wire.errors, "Interval.errors")?,
            clients: wire.clients,
            disconnected: wire.disconnected,
            vitals: required(wire.vitals, "Interval.vitals")?,
        })
    }
}
