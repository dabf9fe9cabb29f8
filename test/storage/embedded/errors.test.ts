import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { findPackage } from '../../../src/storage/embedded/binaries.ts';
import { startEmbedded } from '../../../src/storage/embedded/embedded.ts';
import { notWritable, startFailed } from '../../../src/storage/embedded/errors.ts';
import { anError } from '../../support/matchers.ts';
import { scratch } from './scratch.ts';

const newDir = scratch();

test('a data directory of another Postgres version is left alone and named', async () => {
  const dataDir = await newDir();
  fs.mkdirSync(path.join(dataDir, 'postgres/data'), { recursive: true });
  fs.writeFileSync(path.join(dataDir, 'postgres/data/PG_VERSION'), '15\n');
  const start = startEmbedded({ dataDir });
  await expect(start).rejects.toMatchObject({
    code: 'EMBEDDED_OTHER_VERSION',
    exitCode: 2,
    message: expect.stringMatching(`${dataDir} was written by Postgres 15; the embedded one is 18`),
  });
});

test('a data directory that cannot be made is named', async () => {
  const file = path.join(await newDir(), 'a-file');
  fs.writeFileSync(file, '');
  await expect(startEmbedded({ dataDir: path.join(file, 'data') })).rejects.toMatchObject(
    anError('EMBEDDED_NOT_WRITABLE', /a-file.*ENOTDIR.*--data DIR/s, 2),
  );
});

test("reports a Postgres that does not start with the last lines of this start's log", async () => {
  const dataDir = await newDir();
  await (await startEmbedded({ dataDir })).close();
  fs.appendFileSync(path.join(dataDir, 'postgres/data/postgresql.conf'), '\nnonsense_setting = 1\n');
  const error = await startEmbedded({ dataDir }).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: 'EMBEDDED_START_FAILED', exitCode: 2 });
  expect(error.message).toContain('unrecognized configuration parameter "nonsense_setting"');
  expect(error.message).not.toContain('database system is shut down');
});

test('a Postgres that runs where its socket cannot be seen is said to run elsewhere', async () => {
  const dataDir = await newDir();
  const postgres = await startEmbedded({ dataDir });
  fs.rmSync(postgres.connection.host, { recursive: true });
  const error = await startEmbedded({ dataDir }).catch((thrown) => thrown);
  expect(error).toMatchObject(anError('EMBEDDED_ELSEWHERE', dataDir, 2));
  await postgres.close();
  expect(fs.existsSync(path.join(dataDir, 'postgres/data/postmaster.pid'))).toBe(false);
});

test('a file in place of the data directory is to be moved, not made writable', async () => {
  const dataDir = path.join(await newDir(), 'data');
  fs.writeFileSync(dataDir, '');
  await expect(startEmbedded({ dataDir })).rejects.toMatchObject(
    anError('EMBEDDED_NOT_WRITABLE', /Move the file that is in its place/, 2),
  );
});

test('a platform without binaries is told to use a Postgres of its own', async () => {
  await expect(findPackage('linux-s390x')).rejects.toMatchObject(
    anError('EMBEDDED_NO_BINARIES', /linux-s390x.*DATABASE_URL/s, 2),
  );
});

test.each([
  ['a file could not be written', () => notWritable('/d', Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }))],
  ['a quota is used up', () => notWritable('/d', Object.assign(new Error('EDQUOT'), { code: 'EDQUOT' }))],
  ['initdb said so', () => startFailed('/d', 'initdb failed: could not write: No space left on device', '')],
  [
    'its log said so',
    () => startFailed('/d', 'it ended', 'FATAL:  could not write lock file: No space left on device'),
  ],
])('a full disk is called a full disk: %s', (_, make) => {
  expect(make()).toMatchObject({
    code: 'EMBEDDED_DISK_FULL',
    exitCode: 2,
    message: expect.stringMatching('Free some space'),
  });
});
