// Tells Python which cell of which matrix was clicked. Charts are found by their key's class.
export default function ({ setTriggerValue }) {
  const attach = () => {
    for (const chart of document.querySelectorAll('[class*="st-key-chart_"] .js-plotly-plot')) {
      if (chart.attnvizClick || !chart.on) continue;
      chart.attnvizClick = ({ points }) => {
        const point = points && points[0];
        const meta = point && point.data.meta;
        if (!meta) return;
        const origin = point.data.y0 || 0;
        const [row, column] = [point.y - origin, point.x - origin];
        const place = meta.transposed ? [column, row] : [row, column];
        const index = meta.head === null ? place : [meta.head, ...place];
        setTriggerValue("cell", { key: meta.key, index });
      };
      chart.on("plotly_click", chart.attnvizClick);
    }
  };
  attach();
  const watcher = new MutationObserver(attach);
  watcher.observe(document.body, { childList: true, subtree: true });
  return () => {
    watcher.disconnect();
    for (const chart of document.querySelectorAll(".js-plotly-plot")) {
      if (chart.attnvizClick) chart.removeListener("plotly_click", chart.attnvizClick);
      delete chart.attnvizClick;
    }
  };
}
