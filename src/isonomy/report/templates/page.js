(() => {
  const all = (what, where = document) => [...where.querySelectorAll(what)];
  const make = (tag, text, into) => { const made = document.createElement(tag); made.textContent = text; if (into) into.append(made); return made; };
  const root = document.documentElement;

  // light or dark
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const button = make("button", "", document.querySelector("header"));
  const named = () => { button.textContent = dark() ? "Light colours" : "Dark colours"; };
  button.type = "button";
  button.onclick = () => { root.dataset.theme = dark() ? "light" : "dark"; named(); };
  named();

  // tables: sort by a column, show the rows that hold some words
  const shown = cell => (cell.firstChild ? cell.firstChild.textContent : "").trim();
  const number = text => parseFloat(text.replace(/[,+<>]|at most/g, "").trim());
  all("table.data").forEach(table => {
    const body = table.tBodies[0], rows = [...body.rows], heads = all("thead th", table);
    if (rows.length > 1) heads.forEach((head, k) => {
      const words = head.textContent.trim();
      if (!words) return;
      head.textContent = "";
      const sort = make("button", words, head);
      sort.type = "button";
      sort.onclick = () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach(other => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const keyed = rows.map(row => [shown(row.cells[k]), row]);
        const numbers = keyed.some(([text]) => text && !isNaN(number(text)));
        keyed.sort(([a], [b]) => {
          if (!numbers) return (up ? 1 : -1) * a.localeCompare(b);
          const [x, y] = [number(a), number(b)];
          return isNaN(x) || isNaN(y) ? isNaN(x) - isNaN(y) : (up ? x - y : y - x);
        });
        body.append(...keyed.map(([, row]) => row));
      };
    });
    if (rows.length > 7) {
      const line = document.createElement("div");
      line.className = "filter";
      const label = make("label", "Show rows with ", line), input = make("input", "", label), told = make("output", "", line);
      input.type = "search";
      input.oninput = () => {
        const wanted = input.value.toLowerCase();
        rows.forEach(row => { row.hidden = !row.textContent.toLowerCase().includes(wanted); });
        told.textContent = wanted ? `${rows.filter(row => !row.hidden).length} of ${rows.length} rows` : "";
      };
      table.parentNode.before(line);
    }
  });
  const scrolls = () => all(".scroll").forEach(box => {
    const title = box.querySelector("caption") || box.closest("figure")?.querySelector("figcaption");
    box.dataset.name ??= box.getAttribute("aria-label") ?? title?.textContent ?? "";
    const wide = box.scrollWidth > box.clientWidth + 1, given = { tabindex: 0, role: "region", "aria-label": box.dataset.name };
    Object.entries(given).forEach(([name, value]) => wide ? box.setAttribute(name, value) : box.removeAttribute(name));
  });
  scrolls();
  addEventListener("resize", scrolls);
  document.addEventListener("toggle", scrolls, true);

  // charts: what a mark says, by pointer and by keyboard (arrows go from mark to mark)
  const tip = make("div", "", document.body);
  tip.id = "tip"; tip.hidden = true; tip.setAttribute("aria-hidden", "true");
  const tell = mark => {
    tip.textContent = mark.getAttribute("aria-label"); tip.hidden = false;
    const at = mark.getBoundingClientRect(), own = tip.getBoundingClientRect();
    const left = Math.max(4, Math.min(at.left + at.width / 2 - own.width / 2, innerWidth - own.width - 8));
    tip.style.left = `${left}px`;
    tip.style.top = `${at.top - own.height - 8 > 0 ? at.top - own.height - 8 : at.bottom + 8}px`;
  };
  const hush = () => { tip.hidden = true; };
  all("figure").forEach(figure => {
    const marks = all(".m", figure);
    marks.forEach((mark, k) => {
      const title = mark.querySelector("title");
      if (title) { mark.setAttribute("aria-label", title.textContent); title.remove(); }
      mark.setAttribute("role", "img");
      mark.tabIndex = k ? -1 : 0;
      mark.onpointerenter = mark.onfocus = () => tell(mark);
      mark.onpointerleave = mark.onblur = hush;
      mark.onkeydown = event => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (event.key === "Escape") hush();
        if (!step) return;
        event.preventDefault();
        const next = marks[(k + step + marks.length) % marks.length];
        mark.tabIndex = -1; next.tabIndex = 0; next.focus();
      };
    });
  });
  addEventListener("scroll", hush, true);

  // paper has nothing to unfold
  let folded = [];
  addEventListener("beforeprint", () => { folded = all("details:not([open])"); folded.forEach(one => { one.open = true; }); });
  addEventListener("afterprint", () => folded.forEach(one => { one.open = false; }));
})();
