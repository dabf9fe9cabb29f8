// Moves the cards of a board by drag and by arrow keys. Without it, the buttons of each card do the same.
const cardOf = (target) => target.closest?.('.board-card[draggable="true"]');

function markDrop(column) {
  for (const one of document.querySelectorAll('.board-column')) one.classList.toggle('drop', one === column);
}

/** The position in a column for a drop at this height: before the first card whose middle is below it. */
function positionAt(column, y, dragged) {
  const cards = [...column.querySelectorAll('.board-card')].filter((card) => card !== dragged);
  const at = cards.findIndex((card) => card.getBoundingClientRect().top + card.offsetHeight / 2 > y);
  return at < 0 ? cards.length : at;
}

let dragged;
document.addEventListener('dragstart', ({ target, dataTransfer }) => {
  dragged = cardOf(target);
  dataTransfer?.setData('text/plain', dragged?.id ?? '');
});
document.addEventListener('dragend', () => {
  dragged = undefined;
  markDrop(undefined);
});
document.addEventListener('dragover', (event) => {
  const column = dragged && event.target.closest?.('.board-column[data-column]');
  markDrop(column);
  if (column) event.preventDefault();
});
document.addEventListener('drop', (event) => {
  const column = dragged && event.target.closest?.('.board-column[data-column]');
  if (!column) return;
  event.preventDefault();
  const form = dragged.querySelector('form.moves');
  const to = document.createElement('input');
  Object.assign(to, {
    type: 'hidden',
    name: 'to',
    value: `${column.dataset.column}:${positionAt(column, event.clientY, dragged)}`,
  });
  form.append(to);
  form.requestSubmit();
});

document.addEventListener('keydown', (event) => {
  const { key, target, repeat } = event;
  if (repeat || !target.matches('.board-card')) return;
  const button = target.querySelector(`button[data-move="${key}"]`);
  if (!button) return;
  event.preventDefault();
  button.click();
});

// After a move, the focus stays on the card.
if (location.hash.startsWith('#card-')) document.getElementById(location.hash.slice(1))?.focus();

// A comment that is being written is there again after another card was moved or commented on.
const WRITTEN = `comments ${location.pathname}`;
document.addEventListener('submit', ({ target }) => {
  const written = [...document.querySelectorAll('.board-card textarea')].filter(
    ({ value, form }) => value !== '' && form !== target,
  );
  const kept = written.map((field) => [field.closest('.board-card').id, field.value]);
  sessionStorage.setItem(WRITTEN, JSON.stringify(kept));
});
for (const [card, text] of JSON.parse(sessionStorage.getItem(WRITTEN) ?? '[]')) {
  const field = document.querySelector(`#${CSS.escape(card)} textarea`);
  if (!field) continue;
  field.value = text;
  field.closest('details').open = true;
}
sessionStorage.removeItem(WRITTEN);
