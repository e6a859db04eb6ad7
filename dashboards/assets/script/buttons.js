/* Buttons: copy, theme and language, the whole screen, exports, all steps again. */
(function () {
  "use strict";
  const { $, onClick, speak, setUrl, where } = window.klinic;

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

  function flip(name) {
    const ui = window.klinicUi;
    ui[name] = name === "theme" ? (ui.theme === "dark" ? "light" : "dark") : (ui.lang === "zh" ? "en" : "zh");
    try { localStorage.setItem("klinic." + name, ui[name]); } catch { /* private window */ }
    if (new URLSearchParams(location.search).has(name)) setUrl({ [name]: ui[name] });
    window.klinicPaint();
    window.dash_clientside.set_props("ui", { data: where() });
  }

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

  onClick("[data-copy]", copy);
  onClick("[data-ui]", (button) => flip(button.dataset.ui));
  onClick("[data-full]", full);
  onClick("[data-export]", (button) => exported(button.dataset.export));
  onClick("#view-window", () => window.klinicCharts.spread(null, null));
})();
