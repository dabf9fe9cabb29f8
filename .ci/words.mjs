// Checks for words that readers have to decode, and says what to write instead.
//   node .ci/words.mjs
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** Whole words, in any case; `*` is an optional ending: s, ed or ing. */
const INSTEAD = {
  'mend*': 'fix',
  anew: 'again',
  'once more': 'again',
  nobody: 'name who: "no worker", "no one"',
  somebody: 'name who: "the operator", "another process"',
  whoever: 'name who',
  'stands for': 'means',
  'for want of': 'because there is no',
  'is told of': 'receives',
  'are told of': 'receive',
  'sees to it': 'ensures',
  'with leave': 'if allowed',
  'say go': 'approve',
  'says go': 'approves',
  'said go': 'approved',
  'come away': 'drifted',
  'carries on': 'continues',
  'carry on': 'continue',
  'look after it': 'check progress',
  'bring in line': 'update',
  'brought in line': 'updated',
  'how sure': 'confidence',
  'for ever': 'endlessly',
  lest: 'so that … not',
  'goes on': 'continues',
  'go on': 'continue',
  'went on': 'continued',
  'taken for': 'treated as',
  'takes it for': 'treats it as',
  'now and then': 'occasionally',
  'in doubt': 'unknown outcome',
  'makes sure': 'ensures',
  'to blame': 'the cause',
  'looks so': 'looks like it',
  'stands in': 'is in',
  'stands at': 'is at',
  'stands there': 'is there',
  'came along': 'was copied',
  afresh: 'again',
  'is no object': 'is not an object',
  'is no json': 'is not JSON',
  'is no csv': 'is not a CSV',
  'is no number': 'is not a number',
  'is no base64': 'is not base64',
  goon: 'resume or continue, with a noun',
  placeof: 'what it is: checkpoint, position, path',
  keepplace: 'saveCheckpoint',
  istrouble: 'isFailure',
  marktrouble: 'markFailing',
  troublesince: 'failingSince',
};

const root = path.join(import.meta.dirname, '..');
const TEXTS = ['src', 'jobs', 'test', 'bench', 'docs', 'config', '.ci', '.github', '*.md'];
const SELF = '.ci/words.mjs';
const LISTED = ['ls-files', '--cached', '--others', '--exclude-standard'];
const names = execFileSync('git', [...LISTED, ...TEXTS], { cwd: root, encoding: 'utf8' }).split('\n');
const isText = (name) => /\.(tsx?|mjs|js|css|sql|md|yaml|yml|sh)$/.test(name) && name !== SELF;

const pattern = new RegExp(
  `(?<![\\w-])(?:${Object.keys(INSTEAD)
    .map((words) => words.replace(/ /g, '\\s+').replace('*', '(?:s|ed|ing)?'))
    .join('|')})(?![\\w-])`,
  'gi',
);

let found = 0;
for (const name of names.filter(isText)) {
  const file = path.join(root, name);
  if (!fs.existsSync(file)) continue;
  for (const [index, line] of fs.readFileSync(file, 'utf8').split('\n').entries()) {
    for (const [words] of line.matchAll(pattern)) {
      found++;
      process.stderr.write(`${name}:${index + 1}: "${words}": write ${insteadOf(words)}\n`);
    }
  }
}
if (found > 0) process.exitCode = 1;

function insteadOf(words) {
  const plain = words.toLowerCase().replace(/\s+/g, ' ');
  return INSTEAD[plain] ?? INSTEAD[`${plain.replace(/(s|ed|ing)$/, '')}*`];
}
