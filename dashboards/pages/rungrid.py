"""The grid of the runs page: its columns, its look, what its keys do."""

from __future__ import annotations

from typing import Any

import dash_ag_grid as dag

from klinic.dashboards.figures.theme import Lang
from klinic.dashboards.views.parts import Component
from klinic.dashboards.words import speaker

RIGHT = "num ag-right-aligned-cell"
THEME = (
    "themeQuartz.withParams({backgroundColor: 'var(--card)', foregroundColor: 'var(--ink)', borderColor: 'var(--hair)',"
    " headerBackgroundColor: 'var(--card)', headerTextColor: 'var(--faint)', accentColor: 'var(--accent)',"
    " rowHoverColor: 'var(--inset)', selectedRowBackgroundColor: 'var(--select)', fontFamily: 'inherit', fontSize: 13,"
    " headerFontSize: 12, wrapperBorderRadius: 8, rowBorder: true, columnBorder: false, headerRowBorder: true,"
    " spacing: 6, oddRowBackgroundColor: 'var(--card)'})"
)


def grid(rows: list[dict[str, Any]], lang: Lang) -> Component:
    """The grid: sort, filter, search; Enter opens, x marks."""
    return dag.AgGrid(
        id="runs-grid",
        rowData=rows,
        columnDefs=columns(lang),
        getRowId="params.data.id",
        defaultColDef={"sortable": True, "filter": True, "resizable": True, "suppressHeaderMenuButton": False},
        dashGridOptions={
            "theme": {"function": THEME},
            "localeText": {"ariaRowToggleSelection": speaker(lang)("runs.mark")},
            "rowSelection": {"mode": "multiRow", "headerCheckbox": False, "enableClickSelection": False},
            "selectionColumnDef": {"width": 44, "resizable": False},
            "rowHeight": 44,
            "animateRows": False,
            "suppressDragLeaveHidesColumns": True,
            "ensureDomOrder": True,
        },
        columnSize=None,
        className="grid",
        style={"height": None, "width": "100%"},
    )


def columns(lang: Lang) -> list[dict[str, Any]]:
    """The columns in their order; widths fit 1280 px."""
    say = speaker(lang)
    number_filter = {"type": "rightAligned", "filter": "agNumberColumnFilter", "cellClass": RIGHT}
    scored, aged = ({"valueFormatter": {"function": f"params.data.{name}"}} for name in ("scored", "aged"))
    make: list[tuple[str, str, int, dict[str, Any]]] = [
        ("kind", "status", 10, {"hide": True}),
        ("project", "project", 10, {"hide": True}),
        ("rule", "finding", 10, {"hide": True}),
        ("phase", "state", 10, {"hide": True}),
        ("rank", "status", 116, {"cellRenderer": "Status", "sort": "asc", "filter": False}),
        ("id", "name", 200, {"cellRenderer": "RunName", "flex": 3, "minWidth": 190}),
        ("health", "health", 96, {"cellRenderer": "Health", "filter": "agNumberColumnFilter"}),
        ("step", "step", 68, number_filter),
        ("score", "score", 80, number_filter | scored),
        ("spark", "trend", 112, {"cellRenderer": "Spark", "sortable": False, "filter": False}),
        ("finding", "finding", 220, {"cellRenderer": "Found", "flex": 3, "minWidth": 180, "tooltipField": "finding"}),
        ("framework", "framework", 114, {}),
        ("age", "age", 88, number_filter | aged),
        ("state", "state", 126, {"cellRenderer": "RunState"}),
    ]
    return [
        {"field": field, "headerName": say(f"runs.{key}"), "width": width, **more} for field, key, width, more in make
    ]
