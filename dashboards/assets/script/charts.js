/* Charts: one x range and one crosshair for all, y fitted to what is seen, new points without losing either. */
(function () {
  "use strict";
  const plots = () => [...document.querySelectorAll(".js-plotly-plot")].filter((gd) => gd.klinic);
  let syncing = false;
  let range = null; /* the steps (hours, tokens) that all charts show, null for the whole run */
  let counted; /* what x counts there */

  /* ---- binding ---- */
  function bind(gd) {
    if (gd.klinic || !gd.on || !gd._fullLayout) return;
    gd.klinic = true;
    gd.on("plotly_relayout", (change) => zoomed(gd, change));
    gd.on("plotly_hover", (event) => crosshair(gd, event));
    gd.on("plotly_unhover", () => { if (!syncing) others(gd).forEach((other) => quiet(() => Plotly.Fx.unhover(other))); });
    gd.on("plotly_click", (event) => clicked(event));
    gd.on("plotly_doubleclick", () => spread(null, null));
    views.observe(gd);
    if (range && across(gd) !== counted) range = null;
    if (range && !same(gd._fullLayout.xaxis.range, range)) { gd.klinicStale = true; catchUp(gd); }
  }
  const across = (gd) => gd && gd.layout.meta && gd.layout.meta.across;
  const others = (gd) => plots().filter((other) => other !== gd && other._fullLayout && other.klinicSeen !== false);
  const same = (x, y) => Math.abs(x[0] - y[0]) + Math.abs(x[1] - y[1]) < 1e-6 * (1 + Math.abs(y[1]));
  const quiet = (act) => { syncing = true; try { act(); } catch { /* a chart that is being drawn */ } finally { syncing = false; } };
  new MutationObserver(() => document.querySelectorAll(".js-plotly-plot").forEach(bind))
    .observe(document.documentElement, { subtree: true, childList: true });
  setInterval(() => document.querySelectorAll(".js-plotly-plot").forEach(bind), 500);

  /* ---- shared zoom ---- */
  function zoomed(gd, change) {
    if (syncing) return;
    const x = change["xaxis.range"] || (change["xaxis.range[0]"] !== undefined
      ? [change["xaxis.range[0]"], change["xaxis.range[1]"]] : null);
    /* Our own changes are told like a person's, and late: what is as it should be is no news. */
    if (x && same(x, range || whole(gd))) return;
    if (x) spread(x.map(Number), gd);
    else if (change["xaxis.autorange"]) spread(null, null);
  }

  const whole = (gd) => (gd.layout.meta && gd.layout.meta.whole) || gd._fullLayout.xaxis.range;

  function spread(wanted, from) {
    range = wanted;
    counted = across(plots()[0]);
    plots().forEach((gd) => {
      gd.klinicStale = gd !== from;
      if (gd === from || gd.klinicSeen !== false) catchUp(gd);
    });
    const steps = range && [Math.floor(range[0]), Math.ceil(range[1])];
    if (document.getElementById("view-window")) {
      window.klinic.setUrl({ from: steps && steps[0], to: steps && steps[1] });
      const data = range && range.map((x) => Math.round(x * 100) / 100);
      ["window", "zoomed"].forEach((store) => window.dash_clientside.set_props(store, { data }));
      document.getElementById("view-window").classList.toggle("zoomed", Boolean(steps));
    }
    const page = ["explore", "compare"].find((name) => document.getElementById(name + "-body"));
    if (page) window.dash_clientside.set_props(page + "-window", { data: range && [...range, counted] });
  }

  /* ---- only charts that can be seen are drawn anew; the others catch up when they come into view ---- */
  const views = new IntersectionObserver((entries) => entries.forEach((entry) => {
    entry.target.klinicSeen = entry.isIntersecting;
    if (entry.isIntersecting && (entry.target.klinicStale || entry.target.klinicNews)) catchUp(entry.target);
  }), { rootMargin: "200px" });

  function catchUp(gd) {
    const news = gd.klinicNews || { points: [] };
    const { edges, ...around } = news.around || {};
    const [at, x, y] = longer(gd, news.points);
    if (news.whole) gd.layout.meta.whole = news.whole;
    const span = gd.klinicStale || (news.whole && !range) ? xOf(gd) : {};
    const mode = at.map((place, i) => x[i].length > gd.layout.meta.dots ? "lines" : gd.data[place].mode);
    gd.klinicNews = null;
    gd.klinicStale = false;
    quiet(() => {
      if (edges) redge(gd, edges);
      at.forEach((place, i) => Object.assign(gd.data[place], { x: x[i], y: y[i], mode: mode[i] }));
      Plotly.update(gd, at.length ? { x, y, mode } : {}, { ...around, ...span, ...yOf(gd) }, at.length ? at : undefined);
    });
  }

  /* Few steps are counted one by one: there is nothing between them. */
  function xOf(gd) {
    const x = range || whole(gd), few = gd.layout.meta && gd.layout.meta.few;
    const every = x[1] - x[0] < few ? 1 : null;
    const ticks = few && every !== (gd.layout.xaxis.dtick ?? null) ? { "xaxis.dtick": every } : {};
    return { "xaxis.range": x, "xaxis.autorange": false, ...ticks };
  }

  /* The page was drawn for these steps (a link, a finding that was picked). */
  function look(wanted) {
    range = wanted ? wanted.map(Number) : null;
    counted = undefined;
    const button = document.getElementById("view-window");
    if (button) button.classList.toggle("zoomed", Boolean(range));
  }

  /* ---- y: all values in view, and the healthy bounds that are near ---- */
  function yOf(gd) {
    const meta = gd.layout.meta || {};
    if (!gd._fullLayout.yaxis || !gd._fullLayout.yaxis.fixedrange) return {};
    let low = Infinity, high = -Infinity;
    const layers = {};
    gd.data.forEach((own, place) => {
      const trace = Array.isArray(own.y) ? own : gd._fullData[place]; /* Plotly unpacks base64 into the latter */
      if (!trace.meta || !["raw", "smooth"].includes(trace.meta.role) || !trace.y) return;
      for (let i = 0; i < trace.y.length; i++) {
        const y = trace.y[i], x = trace.x[i];
        if (y === null || y === undefined || !isFinite(y) || (range && (x < range[0] || x > range[1]))) continue;
        if (trace.stackgroup) { layers[x] = (layers[x] || 0) + y; continue; }
        if (y < low) low = y;
        if (y > high) high = y;
      }
    });
    for (const sum of Object.values(layers)) { low = 0; if (sum > high) high = sum; }
    if (!isFinite(low) || !isFinite(high)) return {};
    const span = high - low || Math.abs(high) * 0.2 || 1;
    for (const bound of meta.near || []) {
      if (bound >= low - span && bound <= high + span) { low = Math.min(low, bound); high = Math.max(high, bound); }
    }
    if (meta.log) {
      low = Math.max(low, high * 1e-6, 1e-12);
      return { "yaxis.range": [Math.log10(low) - 0.05, Math.log10(Math.max(high, low * 10)) + 0.05] };
    }
    const pad = 0.08 * (high - low || span);
    return { "yaxis.range": [low - pad, high + pad] };
  }

  /* ---- shared crosshair ---- */
  function crosshair(gd, event) {
    if (syncing || !event.xvals && !event.points) return;
    const x = event.points && event.points.length ? event.points[0].x : event.xvals[0];
    quiet(() => others(gd).forEach((other) => Plotly.Fx.hover(other, { xval: x }, "xy")));
  }

  /* ---- findings: a click on an onset picks it everywhere ---- */
  function clicked(event) {
    const hit = (event.points || []).find((point) => point.data.meta && point.data.meta.role === "findings");
    if (!hit) return;
    const row = [...document.querySelectorAll("[data-finding]")].find((one) => one.dataset.finding === hit.customdata);
    if (row) row.click();
  }

  function around(rule) {
    const row = [...document.querySelectorAll("[data-finding]")].find((one) => one.dataset.finding === rule);
    if (!row) return null;
    const [first, last] = row.dataset.steps.split(",").map(Number);
    const pad = Math.max(3, Math.round((last - first) * 0.25));
    return [first - pad, last + pad];
  }

  /* ---- new points ---- */

  /* News of charts, by their key. */
  function grow(news) {
    for (const gd of plots()) {
      const holder = gd.closest("[id^='{']");
      const key = holder && JSON.parse(holder.id).chart;
      if (key && news[key]) told(gd, news[key]);
    }
  }

  /* What is new joins what a chart out of view has not drawn yet. */
  function told(gd, item) {
    const waiting = gd.klinicNews || { points: [] };
    const around = { ...waiting.around, ...item.around };
    gd.klinicNews = { ...waiting, ...item, around, points: [...waiting.points, ...item.points] };
    if (gd.klinicSeen !== false) catchUp(gd);
  }

  /* [places of the lines that grew, their x, their y]: the last line of a metric and role is the one that grows. */
  function longer(gd, points) {
    const grown = new Map();
    for (const [metric, role, xs, ys, run] of points) {
      const place = gd.data.findLastIndex((trace) => trace.meta && trace.meta.metric === metric
        && trace.meta.role === role && trace.meta.run === run && Array.isArray(trace.x));
      if (place < 0) continue;
      const [x, y] = grown.get(place) || [gd.data[place].x, gd.data[place].y];
      const from = xs.findIndex((step) => !x.length || step > x.at(-1));
      if (from >= 0) grown.set(place, [[...x, ...xs.slice(from)], [...y, ...ys.slice(from)]]);
    }
    const all = [...grown.entries()];
    return [all.map(([place]) => place), all.map(([, [x]]) => x), all.map(([, [, y]]) => y)];
  }

  /* Onsets, events and crosses stand on the edges: they are put anew as a whole. */
  const EDGES = ["findings", "events", "nonfinite"];
  function redge(gd, edges) {
    const old = gd.data.flatMap((trace, place) => trace.meta && EDGES.includes(trace.meta.role) ? [place] : []);
    if (old.length) Plotly.deleteTraces(gd, old);
    if (edges.length) Plotly.addTraces(gd, edges);
  }

  window.klinicCharts = { grow, around, look, spread, plots };
})();
