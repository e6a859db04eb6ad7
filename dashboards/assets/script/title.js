/* The tab of the browser says how a run stands, or how many are sick. */
(function () {
  "use strict";
  const { $ } = window.klinic;

  setInterval(() => {
    const words = ["#page .banner .badge, #runs-count .sick, #wall-count .sick", "#page h1"].map((query) => $(query)?.textContent.trim());
    const title = [...words.filter(Boolean), "klinic"].join(" · ");
    if (document.title !== title) document.title = title;
  }, 1000);
})();
