// The search box: "/" moves to it, and it suggests results while a visitor types (ARIA combobox with a list).
"use strict";
(() => {
  const box = document.getElementById("q"), form = box?.form;
  if (!form) return;
  const { api, base } = form.dataset;
  const list = document.createElement("ul"), news = document.createElement("span");
  list.id = "suggestions";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  news.className = "quiet";
  news.setAttribute("role", "status");
  form.append(list, news);
  for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-controls", list.id], ["aria-expanded", "false"], ["aria-keyshortcuts", "/"]]) {
    box.setAttribute(name, value);
  }

  let at = -1, due, request, shown = "";
  const options = () => list.children;
  const close = () => {
    list.hidden = true;
    list.replaceChildren();
    at = -1;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  };
  const select = (i) => {
    options()[at]?.setAttribute("aria-selected", "false");
    at = i;
    const option = options()[at];
    if (!option) return box.removeAttribute("aria-activedescendant");
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", option.id);
  };

  const count = (n) => n.toLocaleString("en-US");
  const kinds = { block: "block", tx: "transaction", output: "output", asset: "asset" };
  const path = (chain, r) => {
    const kind = r.type !== "value" ? r.type : r.index === "address" ? "address" : "index/" + encodeURIComponent(r.index);
    return `${chain}/${kind}/${encodeURIComponent(r.value)}`;
  };
  const note = (r) => {
    if (r.type === "asset") return r.name ?? "";
    if (r.height === undefined) return "never used";
    return (r.type === "block" ? "" : "block ") + count(r.height);
  };
  const part = (name, text) => {
    const e = document.createElement("span");
    e.className = name;
    e.textContent = text;
    return e;
  };
  const option = (chain, r, i) => {
    const e = document.createElement("li"), value = part("hash", "");
    e.id = "suggestion-" + i;
    e.setAttribute("role", "option");
    e.setAttribute("aria-selected", "false");
    e.dataset.href = path(base + (chain ? "/" + chain : ""), r);
    const tail = r.value.length > 16 ? r.value.slice(-6) : "";
    value.append(part("", r.value.slice(0, r.value.length - tail.length)), tail);
    e.append(part("badge", kinds[r.type] ?? r.index.replaceAll("_", " ")), " ", value, " ", part("faint", [chain, note(r)].filter(Boolean).join(", ")));
    return e;
  };

  // Texts that can be extended keys, descriptors, private keys or the words of a seed are not requested: logs have URLs.
  const secret = (text) => text.length > 110 || text.includes("(") || /^([a-z]p(ub|rv)[1-9A-HJ-NP-Za-km-z]|[5KLc][1-9A-HJ-NP-Za-km-z]{50,51}$)/i.test(text)
    || text.split(/\s+/).length > 7;
  const suggest = async () => {
    const text = shown = box.value.trim();
    request?.abort();
    if (secret(text) || text.length < 3 && !/^\d+$/.test(text)) return close();
    request = new AbortController();
    try {
      const answer = await fetch(`${api}?q=${encodeURIComponent(text)}`, { signal: request.signal });
      if (!answer.ok || text !== box.value.trim()) return;
      const found = await answer.json();
      const all = (found.chains ?? [{ results: found.results }]).flatMap((c) => c.results.map((r) => [c.name, r]));
      close();
      list.replaceChildren(...all.map(([chain, r], i) => option(chain, r, i)));
      list.hidden = all.length === 0;
      box.setAttribute("aria-expanded", String(all.length > 0));
      news.textContent = all.length === 1 ? "1 suggestion" : `${all.length} suggestions`;
    } catch { /* a newer text replaced the request, or the server is gone */ }
  };
  const go = (option) => { location.href = option.dataset.href; };

  box.addEventListener("input", () => {
    clearTimeout(due);
    due = setTimeout(suggest, 150);
  });
  box.addEventListener("focus", () => { if (box.value.trim() && box.value.trim() !== shown) suggest(); });
  box.addEventListener("blur", close);
  list.addEventListener("mousedown", (e) => { e.preventDefault(); }); // the box keeps the focus
  list.addEventListener("click", (e) => { const o = e.target.closest("li"); if (o) go(o); });
  box.addEventListener("keydown", (e) => {
    const n = options().length;
    if (e.key === "Escape" && n > 0) { e.preventDefault(); close(); }
    else if (n > 0 && e.key === "ArrowDown") { e.preventDefault(); select((at + 2) % (n + 1) - 1); }
    else if (n > 0 && e.key === "ArrowUp") { e.preventDefault(); select((at + n + 1) % (n + 1) - 1); }
  });
  form.addEventListener("submit", (e) => {
    if (at < 0) return;
    e.preventDefault();
    go(options()[at]);
  });
  document.addEventListener("keydown", (e) => {
    if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea, [contenteditable]")) return;
    e.preventDefault();
    box.focus();
    box.select();
  });
  // With a keyboard, visitors of an overview type. On a phone the focus would open the keyboard over the page.
  if (form.classList.contains("hero") && !matchMedia("(pointer: coarse)").matches && !location.hash) box.focus({ preventScroll: true });
})();
