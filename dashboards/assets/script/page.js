/* What all scripts of a page share: looking up, clicks, words for screen readers, the state in the URL. */
(function () {
  "use strict";
  window.dash_clientside = window.dash_clientside || {};
  const $ = (query, root) => (root || document).querySelector(query);

  /* A click on what a selector names, or inside it. */
  function onClick(selector, act) {
    document.addEventListener("click", (event) => {
      const hit = event.target.closest(selector);
      if (hit) act(hit);
    });
  }

  function speak(text) {
    const spoken = $("#spoken");
    if (spoken) { spoken.textContent = ""; setTimeout(() => { spoken.textContent = text; }, 30); }
  }

  /* ---- the state of a page stands in its URL ---- */
  const put = (params) => {
    const text = params.toString();
    history.replaceState(history.state, "", location.pathname + (text ? "?" + text : "") + location.hash);
  };

  const empty = (value) => value === null || value === undefined || value === "";

  /* null takes a parameter away; a list puts it once for each. */
  function setUrl(changes) {
    const params = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(changes)) {
      params.delete(name);
      [value].flat().filter((one) => !empty(one)).forEach((one) => params.append(name, one));
    }
    put(params);
  }

  /* What the server needs to draw a page. */
  const where = () => ({ ...window.klinicUi, path: location.pathname, search: location.search });

  /* A link that goes through the router. */
  function go(href) {
    history.pushState({}, "", href);
    window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
    window.scrollTo(0, 0);
  }

  window.klinic = { $, onClick, speak, setUrl, where, go };
})();
