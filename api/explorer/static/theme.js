// Sets the theme of the visitor before the first paint.
"use strict";
try {
  const theme = localStorage.getItem("birthmark.theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch { /* storage is blocked */ }
