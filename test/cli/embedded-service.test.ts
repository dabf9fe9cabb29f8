import { once } from 'node:events';
import net from 'node:net';
import { tmpdir } from 'node:os';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { EmbeddedService } from '../../src/cli/workspace/embedded-service.ts';
import { freshDatabase } from '../support/database.ts';

test('starts at the next use where the first could not start it', async () => {
  const database = await freshDatabase();
  onTestFinished(database.close);
  const other = net.createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as net.AddressInfo; // safe: it listens on a port
  const log = pino({ level: 'silent' });
  const service = new EmbeddedService({ database: { ...database, describe: 'a test' }, dataDir: tmpdir(), log });
  onTestFinished(() => service.close());
  const address = { host: '127.0.0.1', port };
  await expect(service.listen(address)).rejects.toThrow(/in use/);
  other.close();
  await once(other, 'close');
  expect((await service.listen(address)).url).toContain(`:${port}`);
});
