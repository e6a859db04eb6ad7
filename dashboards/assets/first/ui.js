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
})();
