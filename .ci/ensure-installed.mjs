// Plain Node without dependencies: ensures that this Node is new enough and that what package-lock.json names is
// installed, so that `npm run demo` and `npm test` work right after a clone.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

const OLDEST_NODE = [20, 19];

/** Ends the process with a message if Node is too old (exit code 2) or npm fails (3). */
export function ensureInstalled() {
  const problem = nodeProblem(process.versions.node);
  if (problem !== undefined) fail(2, `${problem} (${process.execPath})`);
  const why = whyInstall(root);
  if (why === undefined) return;
  process.stderr.write(`Installing dependencies, because ${why}: npm ci --ignore-scripts\n`);
  const { status, error } = runNpm(['ci', '--ignore-scripts']);
  if (error) fail(3, `npm cannot be started (${error.message}). Install npm, then run: npm ci --ignore-scripts`);
  if (status !== 0) fail(3, 'npm ci failed; see its output above. Fix that, then run the command again.');
}

/** What is wrong with a version of Node, if anything. */
export function nodeProblem(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return undefined;
  return `Lockstep needs Node ${OLDEST_NODE.join('.')} or newer, from https://nodejs.org; this is ${version}`;
}

/** Why an installation is needed; undefined when it is not. npm writes its own lockfile when it has finished. */
export function whyInstall(folder) {
  const installed = modifiedAt(path.join(folder, 'node_modules/.package-lock.json'));
  if (installed === undefined) return 'nothing is installed yet';
  const wanted = modifiedAt(path.join(folder, 'package-lock.json'));
  return wanted !== undefined && wanted > installed ? 'package-lock.json is newer than what is installed' : undefined;
}

function modifiedAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}

function runNpm(args) {
  const own = process.env.npm_execpath; // the npm that started this process, if one did
  const options = { cwd: root, stdio: ['ignore', 2, 2] }; // stdout belongs to the program that comes after
  if (own?.endsWith('.js')) return spawnSync(process.execPath, [own, ...args], options);
  return spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
}

function fail(exitCode, message) {
  process.stderr.write(`${message}\n`);
  process.exit(exitCode);
}
