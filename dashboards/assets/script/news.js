/* What a tick brings: points for the charts, and the numbers, sparks and bars around them. */
(function () {
  "use strict";
  function apply(news) {
    if (news.charts) window.klinicCharts.grow(news.charts);
    Object.entries(news.vitals || {}).forEach(([name, numbers]) => vital(name, numbers));
    Object.entries(news.sparks || {}).forEach(([name, svg]) => inCard(name, ".spark", (part) => { part.dataset.svg = svg; }));
    const health = document.querySelector(".banner .health strong");
    if (health && news.health && "now" in news.health) health.textContent = news.health.now;
    if (news.steps) bars(news.steps, news.bars || {});
  }

  function inCard(name, query, act) {
    const card = document.getElementById(JSON.stringify({ vital: name }));
    const part = card && card.querySelector(query);
    if (part) act(part);
  }

  function vital(name, [value, range, lead, trend, status, word, note]) {
    const set = (query, act) => inCard(name, query, act);
    const say = (query, text) => set(query, (part) => { part.textContent = text; });
    say(".value strong", value);
    say(".range code", range);
    say(".range span", lead);
    set(".value .icon", (part) => { part.className = "icon icon-trend-" + trend; });
    set(".badge", (part) => { part.className = "badge " + status; part.lastChild.textContent = word; });
    set(".badge .icon", (part) => { part.className = "icon icon-" + status; });
    const card = document.getElementById(JSON.stringify({ vital: name }));
    if (card) { card.className = "vital " + status; card.title = note; }
  }

  /* Six steps of the axis at most, round ones: as `timeline.py` has them. */
  function marks(first, last) {
    const least = Math.max((last - first) / 5, 1), power = 10 ** Math.floor(Math.log10(least));
    const every = [1, 2, 5, 10].map((part) => part * power).find((part) => part >= least);
    const from = Math.ceil(first / every);
    return Array.from({ length: Math.floor(last / every) - from + 1 }, (_none, i) => (from + i) * every);
  }

  /* A row may have more bars, or fewer, than it was drawn with: the spare ones are hidden. */
  function bars([first, last], moved) {
    const size = Math.max(last - first + 1, 1);
    document.querySelectorAll("[data-finding]").forEach((row) => {
      const [spans, when] = moved[row.dataset.finding] || [];
      if (spans) row.dataset.spans = JSON.stringify(spans);
      if (when) row.querySelector(".when").textContent = when;
      const found = JSON.parse(row.dataset.spans), track = row.querySelector(".track");
      while (track.children.length < found.length) track.append(Object.assign(document.createElement("span"), { className: "bar" }));
      row.querySelectorAll(".bar").forEach((bar, place) => {
        bar.hidden = !found[place];
        if (bar.hidden) return;
        const [start, end] = found[place];
        const left = (start - first) / size * 100;
        bar.style.left = left + "%";
        bar.style.width = Math.min(Math.max((end - start + 1) / size * 100, 0.6), 100 - left) + "%";
      });
      if (found.length) row.dataset.steps = found[0][0] + "," + found.at(-1)[1];
    });
    const steps = marks(first, last), places = document.querySelectorAll(".scale .track span");
    if (places.length === steps.length) places.forEach((mark, i) => { /* else the server sends the timeline anew */
      mark.textContent = steps[i].toLocaleString("en");
      mark.style.left = (steps[i] - first + 0.5) / size * 100 + "%";
    });
  }

  window.klinicNews = apply;
})();
