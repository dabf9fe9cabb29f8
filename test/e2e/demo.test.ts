import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { lockstep } from './cli-process.ts';

test('the demo imports a sample workspace, loads orders, mirrors a task, writes nothing twice, and leaves nothing behind', async () => {
  const cwd = await mkdtemp(path.join(os.tmpdir(), 'lockstep-demo-'));
  try {
    const { code, json, tookMs, stderr } = await lockstep(['demo', '--json'], { cwd });
    expect([code, stderr]).toEqual([0, '']);
    expect(json.first).toMatchObject({ status: 'done', scan: 'proven', counts: { in: 2_000, unknown: 0 } });
    expect(json.first.counts.created).toBeGreaterThan(1_500);
    expect(json.second.counts).toMatchObject({ in: 2_000, created: 0, updated: 0 });
    expect(json.load).toMatchObject({ status: 'done', counts: { in: 405, created: 399, unknown: 0 } });
    expect(json.baseline.counts).toMatchObject({ in: 100, unchanged: 100 });
    expect(json.mirrored).toMatchObject({ status: 'done', counts: { in: 100, updated: 1, unchanged: 99 } });
    expect(await readdir(path.join(cwd, '.lockstep'))).toEqual([]);
    expect(tookMs).toBeLessThan(60_000);
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
});
