// Checks the layout: each room imports only the rooms it may, all below it, no files import one another in a circle, and no two rooms
// export functions of the same name.
//   node .ci/rooms.mjs [--write]     --write draws the picture in docs/architecture.md
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** From the top down: a room may import those that it names, never one above it. */
const ROOMS = {
  cli: {
    holds: 'commands, what they print, and the workspace of a process',
    imports: 'console jobs operator syncs mirror engine service settings client csv storage contract base',
  },
  console: {
    holds: 'the web pages and the JSON API of the role console',
    imports: 'operator syncs mirror engine settings client csv storage contract base',
  },
  jobs: {
    holds: 'one file per job: what a run does, phase by phase',
    imports: 'syncs mirror engine client csv storage base',
  },
  operator: {
    holds: 'what an operator reads and does, for the command line and the console: runs, reviews, alerts, the doctor',
    imports: 'syncs mirror engine settings client csv storage contract base',
  },
  syncs: {
    holds: 'what each sync decides: contacts, orders, and how a customer is recognised',
    imports: 'engine settings client csv storage contract base',
  },
  mirror: {
    holds: 'tasks → outside systems and back: scan, outbox, targets, links, inbound reports',
    imports: 'engine settings client csv storage contract base',
  },
  engine: {
    holds: 'runs every kind of sync: ledger, dispatcher, worker, account',
    imports: 'settings client storage contract base',
  },
  service: { holds: 'the embedded service, and its test bed', imports: 'storage contract base' },
  settings: { holds: 'schema, loader and secrets', imports: 'client csv contract base' },
  client: { holds: 'calls one service: HTTP, calls, lists, rate budget', imports: 'storage contract base' },
  csv: { holds: 'reads CSV files as people write them: encoding, columns, cells, results', imports: 'base' },
  storage: { holds: 'Postgres: pool, migrations, the embedded server', imports: 'base' },
  contract: { holds: 'records, operations, envelope, gaps, and what a target is', imports: 'base' },
  base: { holds: 'errors, reasons, clock, text: used everywhere', imports: '' },
};

/** Walls inside rooms: files under the first path import nothing under the others. */
const WALLS = [
  [
    'src/engine/ledger/',
    'src/engine/worker/',
    'src/engine/account/',
    'src/engine/dispatch/',
    'src/client/call/',
    'src/client/lists/',
  ],
  ['src/engine/dispatch/', 'src/engine/worker/', 'src/engine/account/', 'src/engine/ledger/'],
  [
    'src/mirror/targets/',
    'src/mirror/tasks/',
    'src/mirror/outbox/',
    'src/mirror/inbound/',
    'src/mirror/links/',
    'src/engine/',
  ],
  ['src/mirror/links/', 'src/mirror/tasks/', 'src/mirror/outbox/', 'src/mirror/inbound/'],
  ['src/mirror/tasks/', 'src/mirror/outbox/', 'src/mirror/inbound/'],
  ['src/mirror/outbox/', 'src/mirror/inbound/'],
  ['src/syncs/customers/', 'src/syncs/contacts/', 'src/syncs/orders/'],
  ['src/syncs/contacts/', 'src/syncs/orders/'],
  ['src/client/http/', 'src/client/call/', 'src/client/lists/', 'src/client/budget/'],
  ['src/client/budget/', 'src/client/call/', 'src/client/lists/', 'src/client/http/'],
  ['src/service/store/', 'src/service/handlers.ts'],
];

const PICTURE = 'docs/architecture.md';
const [BEGIN, END] = ['<!-- rooms: made by `node .ci/rooms.mjs --write` -->', '<!-- end of rooms -->'];
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g;
const FUNCTION = /^export (?:async )?(?:function\*? |const (?=\w+ = (?:async )?\())(\w+)/gm;

const order = Object.keys(ROOMS);
const root = path.join(import.meta.dirname, '..');
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'src', 'jobs'], {
  cwd: root,
  encoding: 'utf8',
});
const files = listed.split('\n').filter((file) => /\.tsx?$/.test(file) && fs.existsSync(path.join(root, file)));
const texts = new Map(files.map((file) => [file, fs.readFileSync(path.join(root, file), 'utf8')]));
const importsOf = new Map(files.map((file) => [file, importsIn(file)]));

