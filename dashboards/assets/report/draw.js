/* The report draws its charts itself: unpack plotly.js, then one chart after the other as they come into view. */
(async function () {
  "use strict";
  const packed = Uint8Array.from(atob(document.getElementById("plotly").textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.head.append(script);
  const config = { displaylogo: false, displayModeBar: false, doubleClick: false, responsive: true };
  const draw = (place) => {
    if (place.dataset.drawn) return;
    place.dataset.drawn = "1";
    const figure = JSON.parse(place.dataset.figure);
    Plotly.newPlot(place, figure.data, figure.layout, config);
  };
  const all = [...document.querySelectorAll("[data-figure]")];
  const seen = new IntersectionObserver((entries) => entries.forEach((one) => one.isIntersecting && draw(one.target)), { rootMargin: "400px" });
  all.forEach((place) => seen.observe(place));
  addEventListener("beforeprint", () => all.forEach(draw));
})();
