
// Tiles say their note by their place, whether a tile is an element or a dot of a picture.
for (const figure of all('figure.heat')) {
  const plot = figure.querySelector('.plot');
  const data = figure.querySelector('.tiles');
  const field = plot.querySelector('.tiles-area');
  if (!data || !field) continue;
  const [rows, columns] = [Number(data.dataset.rows), Number(data.dataset.columns)];
  if (!rows || !columns) continue;
  const [rowNames, columnNames, words] = all('ol', data).map((list) => [...list.children].map((item) => item.textContent));
  const places = data.dataset.tiles.split(' ');
  const note = (row, column) => {
    const word = words[places[row * columns + column]];
    return `${data.dataset.row} ${rowNames[row]}, ${data.dataset.column} ${columnNames[column]}: ${word}`;
  };
  const frame = make('div', 'frame');
  frame.hidden = true;
  plot.append(frame);
  let [row, column] = [-1, 0];
  const say = (aloud) => {
    const area = field.getBoundingClientRect();
    const [width, height] = [area.width / columns, area.height / rows];
    const [left, top] = [area.left + column * width, area.top + row * height];
    const outer = plot.getBoundingClientRect();
    frame.hidden = false;
    frame.style.left = `${left - outer.left + plot.scrollLeft}px`;
    frame.style.top = `${top - outer.top + plot.scrollTop}px`;
    frame.style.width = `${width}px`;
    frame.style.height = `${height}px`;
    tip.show(note(row, column), () => middle(frame), aloud);
  };
  const quiet = () => { frame.hidden = true; tip.hide(); };
  const point = (event) => {
    const area = field.getBoundingClientRect();
    const over = [(event.clientY - area.top) / area.height * rows, (event.clientX - area.left) / area.width * columns];
    const [down, right] = over.map(Math.floor);
    if (down < 0 || down >= rows || right < 0 || right >= columns) { quiet(); return; }
    [row, column] = [down, right];
    say(false);
  };
  plot.addEventListener('pointermove', point);
  plot.addEventListener('pointerdown', point);
  plot.addEventListener('pointerleave', quiet);
  plot.addEventListener('blur', quiet);
  answer(plot, 'arrow keys go from tile to tile', (key) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[key];
    if (!step) return false;
    if (row < 0) row = 0;
    else {
      row = Math.min(Math.max(row + step[0], 0), rows - 1);
      column = Math.min(Math.max(column + step[1], 0), columns - 1);
    }
    say(true);
    return true;
  });
}

// Pictures of pairs of times and of single times: what has a note says it.
for (const plot of all('figure.joint .plot, figure.nest .plot')) {
  plot.addEventListener('pointerover', (event) => {
    const part = event.target.closest('[data-note]');
    if (part && plot.contains(part)) tip.show(part.dataset.note, () => [event.clientX, event.clientY], false); else tip.hide();
  });
  plot.addEventListener('pointerleave', tip.hide);
}
