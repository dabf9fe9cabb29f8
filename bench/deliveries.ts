/** Deliveries from the outbox to the last outcome, against a bare loop that posts the same bodies and keeps nothing. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { DeliveryFigures } from './deliveries-process.ts';
import { CONCURRENCY, figuresOf, median, run } from './processes.ts';
import type { Row } from './table.ts';

const COUNT = 20_000;
const LATENCY_MS = 5;
const TRIALS = 3;
const WANTED = 0.9;

export async function deliveries(): Promise<readonly Row[]> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  const receiver = run('deliveries-receiver-process', [String(LATENCY_MS)]);
  const [url] = await once(receiver, 'message');
  const post = (mode: 'deliver' | 'bare', data = dir) => {
    const args = [mode, String(url), String(COUNT), String(CONCURRENCY), data];
    return figuresOf<DeliveryFigures>(run('deliveries-process', args));
  };
  const trials: { readonly bareMs: number; readonly deliverMs: number }[] = [];
  try {
    for (let trial = 0; trial < TRIALS; trial++) {
      const bareMs = (await post('bare')).ms;
      trials.push({ bareMs, deliverMs: (await post('deliver', path.join(dir, String(trial)))).ms });
    }
  } finally {
    receiver.disconnect();
    await once(receiver, 'exit');
    await rm(dir, { recursive: true, force: true });
  }
  const ratio = median(trials.map(({ bareMs, deliverMs }) => bareMs / deliverMs));
  const seconds = trials.map(
    ({ bareMs, deliverMs }) => `${(deliverMs / 1000).toFixed(1)}/${(bareMs / 1000).toFixed(1)} s`,
  );
  return [
    {
      what: `${COUNT} deliveries, ${LATENCY_MS} ms latency: deliveries/s from the outbox to the ledger, against a bare loop`,
      wanted: `≥ ${WANTED} ×`,
      got: `${ratio.toFixed(2)} × (${seconds.join(', ')})`,
      isMet: ratio >= WANTED,
    },
  ];
}
