// Display settings: theme, unit of amounts, time zone. They are stored in the browser, so that a page is the same bytes
// for all visitors.
"use strict";
(() => {
  const page = document.documentElement, form = document.getElementById("display");
  const { symbol, smallest, decimals = "0" } = page.dataset;
  const load = (name) => { try { return localStorage.getItem("birthmark." + name) ?? ""; } catch { return ""; } };
  const store = (name, value) => {
    try { value ? localStorage.setItem("birthmark." + name, value) : localStorage.removeItem("birthmark." + name); } catch { /* storage is blocked */ }
  };
  const group = (digits) => digits.replace(/^0+(?=\d)/, "").replace(/\B(?=(\d{3})+$)/g, ",");
  const amount = new RegExp(`([\\d,]+)(?:\\.(\\d{0,${decimals}}))? ${symbol}`, "g");
  const inSmallest = (text) => text.replace(amount, (_, whole, fraction = "") =>
    `${group((whole + fraction.padEnd(decimals, "0")).replace(/\D/g, ""))} ${smallest}`);

  // The first content of changed nodes.
  const first = new WeakMap();
  const original = (node, read) => {
    if (!first.has(node)) first.set(node, read());
    return first.get(node);
  };

  const amounts = (root, small) => {
    if (!symbol || !smallest) return;
    for (const e of root.querySelectorAll(".amount")) {
      const nodes = original(e, () => [...e.childNodes]), text = nodes.map((n) => n.textContent).join("");
      const now = small && (decimals === "0" || text.includes(".")) ? inSmallest(text) : text; // without decimals it is rounded
      if (now === text) { if (e.dataset.small) { e.replaceChildren(...nodes); delete e.dataset.small; } continue; }
      const unit = document.createElement("span");
      unit.className = "unit";
      unit.textContent = smallest;
      e.replaceChildren(now.slice(0, -smallest.length), unit);
      e.dataset.small = "yes";
    }
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let n = texts.nextNode(); n; n = texts.nextNode()) {
      if (!first.has(n) && !n.data.includes(symbol) || n.parentElement.closest(".amount")) continue;
      const text = original(n, () => n.data);
      n.data = small ? inSmallest(text).replace(new RegExp(`, ${symbol}$`), ", " + smallest) : text;
    }
  };

  const two = (n) => String(n).padStart(2, "0");
  const zoned = (text, at) => {
    const zone = new Intl.DateTimeFormat("en", { timeZoneName: "short" }).formatToParts(at).find((p) => p.type === "timeZoneName").value;
    const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].slice(0, text.split(":").length).map(two).join(":");
    return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock} ${zone}`;
  };
  const spans = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60]];
  const age = (at) => {
    const s = (Date.now() - at) / 1000, [name, long] = spans.find(([, l]) => s >= l) ?? [];
    if (!name) return "just now";
    const n = Math.floor(s / long);
    return `${n} ${name}${n > 1 ? "s" : ""} ago`;
  };
  const times = (root, local) => {
    for (const e of root.querySelectorAll("time[datetime]")) {
      const { text, title } = original(e, () => ({ text: e.textContent, title: e.title }));
      const at = new Date(e.dateTime), shown = (t) => local && t.endsWith("UTC") ? zoned(t, at) : t;
      const aging = /ago$|^just now$/.test(text) && at <= Date.now() && !e.closest("[aria-live]"); // is not read aloud every minute
      const now = aging ? age(at) : shown(text);
      if (e.textContent !== now) e.textContent = now;
      if (title) e.title = shown(title);
    }
  };

  const apply = (root = document.body) => {
    amounts(root, load("amounts") === "smallest");
    times(root, load("times") === "local");
  };
  apply();

  // While the pointer is on a point of a chart, the title has the value.
  let shown = null;
  document.addEventListener("pointerover", ({ target }) => {
    const point = target.closest?.(".plot :is(a, g)"), at = point?.closest(".chart").querySelector(".at");
    if (shown && shown !== at) shown.textContent = "";
    if (at) at.textContent = point.querySelector("title").textContent;
    shown = at ?? null;
  });
  document.addEventListener("swap", (e) => apply(e.target));
  setInterval(() => { if (!document.hidden) times(document.body, load("times") === "local"); }, 60000);

  if (!form) return;
  for (const select of form.querySelectorAll("select")) {
    select.value = load(select.id);
    select.addEventListener("change", () => {
      store(select.id, select.value);
      if (select.id !== "theme") apply();
      else if (select.value) page.dataset.theme = select.value;
      else delete page.dataset.theme;
    });
  }
  form.hidden = false;
})();
