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
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = 'Copied';
  } catch {
    // Browsers allow it only over TLS and on this machine: the text is selected, for the person to copy.
    getSelection().selectAllChildren(button.previousElementSibling);
    button.textContent = 'Selected: press Ctrl+C';
  }
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 1500);
});

// An open page receives what changes, from a stream. A page that no one sees has none.
const RETRY_MS = 2_000;
/** A browser keeps six connections to a server: at most four tabs have a stream, and more tabs take turns. */
const SLOTS = ['live-1', 'live-2', 'live-3', 'live-4'];
const TURN_MS = 2_000;
const last = { at: new Date(), hasFailed: false };
const dataOf = () => document.getElementById('live')?.dataset ?? {};
/** Ends the stream, or the pause before it. */
let interrupt = () => undefined;

function pause(ms) {
  return new Promise((resolve) => {
    interrupt = resolve;
    if (ms !== undefined) setTimeout(resolve, ms);
  });
}

async function follow() {
  for (;;) {
    if (document.hidden || dataOf().at === undefined) await pause();
    else await inTurn(stream);
    if (last.hasFailed) await pause(RETRY_MS);
  }
}

/** Locks need TLS or this machine; without them the tabs of a browser are not counted. */
async function inTurn(work) {
  const { locks } = navigator;
  if (!locks) return work();
  for (const slot of SLOTS) {
    const isTaken = await locks.request(slot, { ifAvailable: true }, (lock) => lock && work(slot).then(() => true));
    if (isTaken) return;
  }
  const slot = SLOTS[Math.floor(Math.random() * SLOTS.length)];
  await locks.request(slot, () => (document.hidden ? undefined : work(slot)));
}

/** Resolves when the stream has ended. */
async function stream(slot) {
  const { at, mark } = dataOf();
  const address = new URL(at, location.href);
  address.searchParams.set('seen', mark);
  const source = new EventSource(address);
  let newest;
  const passOn = setInterval(async () => {
    const { pending } = (await navigator.locks?.query()) ?? { pending: [] };
    if (pending.some(({ name }) => name === slot)) interrupt();
  }, TURN_MS);
  source.onmessage = ({ data }) => {
    const news = JSON.parse(data);
    if (news.go !== undefined) {
      keepWritten();
      location.assign(news.go);
    } else if (news.away !== undefined) sayAway(news.away);
    else {
      last.at = new Date();
      last.hasFailed = false;
      say(undefined);
      if (news.html !== undefined) newest = news;
      if (newest && !isInUse()) newest = show(newest);
    }
  };
  source.onerror = () => {
    // The second time in a row: a server that was restarted answers at once.
    if (last.hasFailed) sayAway('Lockstep does not answer.');
    last.hasFailed = true;
    interrupt();
  };
  await pause();
  clearInterval(passOn);
  source.close();
}

function sayAway(why) {
  say(`${why} This page shows ${format.format(last.at)}; it continues by itself.`);
}

/** Whether the person is selecting, writing or copying something on the page, which then stays as it is. */
function isInUse() {
  const live = document.getElementById('live');
  const selected = getSelection();
  return (
    (!selected.isCollapsed && live.contains(selected.anchorNode)) ||
    [...live.querySelectorAll('input, textarea')].some(isTouched) ||
    document.activeElement?.matches('#live select')
  );
}

function isTouched({ value, defaultValue, checked, defaultChecked }) {
  return value !== (defaultValue ?? value) || checked !== defaultChecked;
}

/** What an element leads to, sends or copies, which stays the same when the page is read again; its words may change. */
function keyOf(element) {
  const attributes = ['id', 'href', 'name', 'value', 'aria-label'].map((name) => element.getAttribute(name));
  return [element.tagName, ...attributes, element.form?.getAttribute('action')].join('\n');
}

/** Returns a function that finds the same element after the page was replaced; of several, the one in the same place. */
function finder(live, element) {
  const key = keyOf(element);
  const same = () => [...live.querySelectorAll(element.tagName)].filter((one) => keyOf(one) === key);
  const place = same().indexOf(element);
  return () => same()[place];
}

