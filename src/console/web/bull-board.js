// What Bull Board leaves out for people who do not see its pages: names of buttons that are only an icon, and the levels of headings.
(() => {
  const NAMES = {
    maximize: 'Full screen',
    settings: 'How this page looks',
    'user-circle': 'Links',
    'more-vertical': 'More',
    copy: 'Copy',
  };

  function fix() {
    for (const [icon, name] of Object.entries(NAMES))
      each(`button:not([aria-label]):has(> .lucide-${icon})`, 'aria-label', name);
    each('header > a > img', 'alt', '');
    each('header > a > span', 'role', 'heading');
    each('header > a > span', 'aria-level', '1');
    each('h5', 'aria-level', '2');
    // It has a text, which is another one.
    for (const badge of document.querySelectorAll('[class^=workersBadge]')) badge.removeAttribute('aria-label');
  }

  function each(selector, attribute, value) {
    for (const element of document.querySelectorAll(selector)) element.setAttribute(attribute, value);
  }

  new MutationObserver(fix).observe(document.getElementById('root'), { childList: true, subtree: true });
})();
