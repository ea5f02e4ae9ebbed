
// Tables are sorted by their headings: a press for ascending, another for descending.
for (const table of all('table.sortable')) {
  const headings = [...table.tHead.rows[0].cells];
  const compare = new Intl.Collator('en', { numeric: true }).compare;
  const sort = (column, by) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => {
      const cell = row.cells[column];
      return { row, number: cell.dataset.n === undefined ? null : Number(cell.dataset.n), text: cell.textContent };
    });
    // What has no number comes last, whichever way.
    const order = (one, other) => {
      if (one.number === null || other.number === null) {
        if (one.number !== other.number) return one.number === null ? 1 : -1;
        return by * compare(one.text, other.text);
      }
      return by * (one.number - other.number);
    };
    rows.sort(order);
    body.append(...rows.map((one) => one.row));
  };
  headings.forEach((heading, column) => {
    if (heading.classList.contains('passport')) return;
    const button = make('button', 'sort', heading.textContent);
    button.type = 'button';
    heading.replaceChildren(button);
    heading.setAttribute('aria-sort', 'none');
    button.addEventListener('click', () => {
      const ascending = heading.getAttribute('aria-sort') !== 'ascending';
      for (const other of headings) if (other.hasAttribute('aria-sort')) other.setAttribute('aria-sort', 'none');
      heading.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
      sort(column, ascending ? 1 : -1);
    });
  });
}
