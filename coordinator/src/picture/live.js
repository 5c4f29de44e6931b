"use strict";
const at = (id) => document.getElementById(id);
const short = (value, unit = "") =>
  value === null || value === undefined ? "" : Number(value.toPrecision(value >= 100 ? 6 : 3)).toString() + unit;
const put = (id, text) => { at(id).textContent = text; };
const element = (name, text, kind) => {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
};

function drawAnew(charts) {
  const place = at("charts");
  place.querySelectorAll(".plot").forEach((plot) => Plotly.purge(plot));
  place.replaceChildren();
  for (const { id, title, note, chart } of charts) {
    const figure = document.createElement("figure");
    figure.dataset.chart = id;
    const plot = element("div", "", "plot");
    figure.append(element("h2", title), element("p", note, "soft"), plot);
    place.append(figure);
    Plotly.newPlot(plot, chart.data, chart.layout, chart.config);
  }
}

function grow(next) {
  for (const { id, t, y } of next) {
    const plot = document.querySelector(`figure[data-chart="${id}"] .plot`);
    if (!plot) continue;
    Plotly.extendTraces(plot, { x: y.map(() => [t]), y: y.map((value) => [value]) }, y.map((_, line) => line));
  }
}

function verdict(run, stage) {
  const findings = run ? run.findings : [];
  const invalid = findings.some((finding) => finding.severity === "invalid");
  const kind = invalid ? "invalid" : findings.length ? "warning" : "valid";
  const mark = { invalid: "✗ invalid", warning: "! valid, with warnings", valid: "✓ nothing found" }[kind];
  at("verdict").className = "verdict " + kind;
  put("verdict-word", stage === "done" ? mark : mark + " so far");
  at("findings").replaceChildren(
    ...findings.map((finding) => element("li", `${finding.severity}: ${finding.code}: ${finding.message}`)));
}

function agents(run) {
  const rows = run.agents.map((agent) => {
    const row = document.createElement("tr");
    const cells = [agent.name, agent.clients, agent.transactions, short(agent.cpu_fraction),
      short(agent.loop_lag_ms), short(agent.memory_mb), agent.lost ? "lost: " + agent.lost : ""];
    row.append(...cells.map((cell) => element("td", String(cell))));
    return row;
  });
  at("agents").tBodies[0].replaceChildren(...rows);
  const more = run.agents_in_all - run.agents.length;
  put("more-agents", more > 0 ? `and ${more} more` : "");
}

function show(news) {
  const { run, stage } = news;
  put("stage", stage);
  if (run) {
    put("run", run.id);
    document.title = `${run.id} - pgsurge`;
    put("time", short(run.seconds) + (run.planned_s ? ` of ${short(run.planned_s)}` : "") + " s");
    put("tps", short(run.tps));
    put("last-tps", short(run.last_tps));
    put("p50", short(run.p50_ms, " ms"));
    put("p99", short(run.p99_ms, " ms"));
    put("transactions", run.transactions);
    put("failed", run.failed);
    put("clients", run.clients + run.disconnected + " of " + run.clients_wanted +
      (run.disconnected ? `, ${run.disconnected} without a session` : ""));
    agents(run);
  }
  verdict(run, stage);
  put("notices", news.notices.join("\n"));
  if (news.charts) drawAnew(news.charts);
  if (news.next) grow(news.next);
}

const source = new EventSource("events");
let done = false, several = false;
source.onmessage = (event) => {
  const news = JSON.parse(event.data);
  done = news.stage === "done";
  several = news.several;
  put("connection", "");
  show(news);
};
source.onerror = () => {
  if (done && !several) source.close();
  put("connection", several ? "Another run, or none any more." :
    done ? "The run is over; this page keeps what it showed last." : "The coordinator does not answer.");
};
