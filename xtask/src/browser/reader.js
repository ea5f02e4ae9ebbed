'use strict';

// Acts as a reader of the page does, with keys and clicks, and says in `data-reader` of the root what does not work.
(() => {
  const wrong = [];
  const check = (is, words) => { if (!is) wrong.push(words); };
  const every = (selector, root = document) => [...root.querySelectorAll(selector)];
  const press = (target, key) => target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  const tip = document.querySelector('[role="tooltip"]');

  // Colours.
  const theme = document.getElementById('theme');
  const ground = () => getComputedStyle(document.body).backgroundColor;
  const before = ground();
  theme.click();
  check(ground() !== before, 'the switch of colours changes nothing');
  theme.click();
  check(ground() === before, 'the switch of colours does not go back');

  // Tables.
  for (const table of every('table.sortable')) {
    const rows = table.tBodies[0].rows;
    const folded = table.closest('details');
    if (folded) folded.open = true;
    every('thead button', table).forEach((button) => {
      const heading = button.closest('th');
      button.click();
      check(heading.getAttribute('aria-sort') === 'ascending', 'a press on a heading does not sort');
      const numbers = [...rows].map((row) => row.cells[heading.cellIndex].dataset.n);
      const known = numbers.filter((number) => number !== undefined).map(Number);
      check(known.every((number, at) => at === 0 || known[at - 1] <= number), 'numbers are not in their order');
      button.click();
      check(heading.getAttribute('aria-sort') === 'descending', 'a second press does not turn the order around');
    });
  }

  // Plots.
  for (const plot of every('figure.lines .plot, figure.dots .plot, figure.heat .plot')) {
    const name = plot.closest('figure').id;
    if (!plot.querySelector('[data-note], .tiles-area')) continue;
    check(plot.tabIndex === 0, `${name} is not reached by keys`);
    plot.focus();
    press(plot, 'ArrowRight');
    check(!tip.hidden && tip.textContent.length > 3, `${name}: an arrow key says nothing`);
    const box = tip.getBoundingClientRect();
    check(box.left >= 0 && box.right <= innerWidth + 1, `${name}: the tooltip is outside of the window`);
    press(document.body, 'Escape');
    check(tip.hidden, `${name}: Escape does not take the tooltip away`);
    plot.blur();
  }
  for (const toggle of every('.legend-buttons button')) {
    const off = () => every('.series.off', toggle.closest('figure')).length;
    toggle.click();
    check(off() === 1 && toggle.getAttribute('aria-pressed') === 'false', 'an entry of a legend does not hide its series');
    toggle.click();
    check(off() === 0, 'an entry of a legend does not show its series again');
  }

  // The machine.
  for (const player of every('.player')) {
    const slider = player.querySelector('input');
    const lit = () => every('.lit', player.closest('figure')).length;
    slider.value = slider.max;
    slider.dispatchEvent(new Event('input'));
    check(lit() > 0, 'the slider lights no strand');
    check(/thread \d+ of \d+ runs on CPU \d+/.test(player.querySelector('output').textContent), 'the slider says nothing');
  }

  // Everything is within the page's width; what is wider scrolls by itself.
  check(document.documentElement.scrollWidth <= innerWidth + 1, 'the page is wider than the window');
  const nameless = every('button, a, input, select, summary').filter((one) =>
    !(one.textContent.trim() || one.getAttribute('aria-label') || one.labels?.length));
  check(!nameless.length, `${nameless.length} controls have no name`);
  for (const picture of every('.plot svg')) {
    check((picture.getAttribute('aria-label') || '').length > 3, 'a picture has no text alternative');
  }
  document.documentElement.dataset.reader = wrong.length ? [...new Set(wrong)].join('; ').replaceAll('"', "'") : 'well';
})();
