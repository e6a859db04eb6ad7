/* What the pages' callbacks do here, without asking the server. */
(function () {
  "use strict";
  const { setUrl, where, mark, groupedBy } = window.klinic;

  const skip = () => window.dash_clientside.no_update;

  window.dash_clientside.klinic = {
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
      const hit = (window.dash_clientside.callback_context.triggered[0] || {});
      if (!hit.value) return [skip(), skip()];
      const id = JSON.parse(hit.prop_id.slice(0, hit.prop_id.lastIndexOf(".")));
      if (id.tab) {
        setUrl({ tab: id.tab });
        mark(id.tab);
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
    apply: (news) => { if (news) window.klinicNews(news); return skip(); },
    explored: (run, m, x, log, span) => {
      setUrl({ run, m, x: x === "step" ? null : x, log: log && log.length ? "1" : null, span: span || null });
      return skip();
    },
    compared: (run) => { setUrl({ run }); return skip(); },
    grouped: (by) => { groupedBy(by); return skip(); },
    search: (needle, options) => ({ ...options, quickFilterText: needle || "" }),
    marked: (rows, words) => {
      const many = (rows || []).length;
      const fits = many >= 2 && many <= 8;
      const href = fits ? "/compare?" + rows.map((row) => "run=" + encodeURIComponent(row.id)).join("&") : undefined;
      const text = fits ? words.many.replace("{n}", many) : words.hint;
      return [text, href, fits ? "button primary" : "button disabled"];
    },
  };
})();
