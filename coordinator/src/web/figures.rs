//! `/metrics`: what Prometheus reads. Counters are of the measured part, gauges of the last interval; names and
//! meanings are in `docs/operating.md`.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use super::board::{Agent, Board, Run, State};
use super::message::Stage;
use crate::verdict::Severity;

/// Upper bounds of the buckets of response times, in seconds.
const BUCKETS_S: [f64; 16] =
    [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0];
const QUANTILES: [(&str, f64); 4] = [("0.5", 0.5), ("0.95", 0.95), ("0.99", 0.99), ("1", 1.0)];
const STAGES: [(&str, Stage); 5] = [
    ("gathering", Stage::Gathering),
    ("preparing", Stage::Preparing),
    ("warmup", Stage::Warmup),
    ("measuring", Stage::Measuring),
    ("done", Stage::Done),
];

/// The board as Prometheus sees it.
#[derive(Debug)]
pub(super) struct Figures(Registry);

#[derive(Debug)]
struct OfBoard(Arc<Board>);

impl Figures {
    pub(super) fn of(board: &Arc<Board>) -> Self {
        let mut registry = Registry::with_prefix("pgsurge");
        registry.register_collector(Box::new(OfBoard(Arc::clone(board))));
        Self(registry)
    }

    /// In the text form.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.0).expect("a string takes everything");
        text
    }
}

impl Collector for OfBoard {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.0.read(|state| {
            let mut out = Out(&mut encoder);
            out.stage(state)?;
            state.run.as_ref().map_or(Ok(()), |run| out.run(run))
        })
    }
}

/// Where it is written to.
struct Out<'a, 'b>(&'a mut DescriptorEncoder<'b>);

