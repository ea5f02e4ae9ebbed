
// A tooltip for all plots, said to screen readers too. Escape takes it away.
const tip = (() => {
  const box = make('div', 'tip');
  box.setAttribute('role', 'tooltip');
  box.hidden = true;
  const said = make('div', 'unseen');
  said.setAttribute('role', 'status');
  document.body.append(box, said);
  let where = null;
  let byKey = false;
  let pinned = false;
  const hide = () => { if (!pinned) box.hidden = true; };
  const unpin = () => { pinned = false; box.classList.remove('pinned'); hide(); };
  const pin = () => { pinned = !box.hidden; box.classList.toggle('pinned', pinned); };
  // The number in large, what it is, and at most two lines on what speaks against it.
  const card = (text, runs) => {
    const [head, ...why] = text.split('; ');
    const cut = head.lastIndexOf(': ');
    box.replaceChildren(make('strong', 'value', head.slice(cut + 1).trim()));
    if (cut > 0) box.append(make('div', 'name', head.slice(0, cut)));
    for (const line of why.slice(0, 2)) box.append(make('div', 'why', line));
    if (why.length > 2) box.append(make('div', 'why', `and ${why.length - 2} more`));
    if (!runs) return;
    const NS = document.querySelector('.plot svg').namespaceURI;
    const strip = document.createElementNS(NS, 'svg');
    strip.setAttribute('viewBox', '-4 0 208 14');
    const places = runs.split(' ');
    for (const place of places) {
      const dot = document.createElementNS(NS, 'circle');
      for (const [key, value] of Object.entries({ cx: place * 2, cy: 7, r: 3.5, 'fill-opacity': 0.55 })) dot.setAttribute(key, value);
      strip.append(dot);
    }
    box.append(strip, make('div', 'name', `${places.length} runs, from the lowest to the highest`));
  };
  const place = () => {
    const [x, y] = where();
    const { width, height } = box.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    const above = y - height - 14;
    box.style.left = `${Math.max(Math.min(x - width / 2, clientWidth - width - 8), 8)}px`;
    box.style.top = `${above > 8 ? above : Math.min(y + 18, clientHeight - height - 8)}px`;
  };
  // `at` gives a place on the screen; `aloud` where a key asked for it.
  const show = (text, at, aloud, runs) => {
    if (pinned && !aloud) return;
    where = at;
    byKey = aloud;
    card(text, runs);
    if (aloud) said.textContent = text;
    box.hidden = false;
    place();
  };
  addEventListener('keydown', (event) => { if (event.key === 'Escape') unpin(); });
  // A key may have scrolled to what it asked for.
  addEventListener('scroll', () => { if (!box.hidden) { if (byKey) place(); else hide(); } }, { passive: true, capture: true });
  return { show, hide, pin, unpin };
})();

// What the pictures say by title elements, which browsers show late and to mice only, is said by the tooltip.
for (const picture of all('.plot svg')) {
  const title = picture.querySelector(':scope > title');
  if (title) {
    picture.setAttribute('aria-label', title.textContent);
    picture.removeAttribute('aria-labelledby');
    const words = picture.querySelector(':scope > desc');
    if (words) picture.setAttribute('aria-describedby', words.id);
    title.remove();
  }
  for (const part of all('title', picture)) {
    const owner = part.parentElement;
    owner.dataset.note = part.textContent;
    part.remove();
  }
}

const middle = (element) => {
  const box = element.getBoundingClientRect();
  return [box.left + box.width / 2, box.top + box.height / 2];
};

// Makes a plot answer the keyboard; `move` gets the key and says whether it was for it.
const answer = (plot, what, move) => {
  plot.tabIndex = 0;
  plot.setAttribute('role', 'group');
  const figure = plot.closest('figure');
  plot.setAttribute('aria-label', `${figure.querySelector('h3').firstChild.textContent.trim()}: ${what}`);
  plot.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (move(event.key)) event.preventDefault();
  });
  plot.addEventListener('blur', tip.hide);
  plot.addEventListener('pointerleave', tip.hide);
};

// Spots of lines and rows of dots: the nearest one to a pointer or a finger; arrow keys go along a series and to the next.
for (const plot of all('figure.lines .plot, figure.dots .plot')) {
  const spots = all('[data-note]', plot);
  if (!spots.length) continue;
  const seriesOf = (spot) => spot.closest('.series');
  const shown = () => spots.filter((spot) => !(seriesOf(spot) || spot).classList.contains('off'));
  let current = null;
  const say = (spot, aloud) => {
    if (current) current.classList.remove('current');
    current = spot;
    spot.classList.add('current');
    if (aloud) spot.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    tip.show(spot.dataset.note, () => middle(spot), aloud, spot.dataset.runs);
  };
  const quiet = () => { if (current) current.classList.remove('current'); };
  // Further away than a fingertip nothing is meant.
  const REACH = 32;
  const nearest = (event) => {
    let best = null;
    let least = REACH;
    for (const spot of shown()) {
      const [x, y] = middle(spot);
      const distance = Math.hypot(event.clientX - x, event.clientY - y);
      if (distance < least) { best = spot; least = distance; }
    }
    if (best) say(best, false); else { tip.hide(); quiet(); }
  };
  plot.addEventListener('pointermove', nearest);
  // A press pins what is shown, the next one takes it away.
  plot.addEventListener('pointerdown', (event) => { tip.unpin(); nearest(event); tip.pin(); });
  plot.addEventListener('pointerleave', quiet);
  plot.addEventListener('blur', quiet);
  answer(plot, 'left and right arrow keys go along the points, up and down to the next series', (key) => {
    const among = shown();
    if (!among.length) return false;
    const groups = [...new Set(among.map(seriesOf))];
    const start = current && among.includes(current) ? current : null;
    const own = among.filter((spot) => seriesOf(spot) === seriesOf(start || among[0]));
    const at = start ? own.indexOf(start) : -1;
    const next = (step) => {
      const group = groups[(groups.indexOf(seriesOf(start || among[0])) + step + groups.length) % groups.length];
      const others = among.filter((spot) => seriesOf(spot) === group);
      return others[Math.min(Math.max(at, 0), others.length - 1)];
    };
    const goal = {
      ArrowRight: () => own[Math.min(at + 1, own.length - 1)],
      ArrowLeft: () => own[Math.max(at - 1, 0)],
      ArrowDown: () => next(start ? 1 : 0),
      ArrowUp: () => next(start ? -1 : 0),
      Home: () => own[0],
      End: () => own[own.length - 1],
    }[key];
    if (goal) say(goal(), true);
    return Boolean(goal);
  });
}
