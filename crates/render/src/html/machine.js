
// The machine's strands light up in the order in which a mapping fills them.
for (const figure of all('figure.nest')) {
  const player = figure.querySelector('.player');
  if (!player) continue;
  const choice = player.querySelector('select');
  const play = player.querySelector('.play');
  const slider = player.querySelector('input');
  const output = player.querySelector('output');
  const strands = new Map(all('.plot [data-strand]', figure).map((part) => [part.dataset.strand, part]));
  const orders = all('ol.order', figure).map((list) =>
    [...list.children].map((item) => ({ strand: item.dataset.s, words: item.textContent })));
  let timer = 0;

  const show = () => {
    const seats = orders[choice.selectedIndex];
    const workers = Number(slider.value);
    for (const part of strands.values()) part.classList.remove('lit', 'last');
    if (!seats.length) {
      output.textContent = 'the operating system places threads';
      return;
    }
    for (const seat of seats.slice(0, workers)) {
      const part = strands.get(seat.strand);
      if (part) part.classList.add('lit');
    }
    const last = seats[workers - 1];
    const part = last && strands.get(last.strand);
    if (part) part.classList.add('last');
    const drawn = last && !part ? ' (not drawn by itself)' : '';
    const words = last ? `thread ${workers} of ${seats.length} runs on ${last.words}${drawn}` : 'no thread yet';
    output.textContent = words;
    slider.setAttribute('aria-valuetext', words);
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = 'Play';
    play.setAttribute('aria-pressed', 'false');
    output.setAttribute('aria-live', 'polite');
  };
  const choose = () => {
    const seats = orders[choice.selectedIndex];
    stop();
    slider.max = String(seats.length);
    slider.value = String(Math.min(1, seats.length));
    slider.disabled = play.disabled = !seats.length;
    show();
  };
  const step = () => {
    slider.value = String(Number(slider.value) + 1);
    show();
    if (slider.value === slider.max) stop();
  };

  choice.addEventListener('change', choose);
  slider.addEventListener('input', () => { stop(); show(); });
  play.addEventListener('click', () => {
    if (timer) { stop(); return; }
    // Who wants less motion gets slow steps; a large machine is filled in some ten seconds.
    const pause = calm.matches ? 1500 : Math.min(700, Math.max(30, 10000 / Number(slider.max)));
    play.textContent = 'Stop';
    play.setAttribute('aria-pressed', 'true');
    // A screen reader could not keep up.
    output.setAttribute('aria-live', 'off');
    slider.value = '0';
    step();
    timer = Number(slider.max) > 1 ? setInterval(step, pause) : 0;
    if (!timer) stop();
  });
  // The first order that there is, not one that the system keeps to itself.
  choice.selectedIndex = Math.max(0, orders.findIndex((seats) => seats.length));
  choose();
}
