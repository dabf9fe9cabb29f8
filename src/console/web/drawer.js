// A row opens beside its list, which stays as it is. Other clicks, such as with Ctrl, open its page, as every click does without this.
const drawer = document.createElement('dialog');
drawer.className = 'drawer';
document.body.append(drawer);
drawer.addEventListener('click', ({ target }) => {
  if (target === drawer) drawer.close(); // beside it
});

document.addEventListener('click', async (event) => {
  const link = event.target.closest('a[data-drawer]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const found = await read(link.href);
  if (!found) return location.assign(link.href); // it says why
  drawer.setAttribute('aria-label', found.querySelector('h1').textContent);
  drawer.replaceChildren(bar(link.href), ...found.children);
  localTimes(drawer);
  if (!drawer.open) drawer.showModal();
  drawer.scrollTo(0, 0);
});

/** The content of a page; undefined if it cannot be read, or the session has ended. */
async function read(address) {
  try {
    const answer = await fetch(address);
    if (!answer.ok || answer.redirected) return undefined;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const main = page.getElementById('main');
    for (const around of main.querySelectorAll('.crumbs, .kinds, .same')) around.remove();
    for (const named of main.querySelectorAll('#live, [id]')) named.removeAttribute('id'); // the page below has them too
    return main;
  } catch {
    return undefined;
  }
}

function bar(address) {
  const page = Object.assign(document.createElement('a'), { href: address, textContent: 'Open its page' });
  const close = Object.assign(document.createElement('button'), {
    type: 'button',
    textContent: 'Close',
    autofocus: true,
  });
  close.addEventListener('click', () => drawer.close());
  const made = document.createElement('div');
  made.className = 'drawer-bar';
  made.append(page, close);
  return made;
}
