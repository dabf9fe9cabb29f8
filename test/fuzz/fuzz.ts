/**
 * Random input for code that reads foreign bytes. `npm test` tries the corpus, which has every input that once failed, and a
 * few dozen inputs of a fixed seed; `npm run fuzz` (run.ts) tries others for as long as it is told.
 */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LockstepError } from '../../src/base/errors.ts';

const { FUZZ_SEED = '1', FUZZ_MINUTES } = process.env;
const FEW = 48;
/** `npm run fuzz` fails for one input that takes longer. `npm test` does not: its time depends on the machine. */
const MAX_INPUT_MS = 10_000;

export interface Part<Input> {
  readonly corpus: readonly Input[];
  readonly inputs: fc.Arbitrary<Input>;
  /** Rejects if the input breaks the promise. */
  readonly check: (input: Input) => Promise<void> | void;
}

/** fast-check reports the seed and the shrunk input of a failure. */
export function fuzz<Input>(promise: string, { corpus, inputs, check }: Part<Input>): void {
  const limitMs = Number(FUZZ_MINUTES ?? 0) * 60_000;
  test(promise, { timeout: 120_000 + 2 * limitMs }, async () => {
    let tried = 0;
    const property = fc.asyncProperty(inputs, async (input) => {
      tried += 1;
      const begun = performance.now();
      await check(input);
      if (limitMs > 0) expect(performance.now() - begun, 'the time of one input, in ms').toBeLessThan(MAX_INPUT_MS);
    });
    const long = { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: limitMs, markInterruptAsFailure: false };
    const examples = corpus.map((input): [Input] => [input]);
    const length = limitMs > 0 ? long : { numRuns: examples.length + FEW };
    await fc.assert(property, { seed: Number(FUZZ_SEED), examples, ...length });
    if (limitMs > 0) process.stdout.write(`${tried} inputs of seed ${FUZZ_SEED}: ${promise}\n`);
  });
}

const ODD = [
  '',
  ' ',
  '\n',
  '\r',
  '\0',
  '\t',
  '"',
  "'",
  '\\',
  ',',
  ';',
  ':',
  '{',
  '}',
  '[',
  ']',
  '\u{feff}',
  '\u{2028}',
];
const WORDS = [
  'null',
  '-1',
  '1e999',
  '9007199254740993',
  '__proto__',
  'constructor',
  '<html>',
  '%',
  '\u{1f600}',
  '\ud83d',
];

/** Valid text in which up to four places were cut out, replaced, or filled with odd or given pieces. */
export function broken(valid: fc.Arbitrary<string>, pieces: readonly string[] = []): fc.Arbitrary<string> {
  const edit = fc.record({
    at: fc.nat(),
    cut: fc.oneof(fc.nat(3), fc.nat(3), fc.nat(300)),
    put: fc.oneof(fc.constantFrom(...ODD, ...WORDS, ...pieces), fc.string({ unit: 'binary', maxLength: 4 })),
  });
  return fc.tuple(valid, fc.array(edit, { maxLength: 4 })).map(([text, edits]) =>
    edits.reduce((rest, { at, cut, put }) => {
      const start = at % (rest.length + 1);
      return rest.slice(0, start) + put + rest.slice(start + cut);
    }, text),
  );
}

/** The same on bytes. A text has one character for each byte, so that a failing input can be copied into the corpus. */
export function brokenBytes(valid: fc.Arbitrary<string>, pieces: readonly string[] = []): fc.Arbitrary<string> {
  const bytes = broken(valid, pieces).map((text) => Buffer.from(text).toString('latin1'));
  return fc.oneof(
    bytes,
    broken(bytes, ['\u00ff', '\u0080']).map((text) => toBytes(text).toString('latin1')),
  );
}

export const toBytes = (text: string) => Buffer.from(text, 'latin1');

/** Runs `read` on a file of these bytes. Each test file has one such file, whose content is replaced. */
export function onFile<T>(
  name: string,
  read: (file: string, dir: string) => Promise<T>,
): (bytes: Buffer) => Promise<T> {
  let dir = '';
  beforeAll(async () => {
    dir = await fs.mkdtemp(path.join(os.tmpdir(), 'lockstep-fuzz-'));
  });
  afterAll(() => fs.rm(dir, { recursive: true, force: true }));
  return async (bytes) => {
    const file = path.join(dir, name);
    await fs.writeFile(file, bytes);
    return read(file, dir);
  };
}

/** A message for people has no remains of a value that was not there. */
export function expectMessage(message: string): void {
  expect(message.trim()).not.toBe('');
  expect(message).not.toMatch(/\bundefined\b|\[object |\bNaN\b|\{\w+\}/);
}

/** Fails unless it is an error that was thrown on purpose, as it is for the user. */
export function expectRefusal(error: unknown): void {
  if (!(error instanceof LockstepError)) throw error;
  expect(error.code).toMatch(/^[A-Z][A-Z_]+$/);
  expect(error.message.trim()).not.toBe('');
}
