/* Charts need 5 MB of script: it comes beside everything else, not after it, and where there are none once the page
   stands. The grid's script comes with the pages that have one, and to the others when they lead there. */
(function () {
  "use strict";
  const { plotly, grid, charted, gridless } = window.klinicScripts;
  const fetched = (src) => new Promise((done, failed) => {
    document.head.append(Object.assign(document.createElement("script"), { src, fetchPriority: "high", onload: done, onerror: failed }));
  });
  const stands = new Promise((done) => addEventListener("load", () => setTimeout(done, 1000)));

  /* Dash waits for what window.Plotly holds, and loads the script itself where that is nothing. */
  const drawing = () => fetched(plotly).then(() => window.Plotly, () => { delete window.Plotly; });
  window.Plotly = charted.includes(location.pathname) ? drawing() : stands.then(drawing);

  /* Resolves once the page of an address can be drawn; null where that is so already. */
  let coming = null;
  window.klinicReady = (path) => {
    if (gridless.includes(path) || window.dash_ag_grid) return null;
    coming = coming || fetched(grid).catch(() => { coming = null; });
    return coming;
  };
  if (gridless.includes(location.pathname)) {
    stands.then(() => document.head.append(Object.assign(document.createElement("link"), { rel: "prefetch", href: grid })));
  }
})();
