
// The legend of a plot, drawn on top of it, becomes buttons that show and hide its series.
for (const plot of all('figure.lines .plot, figure.dots .plot')) {
  const picture = plot.querySelector('svg');
  const legend = picture && picture.querySelector('.legend');
  const series = all('.series:not(.limit)', plot);
  if (!legend || !legend.querySelector('text')) continue;
  const NS = picture.namespaceURI;
  // A question mark is part of the sign before a name.
  const names = all(':scope > text:not(.halo)', legend);
  const bar = make('div', 'legend-buttons');
  bar.setAttribute('role', 'group');
  bar.setAttribute('aria-label', 'series');

  // What is drawn before a name, in a picture of its own.
  const key = (name) => {
    const signs = [];
    for (let part = name.previousElementSibling; part && !names.includes(part); part = part.previousElementSibling) {
      signs.unshift(part);
    }
    const numbers = ((signs[0] && signs[0].getAttribute('d')) || '0 0').match(/-?[\d.]+/g).map(Number);
    const isLine = signs[0] && signs[0].getAttribute('d').includes('h');
    const mean = (from) => {
      const every = numbers.filter((_, at) => at % 2 === from);
      return every.reduce((sum, number) => sum + number, 0) / every.length;
    };
    const [x, y] = isLine ? [numbers[0] + 14, numbers[1]] : [mean(0), mean(1)];
    const small = document.createElementNS(NS, 'svg');
    small.setAttribute('viewBox', `${x - 17} ${y - 9} 34 18`);
    small.setAttribute('aria-hidden', 'true');
    small.append(...signs.map((sign) => sign.cloneNode(true)));
    return small;
  };

  names.forEach((name) => {
    // Signs are of no series.
    const own = series.find((one) => one.dataset.series === (name.dataset.note || name.textContent));
    const entry = make(own && series.length > 1 ? 'button' : 'span');
    const full = own ? own.dataset.series : name.dataset.note || name.textContent;
    if (own && series.length > 1) {
      entry.type = 'button';
      entry.setAttribute('aria-pressed', 'true');
      entry.title = 'show or hide';
      entry.addEventListener('click', () => {
        const isOff = own.classList.toggle('off');
        entry.setAttribute('aria-pressed', String(!isOff));
      });
    }
    entry.append(key(name), make('span', '', full));
    bar.append(entry);
  });

  // The room that it had in the picture is given back.
  const [left, top, width, height] = (picture.getAttribute('viewBox') || '').split(/[ ,]+/).map(Number);
  const lines = names.map((name) => Number(name.getAttribute('y')));
  const ROW = 19;
  const cut = Math.max(...lines) - Math.min(...lines) + ROW;
  if (height > cut && Math.min(...lines) - top < 2 * ROW) {
    picture.setAttribute('viewBox', `${left} ${top + cut} ${width} ${height - cut}`);
    legend.remove();
    plot.before(bar);
  }
}
