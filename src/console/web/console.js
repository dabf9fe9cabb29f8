// Shows times in the viewer's zone, copies commands, and says when the console cannot be reached. Every page works without it.
const format = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' });
/** In lists. */
const minutes = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short' });

function localTimes(root) {
  for (const time of root.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime);
    time.textContent = ('exact' in time.dataset ? format : minutes).format(at);
  }
}

function say(text) {
  const away = document.getElementById('away');
  away.hidden = text === undefined;
  away.textContent = text ?? '';
}

document.documentElement.classList.add('scripted');
localTimes(document);

document.addEventListener('click', async ({ target }) => {
  const button = target.closest('[data-copy]');
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.textContent = 'Copied';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 1500);
});

document.body.addEventListener('htmx:afterSwap', () => localTimes(document));

// A page that no one sees, or on which something is selected, stays as it is.
document.body.addEventListener('htmx:beforeRequest', (event) => {
  const { elt } = event.detail;
  if (document.hidden || elt.querySelector('input:checked')) event.preventDefault();
});

const shownAt = { time: new Date() };
document.body.addEventListener('htmx:afterRequest', ({ detail }) => {
  const { successful, xhr } = detail;
  if (successful) {
    shownAt.time = new Date();
    say(undefined);
    return;
  }
  const what = xhr.status === 0 ? 'Lockstep does not answer.' : 'The database is unavailable.';
  say(`${what} This page shows ${format.format(shownAt.time)}; it continues by itself.`);
});

// A key presses the button that names it, unless the person is writing.
document.addEventListener('keydown', (event) => {
  const { key, target, ctrlKey, metaKey, altKey, repeat } = event;
  if (ctrlKey || metaKey || altKey || repeat || target.closest('input, textarea, select')) return;
  const button = /^[\da-z]$/.test(key) ? document.querySelector(`button[data-key="${key}"]`) : undefined;
  button?.click();
});
