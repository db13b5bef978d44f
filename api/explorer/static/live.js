// Keeps an open page of a chain current by the chain's events. Elements with data-live are replaced by those of a new
// copy of the page. A notice at the head of the page reports reorganizations and changes of its subject.
"use strict";

// Buttons that copy the text of the element before them, or the command that requests their path. navigator.clipboard
// exists in secure contexts only.
(() => {
  document.documentElement.classList.add("scripted");
  const status = document.createElement("p");
  status.className = "quiet";
  status.setAttribute("role", "status");
  document.body.append(status);

  const copy = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const selection = getSelection(), copied = document.createElement("span");
    copied.textContent = text;
    document.body.append(copied);
    selection.selectAllChildren(copied);
    const done = document.execCommand("copy");
    selection.removeAllRanges();
    copied.remove();
    if (!done) throw new Error("the browser refused to copy");
  };
  const textOf = (button) => button.dataset.curl
    ? `curl '${new URL(button.dataset.curl, location).href.replaceAll("'", "%27")}'` : button.previousElementSibling.textContent.trim();

  document.addEventListener("click", async ({ target }) => {
    const button = target.closest?.(".copy");
    if (!button) return;
    try {
      await copy(textOf(button));
      button.classList.add("done");
      status.textContent = "Copied.";
    } catch {
      status.textContent = "The browser does not allow to copy.";
    }
    setTimeout(() => { button.classList.remove("done"); status.textContent = ""; }, 2000);
  });
})();

(() => {
  const $ = (id) => document.getElementById(id), tip = $("tip"), news = $("news");
  if (!tip || !news || !window.EventSource) return;
  const { events, chain } = tip.dataset;
  let { height, hash } = tip.dataset;
  let source, again, due, asked = 0, pending = false, fresh = true, complete = false;
  const live = document.querySelector("[data-live=page]");

  const say = (text) => {
    const a = document.createElement("a");
    a.href = location.pathname + location.search;
    a.textContent = "Refresh";
    news.replaceChildren(text + " ", a);
    news.hidden = false;
  };

  // Replaces the content of an element. The focus and unfolded details stay.
  const swap = (old, now) => {
    const focus = old.contains(document.activeElement) && document.activeElement.getAttribute("href");
    const first = (row) => row.querySelector("a")?.getAttribute("href");
    const known = new Set([...old.querySelectorAll("tbody tr")].map(first));
    for (const row of now.querySelectorAll("tbody tr")) row.classList.toggle("fresh", known.size > 0 && !known.has(first(row)));
    const folds = now.querySelectorAll("details");
    old.querySelectorAll("details").forEach((d, i) => { if (folds[i]) folds[i].open = d.open; });
    old.replaceChildren(...now.childNodes);
    old.dispatchEvent(new Event("swap", { bubbles: true }));
    if (focus) old.querySelector(`a[href="${CSS.escape(focus)}"]`)?.focus();
  };

  const refresh = async () => {
    due = undefined;
    asked = Date.now();
    try {
      const here = document.querySelector("[data-live=page]");
      const answer = await fetch(here ? location.pathname + location.search : chain);
      if (answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (here && !page.querySelector("[data-live=page]")) return location.reload(); // the transaction was confirmed
        for (const old of document.querySelectorAll("[data-live]")) {
          const now = page.getElementById(old.id);
          if (now) swap(old, now);
        }
        ({ height, hash } = page.getElementById("tip").dataset);
      }
    } catch { /* the next event refreshes the page */ }
    listen();
  };
  const soon = (wait) => { due ??= setTimeout(refresh, Math.max(wait, asked + 2000 - Date.now())); };

  const on = {
    tip(block) {
      if (block.hash !== hash) {
        ({ height, hash } = block);
        if (pending) say("New transactions.");
        else if (fresh && events.includes("follow=")) say("New blocks.");
        soon(0);
      }
      fresh = pending = false;
    },
    rollback({ to }) {
      const back = height - (to ? to.height : -1);
      pending = false;
      if (!hash || back < 1) return;
      height = to ? to.height : -1;
      hash = to?.hash;
      say(`Reorganization: ${back} block${back > 1 ? "s were" : " was"} replaced. This page may be outdated.`);
      soon(0);
    },
    pending() { if (complete) say("New unconfirmed transactions."); },
    mempool({ reset }) { // ends the unconfirmed transactions that the server sends at the start
      if (complete && live) soon(5000);
      complete = !reset;
    },
    output() { pending = true; },
    spend() { pending = true; },
  };

  const stop = () => {
    source?.close();
    source = undefined;
    clearTimeout(again);
  };

  function listen() {
    if (source || document.hidden) return;
    if ($("syncing")) return soon(3000); // events would be too many
    fresh = true; // the first event is the tip
    source = new EventSource(events);
    for (const name in on) source.addEventListener(name, (e) => on[name](JSON.parse(e.data)));
    source.onerror = () => { // it connects again by itself, unless it was refused
      if (source?.readyState === 2) {
        stop();
        again = setTimeout(listen, 15000);
      }
    };
  }

  // A page that nobody sees holds no connection: browsers have few.
  document.addEventListener("visibilitychange", () => { stop(); listen(); });
  addEventListener("pagehide", stop);
  addEventListener("pageshow", listen);
})();
