/* What a picky reader finds on a page: words of too little contrast, words that are cut, controls without a name. */
() => {
  const numbers = (text) => text.match(/[\d.]+/g).map(Number);
  const rgba = (text) => {
    const [red, green, blue, alpha = 1] = numbers(text);
    return text.startsWith("color(srgb") ? [red * 255, green * 255, blue * 255, alpha] : [red, green, blue, alpha];
  };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const parents = (part) => part ? [part, ...parents(part.parentElement)] : [];
  const ground = (part) => parents(part).map((one) => rgba(getComputedStyle(one).backgroundColor))
    .reduceRight((under, top) => over(top, under), [255, 255, 255, 1]);
  const opacity = (part) => parents(part).reduce((all, one) => all * Number(getComputedStyle(one).opacity), 1);
  const luminance = (colour) => colour.slice(0, 3).map((value) => value / 255)
    .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (part) => {
    const style = getComputedStyle(part), under = ground(part);
    const [red, green, blue, alpha] = rgba(part.ownerSVGElement ? style.fill : style.color);
    const [low, high] = [over([red, green, blue, alpha * opacity(part)], under), under].map(luminance).sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const least = (style) => parseFloat(style.fontSize) >= 24 ? 3 : 4.5;
  const cut = (part, style) => (style.overflowX === "hidden" && style.textOverflow !== "ellipsis"
      && part.scrollWidth > part.clientWidth + 1)
    || (style.overflowY === "hidden" && style.webkitLineClamp === "none" && part.scrollHeight > part.clientHeight + 2);
  const told = (what, part) => `${what}: ${part.getAttribute("class")} "${part.textContent.trim().slice(0, 40)}"`;

  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const part = texts.currentNode.parentElement, box = part.getBoundingClientRect();
    const aside = part.closest(".sr, .skip, script, style, noscript, [disabled]");
    if (!texts.currentNode.textContent.trim() || aside || !part.checkVisibility() || box.width < 2) continue;
    const style = getComputedStyle(part);
    if (contrast(part) < least(style)) found.push(told(`contrast ${contrast(part).toFixed(2)}`, part));
    if (cut(part, style)) found.push(told("cut", part));
  }
  for (const control of document.querySelectorAll("button, a[href], input, [role=tab]")) {
    const words = [control.getAttribute("aria-label"), control.textContent, control.title, control.placeholder,
      control.labels?.[0]?.textContent];
    if (control.checkVisibility() && !words.some((word) => word?.trim())) found.push(told("no name", control));
  }
  for (const field of document.querySelectorAll("input, select")) { /* a placeholder goes as soon as one types */
    const named = field.getAttribute("aria-label") || field.labels?.[0]?.textContent.trim() || field.title;
    if (field.checkVisibility() && !named) found.push(told("only a placeholder", field));
  }
  const levels = [...document.querySelectorAll("h1, h2, h3, h4")].filter((one) => one.checkVisibility()).map((one) => Number(one.tagName[1]));
  levels.forEach((level, i) => { if (i && level > levels[i - 1] + 1) found.push(`heading of level ${level} after ${levels[i - 1]}`); });
  if (document.documentElement.scrollWidth > innerWidth) found.push("scrolls sideways");
  return [...new Set(found)];
}
