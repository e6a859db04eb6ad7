/* Small drawings: ours, of numbers only, in a shadow root that React does not know. */
(function () {
  "use strict";
  const SPARK = "<style>svg{width:100%;height:100%;display:block;overflow:visible}rect{fill:var(--band);stroke:none}"
    + "path{fill:none;vector-effect:non-scaling-stroke;stroke-width:var(--stroke,1.5px)}path+path{stroke-width:calc(3*var(--stroke,1.5px));stroke-linecap:round}</style>";
  function draw(element) {
    const root = element.shadowRoot || element.attachShadow({ mode: "open" });
    root.innerHTML = SPARK + element.dataset.svg;
  }
  new MutationObserver((changes) => {
    for (const change of changes) {
      if (change.type === "attributes") draw(change.target);
      for (const node of change.addedNodes || []) {
        if (node.nodeType !== 1) continue;
        if (node.dataset.svg !== undefined) draw(node);
        node.querySelectorAll("[data-svg]").forEach(draw);
      }
    }
  }).observe(document.documentElement, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-svg"] });
})();
