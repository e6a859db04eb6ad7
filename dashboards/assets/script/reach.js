/* The server may end before its page does: say so, stop asking, and go on when it is back. */
(function () {
  "use strict";
  const { $ } = window.klinic;

  const CLOCKS = ["runs-tick", "run-tick", "explore-tick", "compare-tick", "compare-slow", "wall-tick", "waiting-tick"];
  const RECENT = 1500; /* ms in which any answer tells that the server is there: it need not be asked, too */
  let lost = false, heard = 0;
  const ask = window.fetch.bind(window);
  window.fetch = async (...request) => {
    const answer = await ask(...request);
    heard = Date.now();
    return answer;
  };

  async function answers() {
    if (!lost && Date.now() - heard < RECENT) return true;
    try { return (await ask("/assets/icon.svg", { method: "HEAD", cache: "no-store" })).ok; } catch { return false; }
  }

  async function reach() {
    const there = await answers();
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
