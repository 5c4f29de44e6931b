for (const figure of document.querySelectorAll("figure[data-chart]")) {
  const chart = JSON.parse(figure.querySelector("script").textContent);
  Plotly.newPlot(figure.querySelector(".plot"), chart.data, chart.layout, chart.config);
}
