/* Before the first paint: theme and language from the URL, the last choice, or the system. */
(function () {
  "use strict";
  const asked = new URLSearchParams(location.search);
  const kept = (name) => { try { return localStorage.getItem("klinic." + name); } catch { return null; } };
  const system = {
    theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
    lang: (navigator.language || "en").startsWith("zh") ? "zh" : "en",
  };
  const allowed = { theme: ["light", "dark"], lang: ["en", "zh"] };
  const pick = (name) => [asked.get(name), kept(name), system[name]].find((value) => allowed[name].includes(value));
  window.klinicUi = { theme: pick("theme"), lang: pick("lang") };
  window.klinicPaint = () => {
    document.documentElement.dataset.theme = window.klinicUi.theme;
    document.documentElement.lang = window.klinicUi.lang === "zh" ? "zh-CN" : "en";
  };
  window.klinicPaint();

  /* Charts need 5 MB of script: it loads beside everything else, not after it, and where there are none as soon as the
     page stands. Dash waits for what window.Plotly holds. */
  const fetched = () => new Promise((done) => {
    const script = document.createElement("script");
    script.src = "/_dash-component-suites/plotly/package_data/plotly.min.js";
    script.onload = () => done(window.Plotly);
    script.onerror = () => { delete window.Plotly; done(); };
    document.head.append(script);
  });
  const stands = () => new Promise((done) => window.addEventListener("load", () => setTimeout(done, 1000)));
  const charts = ["/run", "/explore", "/compare"].includes(location.pathname);
  window.Plotly = charts ? fetched() : stands().then(fetched);
})();
