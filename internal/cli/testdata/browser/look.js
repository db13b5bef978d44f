// Checks the accessibility and the layout of a page: names of controls, contrast, width. An expression whose value is a
// function that runs the named checks, because contrast and width depend on the color scheme and the window.
(() => {
  const faults = [];
  const said = (e) => {
    const text = (e.textContent || '').trim().replace(/\s+/g, ' ').slice(0, 40);
    return `<${e.tagName.toLowerCase()}${e.id ? ' #' + e.id : ''}${e.className && e.className.baseVal === undefined ? ' .' + e.className : ''}> ${text}`;
  };
  // A value of an element that depends on its ancestors, computed once per element: each look evaluates this script.
  const inherited = (compute) => {
    const values = new Map();
    const of = (e) => {
      if (!e) return undefined;
      if (!values.has(e)) values.set(e, compute(e, of(e.parentElement)));
      return values.get(e);
    };
    return of;
  };
  const style = inherited((e) => getComputedStyle(e));
  const unclipped = inherited((e, above) => {
    if (above === false || style(e).clipPath !== 'none') return false;
    return style(e).position !== 'absolute' || e.getBoundingClientRect().right > 0;
  });
  const shown = (e) => e.checkVisibility({visibilityProperty: true, contentVisibilityAuto: true}) && unclipped(e);

  const nameOf = (e) => {
    const by = (e.getAttribute('aria-labelledby') || '').split(' ').map((id) => document.getElementById(id)?.textContent || '').join(' ');
    const labels = e.labels ? [...e.labels].map((l) => l.textContent).join(' ') : '';
    const alts = [...e.querySelectorAll('img[alt]')].map((i) => i.alt).join(' ');
    const titles = [...e.querySelectorAll('svg > title')].map((t) => t.textContent).join(' ');
    return (by || e.getAttribute('aria-label') || labels || e.textContent + alts + titles || e.getAttribute('title') || '').trim();
  };

  const frame = () => {
    const one = (selector) => {
      const n = document.querySelectorAll(selector).length;
      if (n !== 1) faults.push(`${n} of ${selector}, expected one`);
    };
    ['h1', 'main', 'head > title', 'body > header', 'html[lang]', 'meta[name=viewport]', 'meta[name=description]'].forEach(one);
    if (!document.title.trim()) faults.push('the page has no title');
    if (document.compatMode !== 'CSS1Compat') faults.push('the page has no doctype');
    const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
    ids.filter((id, i) => ids.indexOf(id) !== i).forEach((id) => faults.push(`two elements have the id ${id}`));
    let level = 0;
    for (const h of document.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
      const next = Number(h.tagName[1]);
      if (next > level + 1) faults.push(`${said(h)}: a heading of level ${next} after one of level ${level}`);
      level = next;
    }
    for (const e of document.querySelectorAll('a[href], button, input, select, textarea, summary, progress, meter')) {
      if (!nameOf(e)) faults.push(`${said(e)} has no name: ${e.outerHTML.slice(0, 120)}`);
    }
    for (const e of document.querySelectorAll('img:not([alt]), svg:not([aria-hidden=true]):not([role])')) {
      faults.push(`a picture without a name that is not hidden: ${e.outerHTML.slice(0, 120)}`);
    }
    for (const e of document.querySelectorAll('svg[role=img]')) {
      if (!nameOf(e)) faults.push(`a picture without a name: ${e.outerHTML.slice(0, 120)}`);
    }
    for (const e of document.querySelectorAll('table th')) {
      if (!e.getAttribute('scope')) faults.push(`${said(e)}: a header cell without scope`);
    }
    const navs = [...document.querySelectorAll('nav')].map((n) => n.getAttribute('aria-label') || '');
    if (navs.length > 1) navs.filter((n, i) => !n || navs.indexOf(n) !== i).forEach((n) => faults.push(`two of ${navs.length} navigations have the name "${n}"`));
    for (const e of document.querySelectorAll('[aria-labelledby], [aria-describedby], label[for]')) {
      for (const name of ['aria-labelledby', 'aria-describedby', 'for']) {
        for (const id of (e.getAttribute(name) || '').split(' ')) {
          if (id && !document.getElementById(id)) faults.push(`${said(e)}: ${name} names ${id}, which does not exist`);
        }
      }
    }
  };

  // Colors as the browser paints them, for every notation of CSS.
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  canvas.canvas.width = canvas.canvas.height = 1;
  const painted = new Map();
  const rgba = (colour) => {
    if (!painted.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      painted.set(colour, [r, g, b, a / 255]);
    }
    return painted.get(colour);
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  // The colors below a text in a picture, topmost first.
  const shapes = (e) => {
    e.scrollIntoView({block: 'center'});
    const r = e.getBoundingClientRect(), there = document.elementsFromPoint(r.x + r.width / 2, r.y + r.height / 2);
    return there.filter((s) => s !== e && !s.contains(e) && e.ownerSVGElement?.contains(s) && ['path', 'rect', 'circle', 'polygon'].includes(s.tagName))
      .map((s) => getComputedStyle(s)).map((s) => rgba(s.fill).with(3, rgba(s.fill)[3] * Number(s.fillOpacity))).filter((c) => c[3] > 0);
  };
  const background = inherited((e, above) => over(rgba(style(e).backgroundColor),
    above || rgba(matchMedia('(prefers-color-scheme: dark)').matches ? '#000' : '#fff')));
  const behind = (e) => {
    const layers = e.namespaceURI.endsWith('svg') ? shapes(e) : [];
    return layers.reverse().reduce((below, top) => over(top, below), background(e));
  };
  const opacity = inherited((e, above) => (above ?? 1) * Number(style(e).opacity));
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => (v /= 255, v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };

  // WCAG 2.2, 1.4.3: at least 4.5 to 1, for large text 3 to 1.
  const contrast = () => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const seen = new Set();
    for (let n = walker.nextNode(); n; n = walker.nextNode()) {
      const e = n.parentElement;
      if (!n.textContent.trim() || seen.has(e) || ['TITLE', 'DESC', 'SCRIPT', 'STYLE'].includes(e.tagName.toUpperCase()) || !shown(e)) continue;
      seen.add(e);
      const s = style(e), drawn = e.namespaceURI.endsWith('svg');
      const below = behind(e), c = rgba(drawn ? s.fill : s.color).slice();
      c[3] *= opacity(e);
      const [a, b] = [light(over(c, below)), light(below)].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05), size = parseFloat(s.fontSize), bold = Number(s.fontWeight) >= 700;
      const least = size >= 24 || bold && size >= 18.66 ? 3 : 4.5;
      if (ratio < least) faults.push(`${said(e)}: a contrast of ${ratio.toFixed(2)}, expected ${least}`);
    }
  };

  const width = () => {
    const have = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= have) return;
    const wide = [...document.body.querySelectorAll('*')].filter((e) => {
      if (e.getBoundingClientRect().right <= have + 1 || !shown(e)) return false;
      for (let up = e.parentElement; up; up = up.parentElement) {
        if (getComputedStyle(up).overflowX !== 'visible') return false;
      }
      return true;
    });
    faults.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${have}: ${wide.slice(-3).map(said).join('; ')}`);
  };

  // The labels of a picture of a transaction are visible, large enough, and do not overlap.
  const labels = () => {
    const texts = [...document.querySelectorAll('.flow text')].map((e) => [e, e.getBoundingClientRect()]);
    texts.forEach(([e, r], i) => {
      if (r.left < 0 || r.right > document.documentElement.clientWidth) faults.push(`${said(e)}: a label outside of the window, from ${r.left} to ${r.right}`);
      if (r.height < 8) faults.push(`${said(e)}: a label of ${r.height} pixels`);
      for (const [other, o] of texts.slice(i + 1)) {
        if (r.left < o.right && o.left < r.right && r.top + 3 < o.bottom && o.top + 3 < r.bottom) faults.push(`${said(e)} overlaps ${said(other)}`);
      }
    });
  };

  return (...what) => {
    faults.length = 0;
    what.forEach((name) => ({frame, contrast, width, labels})[name]());
    return [...new Set(faults)].slice(0, 20);
  };
})()
