"""Pictures as prebuilt Plotly dicts: pure functions that the app, the HTML report and the summary picture share."""
