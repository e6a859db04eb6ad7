/* The wall's chips: as many whole rows as fit; what does not is counted in the last place. */
(function () {
  "use strict";
  const rule = new CSSStyleSheet();
  document.adoptedStyleSheets.push(rule);
  let seen = null;

  /* Chips of the first rows, and how many are left for the last place to count. */
  function room(box, chips) {
    const style = getComputedStyle(box), gap = parseFloat(style.rowGap) || 0;
    const columns = style.gridTemplateColumns.split(" ").length;
    const most = parseFloat(style.maxHeight) || Infinity; /* "none" where the page scrolls */
    const rows = Math.max(Math.floor((most + gap) / (chips[0].offsetHeight + gap)), 1);
    return columns * rows;
  }

  function fit() {
    const box = document.getElementById("wall-chips"), more = box && box.querySelector(".more");
    if (!more) return;
    const chips = [...box.children].filter((chip) => chip !== more), total = Number(more.dataset.total);
    rule.replaceSync("");
    more.hidden = false;
    const places = room(box, chips);
    const shown = total <= chips.length && total <= places ? total : Math.min(chips.length, places - 1);
    const text = more.dataset.words.replace("{n}", (total - shown).toLocaleString("en"));
    const link = more.firstElementChild;
    if (link.textContent !== text) link.textContent = text;
    more.hidden = shown === total;
    rule.replaceSync(`#wall-chips > .mini:nth-child(n + ${shown + 1}):not(.more) { display: none }`);
  }

  /* Chips come and go with the tick, and the page with its address. */
  function look() {
    const first = document.querySelector("#wall-chips > .mini"), last = document.querySelector("#wall-chips > .more");
    const now = last && [first, last, last.parentElement.children.length, last.dataset.total];
    if (now && !(seen && now.every((part, place) => part === seen[place]))) fit();
    seen = now;
  }
  new MutationObserver(look).observe(document.documentElement, { subtree: true, childList: true });
  addEventListener("resize", fit);
  document.fonts.ready.then(fit);
})();