const between = new Map();
const problems = [];
for (const [file, imports] of importsOf) for (const imported of imports) check(file, imported);
for (const circle of circles()) problems.push(`These files import one another in a circle: ${circle.join(', ')}`);
checkNames();
checkPicture();

const upward = [...between.keys()].filter((edge) => isUpward(...edge.split(' ')));
process.stdout.write(
  `rooms ${order.length}, imports between rooms ${between.size}, upward ${upward.length}, circles ${circles().length}\n`,
);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

function importsIn(file) {
  return [...texts.get(file).matchAll(IMPORT)].map(([, to]) => path.posix.join(path.posix.dirname(file), to));
}

function roomOf(file) {
  return file.startsWith('jobs/') ? 'jobs' : file.split('/')[1];
}

function check(file, imported) {
  for (const [inside, ...walled] of WALLS)
    if (file.startsWith(inside) && walled.some((outside) => imported.startsWith(outside)))
      problems.push(`${file} imports ${imported}: nothing under ${inside} may`);
  const [from, to] = [roomOf(file), roomOf(imported)];
  if (from === to || !/\.tsx?$/.test(imported)) return;
  if (!(from in ROOMS)) problems.push(`${file} is in no room: add ${from} to .ci/rooms.mjs`);
  else if (!ROOMS[from].imports.split(' ').includes(to))
    problems.push(`${file} imports ${imported}: ${from} may not import ${to}`);
  between.set(`${from} ${to}`, (between.get(`${from} ${to}`) ?? 0) + 1);
}

/** A reader would take one for the other. */
function checkNames() {
  const homes = new Map();
  for (const [file, text] of texts)
    for (const [, name] of text.matchAll(FUNCTION)) homes.set(name, (homes.get(name) ?? new Set()).add(roomOf(file)));
  for (const [name, rooms] of homes)
    if (rooms.size > 1)
      problems.push(`${[...rooms].join(' and ')} each export a function ${name}: give one of them another name`);
}

function isUpward(from, to) {
  return order.indexOf(from) > order.indexOf(to);
}

/** Strongly connected files, by Tarjan's algorithm. */
function circles() {
  const found = [];
  const numbers = new Map();
  const lowest = new Map();
  const stack = [];
  const visit = (file) => {
    numbers.set(file, numbers.size);
    lowest.set(file, numbers.get(file));
    stack.push(file);
    for (const next of importsOf.get(file) ?? []) {
      if (!importsOf.has(next)) continue;
      if (!numbers.has(next)) visit(next);
      if (stack.includes(next)) lowest.set(file, Math.min(lowest.get(file), lowest.get(next)));
    }
    if (lowest.get(file) !== numbers.get(file)) return;
    const circle = stack.splice(stack.indexOf(file));
    if (circle.length > 1) found.push(circle);
  };
  for (const file of files) if (!numbers.has(file)) visit(file);
  return found;
}

/** An import that another path implies is left out, and so is `base`, which every room imports. */
function picture() {
  const edges = [...between.keys()].map((edge) => edge.split(' ')).filter(([, to]) => to !== 'base');
  const reaches = (from, to) => edges.some(([a, b]) => a === from && (b === to || reaches(b, to)));
  const shown = edges.filter(([from, to]) => !edges.some(([a, b]) => a === from && b !== to && reaches(b, to)));
  const rooms = order.map((room) => `  ${room}["<b>${room}</b><br>${ROOMS[room].holds}"]`);
  return [
    BEGIN,
    '```mermaid',
    'flowchart TD',
    ...rooms,
    ...shown.sort().map(([from, to]) => `  ${from} --> ${to}`),
    '```',
    END,
  ].join('\n');
}

function checkPicture() {
  const file = path.join(root, PICTURE);
  const text = fs.readFileSync(file, 'utf8');
  const [before, rest = ''] = text.split(BEGIN);
  const drawn = `${before}${picture()}${rest.slice(rest.indexOf(END) + END.length)}`;
  if (process.argv.includes('--write')) fs.writeFileSync(file, drawn);
  else if (drawn !== text) problems.push(`${PICTURE} shows an older layout: run node .ci/rooms.mjs --write`);
}