impl Out<'_, '_> {
    fn metric<'s>(
        &'s mut self,
        name: &'s str,
        help: &'s str,
        kind: MetricType,
    ) -> Result<MetricEncoder<'s>, fmt::Error> {
        self.0.encode_descriptor(name, help, None, kind)
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        self.metric(name, help, MetricType::Counter)?
            .encode_counter::<NoLabelSet, _, u64>(&value, None)
    }

    fn gauge(&mut self, name: &str, help: &str, value: f64) -> fmt::Result {
        self.metric(name, help, MetricType::Gauge)?.encode_gauge(&value)
    }

    /// A gauge for each of several labels; none of it where there are none.
    fn gauges<L: EncodeLabelSet>(
        &mut self,
        (name, help): (&str, &str),
        values: impl IntoIterator<Item = (L, f64)>,
    ) -> fmt::Result {
        let mut values = values.into_iter().peekable();
        if values.peek().is_none() {
            return Ok(());
        }
        let mut metric = self.metric(name, help, MetricType::Gauge)?;
        for (labels, value) in values {
            metric.encode_family(&labels)?.encode_gauge(&value)?;
        }
        Ok(())
    }

    fn stage(&mut self, state: &State) -> fmt::Result {
        let here = |(name, stage)| ([("stage", name)], f64::from(u8::from(stage == state.stage)));
        self.gauges(("stage", "Where the run is"), STAGES.into_iter().map(here))?;
        let wanted = f64::from(state.agents_wanted);
        self.gauge("agents_wanted", "Agents asked for, 0 for the one inside the process", wanted)
    }

    fn run(&mut self, run: &Run) -> fmt::Result {
        let counts = &run.counts;
        let id = [[("run_id", run.plan.run_id.as_str())]].map(|labels| (labels, 1.0));
        self.gauges(("run_info", "The run"), id)?;
        self.counter("transactions", "Successful transactions", counts.transactions)?;
        self.counter("failed_transactions", "Failed transactions", counts.failed())?;
        self.counter("skipped_transactions", "Transactions never sent", counts.skipped)?;
        self.counter("late_transactions", "Successful ones above -L", counts.late)?;
        self.counter("retries", "Tries beyond the first", counts.retries)?;
        self.counter("reconnects", "Sessions opened in place of lost ones", counts.reconnects)?;
        self.counter("intervals", "Intervals of the measured part", run.intervals)?;
        self.counter("incomplete_intervals", "Those in which somebody is missing", run.incomplete)?;
        self.errors(run)?;
        self.response(run)?;
        self.last(run)?;
        self.agents(&run.agents)?;
        let finding = |found: &crate::verdict::Finding| {
            let severity = match found.severity {
                Severity::Invalid => "invalid",
                Severity::Warning => "warning",
            };
            ([("code", found.code), ("severity", severity)], 1.0)
        };
        let mut found: Vec<_> = run.findings.iter().map(finding).collect();
        found.dedup();
        self.gauges(("finding", "The verdict so far"), found)
    }

    fn errors(&mut self, run: &Run) -> fmt::Result {
        if run.errors.0.is_empty() {
            return Ok(());
        }
        let mut metric =
            self.metric("errors", "Errors by SQLSTATE or errno", MetricType::Counter)?;
        for (code, count) in &run.errors.0 {
            let labels = [("code", code.as_str())];
            metric.encode_family(&labels)?.encode_counter::<NoLabelSet, _, u64>(count, None)?;
        }
        Ok(())
    }

    fn response(&mut self, run: &Run) -> fmt::Result {
        let moments = run.response.moments();
        let counts = run.response.buckets();
        let (mut below, mut buckets) = (0, Vec::with_capacity(BUCKETS_S.len() + 1));
        for bound in BUCKETS_S {
            let all = counts
                .iter_recorded()
                .take_while(|step| step.value_iterated_to() as f64 <= bound * 1e6);
            let all: u64 = all.map(|step| step.count_at_value()).sum();
            buckets.push((bound, all - below));
            below = all;
        }
        buckets.push((f64::INFINITY, run.response.len() - below));
        let (sum, count) = (moments.sum as f64 / 1e6, run.response.len());
        let help = "Response time of successful transactions";
        self.metric("response_seconds", help, MetricType::Histogram)?
            .encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
    }

    fn last(&mut self, run: &Run) -> fmt::Result {
        let Some(last) = &run.last else { return Ok(()) };
        self.gauge("tps", "Transactions per second", last.tps)?;
        let response = Some(&last.response).filter(|h| !h.is_empty());
        let quantiles = response.into_iter().flat_map(|h| {
            QUANTILES.map(|(name, q)| ([("quantile", name)], h.quantile_us(q) as f64 / 1e6))
        });
        self.gauges(("interval_response_seconds", "Response time"), quantiles)?;
        self.gauge("clients", "Clients at work with a session", last.clients.into())?;
        self.gauge("clients_disconnected", "Clients without", last.disconnected.into())?;
        self.gauge("agents", "Agents with results", last.agents.into())?;
        self.gauge("agents_unreachable", "Agents that are silent", last.unreachable as f64)
    }

    fn agents(&mut self, agents: &[Agent]) -> fmt::Result {
        let each = |figure: fn(&Agent) -> f64| {
            agents.iter().map(move |agent| ([("agent", agent.name.as_str())], figure(agent)))
        };
        self.gauges(("agent_clients", "Its clients at work"), each(|a| a.clients.into()))?;
        let cpu = ("agent_cpu_fraction", "CPU of its busiest worker, 1 is a core");
        self.gauges(cpu, each(|a| a.vitals.cpu_fraction))?;
        let lag = ("agent_loop_lag_seconds", "How late a timer of its workers fired");
        self.gauges(lag, each(|a| a.vitals.loop_lag_us as f64 / 1e6))?;
        let memory = ("agent_memory_bytes", "Resident memory of its process");
        self.gauges(memory, each(|a| a.vitals.rss_bytes as f64))?;
        self.gauges(
            ("agent_lost", "It was given up"),
            each(|a| f64::from(u8::from(a.lost.is_some()))),
        )
    }
}
