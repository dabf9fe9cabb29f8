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

// An open page receives what changes, from one stream. A page that no one sees has none: a browser keeps few of them.
const RETRY_MS = 2_000;
const last = { at: new Date(), hasFailed: false };
let stream;
let retrying;

function follow() {
  stream?.close();
  clearTimeout(retrying);
  const { at, mark } = document.getElementById('live')?.dataset ?? {};
  if (document.hidden || at === undefined) return;
  const address = new URL(at, location.href);
  address.searchParams.set('seen', mark);
  stream = new EventSource(address);
  let newest;
  stream.onmessage = ({ data }) => {
    const news = JSON.parse(data);
    if (news.go !== undefined) location.assign(news.go);
    else if (news.away !== undefined) sayAway(news.away);
    else {
      last.at = new Date();
      last.hasFailed = false;
      say(undefined);
      if (news.html !== undefined) newest = news;
      if (newest && !isInUse()) newest = show(newest);
    }
  };
  stream.onerror = () => {
    stream.close();
    // The second time in a row: a server that was restarted answers at once.
    if (last.hasFailed) sayAway('Lockstep does not answer.');
    last.hasFailed = true;
    retrying = setTimeout(follow, RETRY_MS);
  };
}

function sayAway(why) {
  say(`${why} This page shows ${format.format(last.at)}; it continues by itself.`);
}

/** Whether the person is selecting, writing or copying something on the page, which then stays as it is. */
function isInUse() {
  const live = document.getElementById('live');
  const selected = getSelection();
  const isTouched = ({ value, defaultValue, checked, defaultChecked }) =>
    value !== (defaultValue ?? value) || checked !== defaultChecked;
  return (
    (!selected.isCollapsed && live.contains(selected.anchorNode)) ||
    [...live.querySelectorAll('input, textarea')].some(isTouched) ||
    document.activeElement?.matches('#live select')
  );
}

/** Replaces the page; what was opened stays open, and htmx keeps the focus. */
function show({ html, mark, isStill }) {
  const live = document.getElementById('live');
  const opened = [...live.querySelectorAll('details[open] > summary[id]')].map(({ id }) => id);
  htmx.swap(live, html, { swapStyle: 'innerHTML', swapDelay: 0, settleDelay: 0 });
  for (const id of opened) document.getElementById(id)?.parentElement.setAttribute('open', '');
  live.dataset.mark = mark;
  if (!isStill) return;
  delete live.dataset.at;
  stream.close();
}

// htmx has put something in the page. A search that continues replaces all of it, with its address.
document.body.addEventListener('htmx:load', ({ target }) => {
  localTimes(target);
  if (target.id === 'live') follow();
});
document.addEventListener('visibilitychange', follow);
follow();

// A key presses the button that names it, unless the person is writing.
document.addEventListener('keydown', (event) => {
  const { key, target, ctrlKey, metaKey, altKey, repeat } = event;
  if (ctrlKey || metaKey || altKey || repeat || target.closest('input, textarea, select')) return;
  const button = /^[\da-z]$/.test(key) ? document.querySelector(`button[data-key="${key}"]`) : undefined;
  button?.click();
});
