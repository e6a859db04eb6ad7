/* The server may end before its page does: say so, stop asking, and go on when it is back. */
(function () {
  "use strict";
  const { $ } = window.klinic;

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
    CLOCKS.forEach((id) => { try { window.dash_clientside.set_props(id, { disabled: true }); } catch { /* not on this page */ } });
    const place = $("#offline"), words = $("#offline-words");
    if (!place || !words) return;
    place.textContent = words.textContent.replace("{at}", new Date().toLocaleTimeString("en-GB"));
    place.hidden = false;
  }
  setTimeout(reach, 2000);
})();
