/** Settings that are right one by one, and wrong together. */
import { expect, test } from 'vitest';
import { problemsIn, settingsOf } from './problems-in.ts';

test('a folder of order files belongs to one sync, also where the sync keeps its files', () => {
  const files = (name: string, folder: string) =>
    `  ${name}: { type: orders, account: demo, options: { folder: ${folder} } }\n`;
  const syncs = [
    files('a', 'in'),
    files('b', '/etc/in/'),
    files('c', './in/done'),
    files('d', 'in/eu'),
    files('e', 'in2'),
  ];
  expect(problemsIn(`accounts: { demo: {} }\nsyncs:\n${syncs.join('')}`)).toEqual([
    expect.stringContaining('syncs.b.options.folder: sync "a" watches this folder too: name another folder'),
    expect.stringContaining('syncs.c.options.folder: sync "a" keeps its files here: name another folder'),
  ]);
});

test('warns if the console and the health checks have one address, also the default', () => {
  const warned = (text: string) => settingsOf(`accounts: { demo: {} }\n${text}`).warnings;
  const clash = expect.stringContaining('health.listen: console.listen has the same port');
  expect(warned('health: { listen: 127.0.0.1:4000 }')).toEqual([clash]);
  expect(warned('health: { listen: 127.0.0.1:0 }\nconsole: { listen: 127.0.0.1:0 }')).toEqual([]);
});
