import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '../..');

/** Code, tests and documents, with their paths from the root. */
const files = ['src', 'jobs', 'test', 'bench', 'config', 'docs']
  .flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => path.join(folder, file)),
  )
  .concat('README.md', 'CONTRIBUTING.md', ...readdirSync(root).filter((file) => file.startsWith('vitest.')))
  .filter((file) => /\.(tsx?|mjs|sql|yaml|md)$/.test(file))
  .map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }));

const headingsOf = (file: string): readonly string[] =>
  [...readFileSync(path.join(root, file), 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

test('every document that is named is in the repository', () => {
  const missing = files.flatMap(({ file, text }) =>
    [...text.replace(/https?:\S+/g, '').matchAll(/[\w./-]+\.md\b/g)]
      .map(([name]) => name)
      .filter((name) => ![name, path.join(path.dirname(file), name)].some((at) => existsSync(path.join(root, at))))
      .map((name) => `${file}: ${name}`),
  );
  expect(missing).toEqual([]);
});

test('every section that is cited is a heading of its document', () => {
  const missing = files.flatMap(({ file, text }) =>
    [...text.matchAll(/\b(docs\/[\w-]+\.md), "([^"\n]+)"/g)]
      .filter(([, document = '', heading = '']) => !headingsOf(document).includes(heading))
      .map(([citation]) => `${file}: ${citation}`),
  );
  expect(missing).toEqual([]);
});

test('every link to a section leads to a heading', () => {
  const documents = files.filter(({ file }) => file.endsWith('.md'));
  const missing = documents.flatMap(({ file, text }) =>
    [...text.matchAll(/\]\(([\w./-]*\.md)?#([\w-]+)\)/g)]
      .filter(([, document, anchor = '']) => {
        const target = document === undefined ? file : path.join(path.dirname(file), document);
        return !headingsOf(target).map(anchorOf).includes(anchor);
      })
      .map(([link]) => `${file}: ${link}`),
  );
  expect(missing).toEqual([]);
});

test('every assumption that is cited is in the table of assumptions', () => {
  const protocol = readFileSync(path.join(root, 'docs/protocol.md'), 'utf8');
  const known = [...protocol.matchAll(/^\| (A\d) \|/gm)].map(([, name]) => name);
  const cited = files.flatMap(({ text }) => [...text.matchAll(/\bassumptions? (A\d)(?: and (A\d))?/g)]);
  const names = cited.flatMap(([, one, other]) => [one, other]).filter((name) => name !== undefined);
  expect(names.length).toBeGreaterThan(0);
  expect([...new Set(names)].filter((name) => !known.includes(name))).toEqual([]);
});

test('every source file that a document names exists', () => {
  const paths = files.map(({ file }) => file);
  const cited = files
    .filter(({ file }) => file.endsWith('.md'))
    .flatMap(({ file, text }) =>
      [...text.matchAll(/`([\w./-]+\.(?:ts|tsx|mjs))`/g)]
        .filter(([, name = '']) => !name.includes('NAME') && !paths.some((known) => `/${known}`.endsWith(`/${name}`)))
        .map(([, name]) => `${file}: ${name}`),
    );
  expect(cited).toEqual([]);
});
