/** Plan files: one that is cut or changed is refused, or its hash shows that it was changed. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import { readPlan } from '../../src/cli/plan-file.ts';
import { brokenBytes, expectMessage, expectRefusal, fuzz, onFile, toBytes } from './fuzz.ts';

const write = fc.record({
  contact: fc.string(),
  action: fc.constantFrom('create', 'update'),
  fields: fc.object({ maxDepth: 1 }),
});
const plan = fc
  .tuple(fc.constantFrom('r1', 'r2'), fc.array(write, { maxLength: 5 }))
  .map(([id, writes]) =>
    [
      { lockstepPlan: 1, id, sync: 'nightly', madeAt: '2026-11-23T00:00:00Z' },
      ...writes,
      { end: id, writes: writes.length },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  );
const planIn = onFile('plan.ndjson', readPlan);
const HEAD = '{"lockstepPlan":1,"id":"r"}\n';

fuzz('reads the id of a whole plan, or refuses the file', {
  corpus: [
    '',
    '\n',
    HEAD,
    `${HEAD}{"end":"r","writes":0}\n`,
    `${HEAD}{"end":"s","writes":0}\n`,
    HEAD.replace('1', '2'),
    'null\n',
    '[]',
  ],
  inputs: brokenBytes(plan, ['"lockstepPlan":2', '"lockstepPlan":1.5', '"end":"r1"', '"id":', 'x'.repeat(20_000)]),
  async check(bytes) {
    const read = await planIn(toBytes(bytes)).catch((error: unknown) => {
      expectRefusal(error);
      expectMessage(String(error));
    });
    if (read === undefined) return;
    const lines = toBytes(bytes).toString().trimEnd().split('\n');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ lockstepPlan: 1, id: read.id });
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ end: read.id });
    expect(read.sha256).toBe(createHash('sha256').update(toBytes(bytes)).digest('hex'));
  },
});
