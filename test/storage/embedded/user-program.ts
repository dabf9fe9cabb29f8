/** Uses the embedded Postgres of the given directory until its stdin ends; reports the result on stdout. */
import { codeOf, messageOf } from '../../../src/base/errors.ts';
import { startEmbedded } from '../../../src/storage/embedded/embedded.ts';

const dataDir = process.argv[2] ?? '';
try {
  const postgres = await startEmbedded({ dataDir });
  process.stdout.write(`${JSON.stringify({ connection: postgres.connection })}\n`);
  for await (const _ of process.stdin);
  await postgres.close();
} catch (error) {
  process.stdout.write(`${JSON.stringify({ code: codeOf(error), message: messageOf(error) })}\n`);
}