/** Replaces the page; what was opened stays open, and the focus stays where it is. */
function show({ html, mark, isStill }) {
  const live = document.getElementById('live');
  const opened = [...live.querySelectorAll('details[open] > summary[id]')].map(({ id }) => id);
  const focused = live.contains(document.activeElement) ? finder(live, document.activeElement) : undefined;
  htmx.swap(live, html, { swapStyle: 'innerHTML', swapDelay: 0, settleDelay: 0 });
  for (const id of opened) document.getElementById(id)?.parentElement.setAttribute('open', '');
  focused?.()?.focus({ preventScroll: true });
  live.dataset.mark = mark;
  if (!isStill) return;
  delete live.dataset.at;
  interrupt();
}

// htmx has put something in the page. A search that continues replaces all of it, with its address.
document.body.addEventListener('htmx:load', ({ target }) => {
  localTimes(target);
  if (target.id === 'live') interrupt();
});
document.addEventListener('visibilitychange', () => interrupt());
follow();

// A key presses the button that names it, unless the person is writing, or reads something that lies over the page.
document.addEventListener('keydown', (event) => {
  const { key, target, ctrlKey, metaKey, altKey, repeat } = event;
  if (ctrlKey || metaKey || altKey || repeat || target.closest('input, textarea, select')) return;
  if (document.querySelector('dialog[open]')) return;
  const button = /^[\da-z]$/.test(key) ? document.querySelector(`button[data-key="${key}"]`) : undefined;
  button?.click();
});

// What a person has written in a form is there again after Back or a reload; after the form was refused; and after signing in, if the
// session had ended. Only that: the other fields show what is stored now.
const SENT = 'sent-form';
document.addEventListener('submit', ({ target: form }) => {
  if (location.pathname !== '/login') keepForm(form);
});
document.addEventListener('change', ({ target: { form } }) => {
  if (form?.method === 'post' && location.pathname !== '/login') keepInHistory(form);
});

function keepWritten() {
  const form = [...document.forms].find(({ elements }) => [...elements].some(isWritten));
  if (form) keepForm(form);
}

function keepForm(form) {
  try {
    sessionStorage.setItem(SENT, JSON.stringify(writtenIn(form)));
  } catch {
    sessionStorage.removeItem(SENT); // too large
  }
}

function keepInHistory(form) {
  try {
    history.replaceState({ ...history.state, written: writtenIn(form) }, '');
  } catch {
    // Too large, or too often.
  }
}

function writtenIn(form) {
  const fields = [...form.elements].filter(isWritten).map(({ name, value, checked }) => ({ name, value, checked }));
  return { page: location.href, action: form.getAttribute('action'), fields };
}

function isWritten(field) {
  if (field.type === 'file' || field.type === 'password') return false;
  if (field.type !== 'select-one') return isTouched(field);
  return (
    field.selectedIndex !==
    Math.max(
      0,
      [...field.options].findIndex(({ defaultSelected }) => defaultSelected),
    )
  );
}

const isChoice = ({ type }) => type === 'checkbox' || type === 'radio';

/** Returns whether the form is on this page. */
function fillAgain({ page, action, fields }) {
  const form = [...document.forms].find((one) => one.getAttribute('action') === action);
  if (new URL(page).pathname !== location.pathname || !form) return false;
  for (const field of form.elements) {
    const written = fields.find(
      ({ name, value }) => name === field.name && (!isChoice(field) || value === field.value),
    );
    if (written) field.closest('details')?.setAttribute('open', '');
    if (written && isChoice(field)) field.checked = written.checked;
    else if (written && !['hidden', 'submit', 'file'].includes(field.type)) field.value = written.value;
  }
  if (form.method === 'post') keepInHistory(form);
  return true;
}

function takeSent() {
  const sent = sessionStorage.getItem(SENT);
  sessionStorage.removeItem(SENT);
  return sent && JSON.parse(sent);
}

/** The page that follows a refused form may be another one, such as the one for signing in, which leads back to the form. */
const saysRefused = location.pathname === '/login' || document.querySelector('main :is(.said.bad, [data-refused])');
const sent = takeSent();
if (sent && (saysRefused || sent.isRefused)) {
  if (!fillAgain(sent) && saysRefused) sessionStorage.setItem(SENT, JSON.stringify({ ...sent, isRefused: true }));
} else if (history.state?.written) fillAgain(history.state.written);
