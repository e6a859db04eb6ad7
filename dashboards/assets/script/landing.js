/* Where parts that scroll begin: tabs at the chosen one, a log at its first incident, else at its end. */
(function () {
  "use strict";
  const { $ } = window.klinic;

  function tabs(list) {
    const chosen = $(".chosen", list);
    if (chosen) list.scrollLeft = chosen.offsetLeft - list.offsetLeft - (list.clientWidth - chosen.clientWidth) / 2;
  }

  function log(box) {
    const incident = $(".incident", box);
    box.scrollTop = incident ? incident.offsetTop - box.offsetTop - box.clientHeight / 3 : box.scrollHeight;
  }

  const within = (node, query) => node.nodeType !== 1 ? null : node.matches(query) ? node : $(query, node);
  new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach((node) => {
    const list = within(node, ".tabs"), box = within(node, ".log");
    if (list) tabs(list);
    if (box) log(box);
  }))).observe(document.documentElement, { subtree: true, childList: true });
})();
