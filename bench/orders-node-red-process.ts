/**
 * What a user of Node-RED would build instead of a load: a flow of its own nodes that reads the CSV, posts each line at a rate,
 * and posts it again on every error. `NODE_RED` names the folder in which `npm install node-red` was run.
 *   node orders-node-red-process.ts RIVAL_JSON
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Rival, RivalFigures } from './orders-rivals-process.ts';

/** What is used of Node-RED, which has no types of its own. */
interface NodeRed {
  init(server: unknown, settings: object): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface NodeRedRival extends Rival {
  readonly file: string;
  readonly dir: string;
}

const TRIES = 5;
const BACKOFF_MS = 250;

const rival: NodeRedRival = JSON.parse(process.argv[2] ?? '{}');
const { url, key, file, dir, numbers, ratePerSecond, timeoutMs } = rival;
const nodeRed: NodeRed = createRequire(path.join(process.env.NODE_RED ?? '', 'package.json'))('node-red');
const userDir = await mkdtemp(path.join(dir, 'node-red-'));
await writeFile(path.join(userDir, 'flows.json'), JSON.stringify(flow()));

let left = numbers.to - numbers.from;
const startedAt = performance.now();
await new Promise<void>((resolve, reject) => {
  const ended = () => {
    if (--left === 0) resolve();
  };
  nodeRed.init(createServer(), {
    userDir,
    flowFile: 'flows.json',
    httpAdminRoot: false,
    httpNodeRoot: false,
    functionGlobalContext: { ended },
    logging: { console: { level: 'off' } },
  });
  nodeRed.start().catch(reject);
});
const figures: RivalFigures = { ms: performance.now() - startedAt, queued: 0 };
await nodeRed.stop();
await rm(userDir, { recursive: true });
process.send?.(figures);
process.exit();

/** A flow as Node-RED stores it. */
function flow(): readonly object[] {
  const node = (id: string, type: string, to: readonly string[], rest: object) => ({
    id,
    type,
    z: 'load',
    x: 0, // without a position it would be a configuration
    y: 0,
    ...rest,
    wires: to.map((one) => [one]),
  });
  const request = `msg.url = ${JSON.stringify(`${url}/api/v1/orders/create`)}; msg.method = 'POST'; msg.tries = 0;
msg.headers = { API_KEY: ${JSON.stringify(key)}, 'content-type': 'application/json' };
msg.body = msg.payload; msg.requestTimeout = ${timeoutMs}; return msg;`;
  const judge = `if (msg.statusCode === 200 || ++msg.tries === ${TRIES}) { global.get('ended')(); return null; }
msg.payload = msg.body; msg.delay = ${BACKOFF_MS} * 2 ** (msg.tries - 1);
msg.headers = { API_KEY: ${JSON.stringify(key)}, 'content-type': 'application/json' }; return msg;`;
  return [
    { id: 'load', type: 'tab', label: 'load' },
    node('start', 'inject', ['read'], { once: true, onceDelay: 0.1, props: [] }),
    node('read', 'file in', ['lines'], { filename: file, filenameType: 'str', format: 'utf8', encoding: 'utf8' }),
    node('lines', 'csv', ['request'], { spec: 'rfc', sep: ',', hdrin: true, multi: 'one', strings: true, skip: '0' }),
    node('request', 'function', ['rate'], { func: request, outputs: 1 }),
    node('rate', 'delay', ['post'], {
      pauseType: 'rate',
      rate: `${ratePerSecond}`,
      nbRateUnits: '1',
      rateUnits: 'second',
      outputs: 1,
    }),
    node('post', 'http request', ['judge'], { method: 'use', ret: 'txt', paytoqs: 'ignore', url: '' }),
    node('judge', 'function', ['again'], { func: judge, outputs: 1 }),
    node('again', 'delay', ['rate'], { pauseType: 'delayv', timeout: '1', timeoutUnits: 'seconds', outputs: 1 }),
  ];
}
