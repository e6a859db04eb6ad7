/* Cells of the runs grid: React elements, so that every name is text. */
var dagcomponentfuncs = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});
(function () {
  const h = (...parts) => React.createElement(...parts);
  const icon = (name) => h("span", { className: "icon icon-" + name, "aria-hidden": true });

  dagcomponentfuncs.Status = ({ data }) => h("span", { className: "badge " + data.kind }, icon(data.kind), data.status);
  dagcomponentfuncs.RunState = ({ data }) => data.phase
    ? h("span", { className: "state state-" + data.phase }, icon(data.phase), data.state) : null;
  dagcomponentfuncs.Spark = ({ data }) => data.spark ? h("div", { className: "spark", "data-svg": data.spark, "aria-hidden": true }) : null;
  dagcomponentfuncs.Health = ({ data }) => data.health === null || data.health === undefined ? "–" : h(
    "span", { className: "bar-cell" },
    h("span", { className: "bar-track" }, h("span", { className: "bar-fill " + data.kind, style: { width: data.health + "%" } })),
    h("span", { className: "num" }, data.health),
  );
  const found = ({ found: [name, place] }) => [h("span", { className: "mono", key: "name" }, name), place ? h("span", { className: "place", key: "place" }, place) : null];
  dagcomponentfuncs.Found = ({ data }) => h("span", { className: "found" }, ...found(data));
  dagcomponentfuncs.RunName = ({ data }) => {
    const open = (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
      event.preventDefault();
      window.klinic.go(data.url);
    };
    return h("a", { href: data.url, className: "run-link", title: data.id, onClick: open, tabIndex: -1 },
      h("span", { className: "run-name" }, data.name),
      data.project ? h("span", { className: "run-project" }, data.project) : null,
      data.finding ? h("span", { className: "run-finding" }, ...found(data)) : null); /* where the grid is narrow */
  };
})();
