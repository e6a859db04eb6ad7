/* The tabs of a run's page: which one is chosen, and the arrow keys. */
(function () {
  "use strict";
  function mark(name) {
    document.querySelectorAll("[data-tab]").forEach((tab) => {
      const chosen = tab.dataset.tab === name;
      tab.classList.toggle("chosen", chosen);
      tab.setAttribute("aria-selected", String(chosen));
    });
  }

  document.addEventListener("keydown", (event) => {
    const list = event.target.closest && event.target.closest("[role=tablist]");
    const move = list && { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!move) return;
    const tabs = [...list.querySelectorAll("[role=tab]")];
    const next = tabs[(tabs.indexOf(event.target) + move + tabs.length) % tabs.length];
    if (next) { next.focus(); event.preventDefault(); }
  });

  window.klinic.mark = mark;
})();
