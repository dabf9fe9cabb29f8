// Tells whether dist/ is up to date. An installed package has no sources and is always built.
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = ['src', 'jobs', '.ci'];
const A_SOURCE = 'src/cli/main.ts';

/** `root`: the folder of package.json. A build sets the modification time of main.js to the start of the build. */
export function isBuilt(root = fileURLToPath(new URL('../../..', import.meta.url))) {
  if (modifiedAtMs(path.join(root, A_SOURCE)) === undefined) return true;
  const builtAtMs = modifiedAtMs(path.join(root, 'dist/main.js'));
  return builtAtMs !== undefined && !SOURCES.some((folder) => hasNewer(path.join(root, folder), builtAtMs));
}

function hasNewer(folder, thanMs) {
  const atMs = modifiedAtMs(folder);
  if (atMs === undefined) return false;
  if (atMs > thanMs) return true; // a file was added or removed
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    const file = path.join(folder, entry.name);
    return entry.isDirectory() ? hasNewer(file, thanMs) : statSync(file).mtimeMs > thanMs;
  });
}

function modifiedAtMs(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
