/* The page's own hands: theme and language, copying, state in the URL, small drawings, keys of the grid. */
(function () {
  "use strict";
  const ns = (window.dash_clientside = window.dash_clientside || {});
  const skip = () => ns.no_update;
  const $ = (query, root) => (root || document).querySelector(query);

  /* ---- state in the URL ---- */
  function setUrl(changes) {
    const params = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === undefined || value === "") params.delete(name);
      else params.set(name, value);
    }
    const text = params.toString();
    history.replaceState(history.state, "", location.pathname + (text ? "?" + text : "") + location.hash);
  }
  window.klinicUrl = setUrl;

  const where = () => ({ ...window.klinicUi, path: location.pathname, search: location.search });

  ns.klinic = {
    /* A new address, or a new theme or language: the server draws the page for it. */
    ui: (_href, before) => {
      const now = where();
      const asked = new URLSearchParams(now.search);
      const steps = [asked.get("from"), asked.get("to")];
      window.klinicCharts.look(steps.includes(null) ? null : steps);
      const same = before && ["theme", "lang", "path", "search"].every((key) => before[key] === now[key]);
      const coming = !same && window.klinicReady(now.path);
      return same ? skip() : coming ? coming.then(() => now) : now;
    },
    /* Tab, finding and window after a click. */
    view: (_tabs, _findings, _closes, view) => {
      const hit = (ns.callback_context.triggered[0] || {});
      if (!hit.value) return [skip(), skip()];
      const id = JSON.parse(hit.prop_id.slice(0, hit.prop_id.lastIndexOf(".")));
      if (id.tab) {
        setUrl({ tab: id.tab });
        markTab(id.tab);
        return [{ ...view, tab: id.tab }, skip()];
      }
      if (id.unpick || id.finding === view.finding) {
        setUrl({ finding: null, from: null, to: null });
        window.klinicCharts.look(null);
        return [{ ...view, finding: null, window: null }, null];
      }
      const range = window.klinicCharts.around(id.finding);
      window.klinicCharts.look(range);
      setUrl({ finding: id.finding, from: range && range[0], to: range && range[1] });
      return [{ ...view, finding: id.finding, window: range }, range];
    },
    apply: (news) => { if (news) window.klinicCharts.apply(news); return skip(); },
    explored: (runs, pattern, x, log, span) => {
      const params = new URLSearchParams(location.search);
      ["run", "m", "x", "log", "span"].forEach((name) => params.delete(name));
      (runs || []).forEach((run) => params.append("run", run));
      if (pattern) params.set("m", pattern);
      if (x && x !== "step") params.set("x", x);
      if (log && log.length) params.set("log", "1");
      if (span) params.set("span", span);
      history.replaceState(history.state, "", "?" + params);
      return skip();
    },
    compared: (runs) => {
      const params = new URLSearchParams(location.search);
      params.delete("run");
      (runs || []).forEach((run) => params.append("run", run));
      history.replaceState(history.state, "", "?" + params);
      return skip();
    },
    grouped: (by) => {
      if (narrowed.group && narrowed.group.by !== by) { narrowed.group = null; narrow(); }
      setTimeout(press, 50); /* after React has put the buttons in their place */
      return skip();
    },
    search: (needle, options) => ({ ...options, quickFilterText: needle || "" }),
    marked: (rows, words) => {
      const many = (rows || []).length;
      const fits = many >= 2 && many <= 8;
      const href = fits ? "/compare?" + rows.map((row) => "run=" + encodeURIComponent(row.id)).join("&") : undefined;
      const text = fits ? words.many.replace("{n}", many) : words.hint;
      return [text, href, fits ? "button primary" : "button disabled"];
    },
  };

  function markTab(name) {
    document.querySelectorAll("[data-tab]").forEach((tab) => {
      const chosen = tab.dataset.tab === name;
      tab.classList.toggle("chosen", chosen);
      tab.setAttribute("aria-selected", String(chosen));
    });
  }

  /* ---- buttons ---- */
  async function copy(button) {
    const text = button.dataset.copy;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = Object.assign(document.createElement("textarea"), { value: text });
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      button.focus();
    }
    button.classList.add("done");
    const label = $("span:last-child", button);
    const before = label.textContent;
    label.textContent = button.dataset.copied;
    speak(button.dataset.copied);
    setTimeout(() => { button.classList.remove("done"); label.textContent = before; }, 1600);
  }

  function speak(text) {
    const spoken = $("#spoken");
    if (spoken) { spoken.textContent = ""; setTimeout(() => { spoken.textContent = text; }, 30); }
  }

  function flip(name) {
    const ui = window.klinicUi;
    ui[name] = name === "theme" ? (ui.theme === "dark" ? "light" : "dark") : (ui.lang === "zh" ? "en" : "zh");
    try { localStorage.setItem("klinic." + name, ui[name]); } catch { /* private window */ }
    if (new URLSearchParams(location.search).has(name)) setUrl({ [name]: ui[name] });
    window.klinicPaint();
    ns.set_props("ui", { data: where() });
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy],[data-ui],[data-full],[data-filter],[data-group],[data-export],#view-window");
    if (!button) return;
    if (button.id === "view-window") window.klinicCharts.spread(null, null);
    else if (button.dataset.copy !== undefined) copy(button);
    else if (button.dataset.export) exported(button.dataset.export);
    else if (button.dataset.ui) flip(button.dataset.ui);
    else if (button.dataset.full) full();
    else if (button.dataset.by) group(button);
    else filter(button);
  });

  /* The wall fills the screen, and the screen stays on as long as it does. */
  function full() {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen().then(() => navigator.wakeLock?.request("screen")).catch(() => { /* not allowed here */ });
  }

  /* Pictures are made here, one a chart; values and pages by the server from the same parameters. */
  function exported(kind) {
    if (kind === "csv" || kind === "html") {
      const link = Object.assign(document.createElement("a"), { href: "/export." + kind + location.search, download: "" });
      document.body.append(link);
      link.click();
      link.remove();
      return;
    }
    window.klinicCharts.plots().forEach((gd, place) => {
      const filename = "klinic-" + (place + 1);
      const size = { width: 1000, height: 420 };
      Plotly.downloadImage(gd, { format: kind, filename, ...size, scale: kind === "png" ? 2 : 1 });
    });
  }

  /* A status chip and a group narrow the grid together; the chosen group outlives its button's drawing anew. */
  const narrowed = { kind: null, group: null };
  const equals = (text) => text ? { filterType: "text", type: "equals", filter: text } : { filterType: "text", type: "blank" };

  function filter(button) {
    narrowed.kind = button.dataset.filter || null;
    narrow();
  }

  function group(button) {
    const mine = { by: button.dataset.by, name: button.dataset.group };
    const same = narrowed.group && narrowed.group.by === mine.by && narrowed.group.name === mine.name;
    narrowed.group = same ? null : mine;
    narrow();
  }

  function press() {
    const { kind, group: one } = narrowed;
    const set = (query, holds) => document.querySelectorAll(query).forEach((chip) => {
      chip.classList.toggle("chosen", holds(chip));
      chip.setAttribute("aria-pressed", String(holds(chip)));
    });
    set("[data-filter]", (chip) => (chip.dataset.filter || null) === kind);
    set("[data-group]", (chip) => Boolean(one) && chip.dataset.group === one.name && chip.dataset.by === one.by);
  }

  function narrow() {
    const { kind, group: one } = narrowed;
    press();
    ns.set_props("runs-grid", { filterModel: { ...(kind ? { kind: equals(kind) } : {}), ...(one ? { [one.by]: equals(one.name) } : {}) } });
  }

  /* ---- the server may end before its page does: say so, stop asking, and go on when it is back ---- */
  const CLOCKS = ["runs-tick", "run-tick", "explore-tick", "compare-tick", "compare-slow", "wall-tick", "waiting-tick"];
  let lost = false;
  async function reach() {
    let there = true;
    try { there = (await fetch("/assets/icon.svg", { method: "HEAD", cache: "no-store" })).ok; } catch { there = false; }
    if (there && lost) { location.reload(); return; }
    if (!there && !lost) lose();
    setTimeout(reach, lost ? 3000 : 1000);
  }
  function lose() {
    lost = true;
    CLOCKS.forEach((id) => { try { ns.set_props(id, { disabled: true }); } catch { /* not on this page */ } });
    const place = $("#offline"), words = $("#offline-words");
    if (!place || !words) return;
    place.textContent = words.textContent.replace("{at}", new Date().toLocaleTimeString());
    place.hidden = false;
  }
  setTimeout(reach, 2000);

  /* ---- links inside the grid go through the router; keys: Enter opens, x marks ---- */
  window.klinicGo = (href) => {
    history.pushState({}, "", href);
    window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
    window.scrollTo(0, 0);
  };

  document.addEventListener("keydown", (event) => {
    if (event.target.closest && event.target.closest("[role=tablist]")) return tabKeys(event);
    const cell = event.target.closest && event.target.closest(".ag-cell");
    const line = cell && cell.closest(".ag-row");
    if (!line || !$("#runs-grid")) return;
    if (event.key === "Enter") {
      const link = $("a[href]", line);
      if (link) link.click();
    } else if (event.key === "x") {
      const api = window.dash_ag_grid.getApi("runs-grid");
      const node = api.getRowNode(line.getAttribute("row-id"));
      if (node) node.setSelected(!node.isSelected());
    }
  });

  function tabKeys(event) {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move) return;
    const tabs = [...event.target.closest("[role=tablist]").querySelectorAll("[role=tab]")];
    const next = tabs[(tabs.indexOf(event.target) + move + tabs.length) % tabs.length];
    if (next) { next.focus(); event.preventDefault(); }
  }

  /* ---- the tab of the browser says how it stands ---- */
  setInterval(() => {
    const words = ["#page .banner .badge, #runs-count .sick, #wall-count .sick", "#page h1"].map((query) => $(query)?.textContent.trim());
    const title = [...words.filter(Boolean), "klinic"].join(" · ");
    if (document.title !== title) document.title = title;
  }, 1000);

  /* ---- a phone has room for how a run stands and what it is called; its finding stands below the name ---- */
  const phone = matchMedia("(max-width: 560px)");
  const WIDE = ["health", "step", "score", "spark", "finding", "framework", "age", "state"];
  async function fitGrid() {
    if (!$("#runs-grid")) return;
    const api = await window.dash_ag_grid.getApiAsync("runs-grid");
    api.setColumnsVisible(WIDE, !phone.matches);
    api.setGridOption("rowSelection", { mode: "multiRow", headerCheckbox: false, enableClickSelection: false, checkboxes: !phone.matches });
  }
  phone.addEventListener("change", fitGrid);

  /* ---- small drawings: ours, of numbers only, in a shadow root that React does not know ---- */
  const SPARK = "<style>svg{width:100%;height:100%;display:block;overflow:visible}rect{fill:var(--band);stroke:none}"
    + "path{fill:none;vector-effect:non-scaling-stroke;stroke-width:var(--stroke,1.5px)}path+path{stroke-width:calc(3*var(--stroke,1.5px));stroke-linecap:round}</style>";
  function draw(element) {
    const root = element.shadowRoot || element.attachShadow({ mode: "open" });
    root.innerHTML = SPARK + element.dataset.svg;
  }
  new MutationObserver((changes) => {
    for (const change of changes) {
      if (change.type === "attributes") draw(change.target);
      for (const node of change.addedNodes || []) {
        if (node.nodeType !== 1) continue;
        if (node.dataset.svg !== undefined) draw(node);
        node.querySelectorAll("[data-svg]").forEach(draw);
        if (phone.matches && (node.id === "runs-grid" || node.querySelector("#runs-grid"))) fitGrid();
      }
    }
  }).observe(document.documentElement, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-svg"] });
})();
