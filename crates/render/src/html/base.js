'use strict';

// Everything here is convenience: without it the page has all numbers, words and pictures.

const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// An element with its class and its text, which is never markup.
const make = (name, className, text) => {
  const made = document.createElement(name);
  made.className = className || '';
  if (text !== undefined) made.textContent = text;
  return made;
};

const calm = matchMedia('(prefers-reduced-motion: reduce)');

document.documentElement.classList.add('scripted');
for (const part of all('[data-scripted]')) part.hidden = false;

// The switch of colours: the system's choice until it is pressed.
{
  const root = document.documentElement;
  const button = document.getElementById('theme');
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : system.matches);
  const show = () => { button.textContent = isDark() ? 'Light colours' : 'Dark colours'; };
  // Pages out of a file may be refused a memory.
  try {
    const kept = localStorage.getItem('charz-theme');
    if (kept === 'dark' || kept === 'light') root.dataset.theme = kept;
  } catch { /* Then the choice is for this once. */ }
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    try { localStorage.setItem('charz-theme', root.dataset.theme); } catch { /* As above. */ }
    show();
  });
  system.addEventListener('change', show);
  show();
}

// A launch line goes to the clipboard, where the browser allows it; else it is selected.
for (const button of all('button.copy')) {
  const line = button.parentElement.querySelector('code');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(line.textContent);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(line);
    }
  });
}

// The entry of what is being read is marked.
{
  const entries = new Map(all('.contents a').map((entry) => [entry.hash.slice(1), entry]));
  const seen = new Set();
  const mark = () => {
    let current = null;
    for (const [id, entry] of entries) {
      if (seen.has(id)) current = current || entry;
      entry.removeAttribute('aria-current');
    }
    if (current) current.setAttribute('aria-current', 'true');
  };
  const watcher = new IntersectionObserver((changes) => {
    for (const change of changes) {
      if (change.isIntersecting) seen.add(change.target.id); else seen.delete(change.target.id);
    }
    mark();
  }, { rootMargin: '-10% 0px -60% 0px' });
  for (const id of entries.keys()) {
    const target = document.getElementById(id);
    if (target) watcher.observe(target);
  }
}
