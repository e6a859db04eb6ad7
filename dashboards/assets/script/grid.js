/* The grid of runs: chips and groups that narrow it, its keys, its columns on a phone. */
(function () {
  "use strict";
  const { $, onClick } = window.klinic;

  /* A status chip and a group narrow the grid together; the chosen group outlives its button's drawing anew. */
  const narrowed = { kind: null, group: null };
  const equals = (text) => text ? { filterType: "text", type: "equals", filter: text } : { filterType: "text", type: "blank" };

  function filter(button) {
    narrowed.kind = button.dataset.filter || null;
    narrow();
  }

  function group(button) {
    const mine = { by: button.dataset.by, name: button.dataset.group };
    const same = narrowed.group && narrowed.group.by === mine.by && narrowed.group.name === mine.name;
    narrowed.group = same ? null : mine;
    narrow();
  }

  function press() {
    const { kind, group: one } = narrowed;
    const set = (query, holds) => document.querySelectorAll(query).forEach((chip) => {
      chip.classList.toggle("chosen", holds(chip));
      chip.setAttribute("aria-pressed", String(holds(chip)));
    });
    set("[data-filter]", (chip) => (chip.dataset.filter || null) === kind);
    set("[data-group]", (chip) => Boolean(one) && chip.dataset.group === one.name && chip.dataset.by === one.by);
  }

  function narrow() {
    const { kind, group: one } = narrowed;
    press();
    window.dash_clientside.set_props("runs-grid", { filterModel: { ...(kind ? { kind: equals(kind) } : {}), ...(one ? { [one.by]: equals(one.name) } : {}) } });
  }

  /* Another grouping lets go of a group that it does not have. */
  function groupedBy(by) {
    if (narrowed.group && narrowed.group.by !== by) { narrowed.group = null; narrow(); }
    setTimeout(press, 50); /* after React has put the buttons in their place */
  }

  onClick("[data-filter]", filter);
  onClick("[data-group]", group);

  /* ---- Enter opens, x marks ---- */
  document.addEventListener("keydown", (event) => {
    const cell = event.target.closest && event.target.closest(".ag-cell");
    const line = cell && cell.closest(".ag-row");
    if (!line || !$("#runs-grid")) return;
    if (event.key === "Enter") {
      const link = $("a[href]", line);
      if (link) link.click();
    } else if (event.key === "x") {
      const api = window.dash_ag_grid.getApi("runs-grid");
      const node = api.getRowNode(line.getAttribute("row-id"));
      if (node) node.setSelected(!node.isSelected());
    }
  });

  /* ---- a phone has room for how a run stands and what it is called; its finding stands below the name ---- */
  const phone = matchMedia("(max-width: 560px)");
  const WIDE = ["health", "step", "score", "spark", "finding", "framework", "age", "state"];
  async function fitGrid() {
    if (!$("#runs-grid")) return;
    const api = await window.dash_ag_grid.getApiAsync("runs-grid");
    api.setColumnsVisible(WIDE, !phone.matches);
    api.setGridOption("rowSelection", { mode: "multiRow", headerCheckbox: false, enableClickSelection: false, checkboxes: !phone.matches });
  }
  phone.addEventListener("change", fitGrid);

  new MutationObserver((changes) => {
    const added = phone.matches ? changes.flatMap((change) => [...change.addedNodes]) : [];
    if (added.some((node) => node.nodeType === 1 && (node.id === "runs-grid" || $("#runs-grid", node)))) fitGrid();
  }).observe(document.documentElement, { subtree: true, childList: true });

  window.klinic.groupedBy = groupedBy;
})();
