/** Uses the embedded Postgres of the directory it is given until its stdin ends; tells on stdout how that went. */
import { startEmbedded } from '../../src/embedded/embedded.ts';
import { codeOf, messageOf } from '../../src/errors.ts';

const dataDir = process.argv[2] ?? '';
try {
  const postgres = await startEmbedded({ dataDir });
  process.stdout.write(`${JSON.stringify({ connection: postgres.connection })}\n`);
  for await (const _ of process.stdin);
  await postgres.close();
} catch (error) {
  process.stdout.write(`${JSON.stringify({ code: codeOf(error), message: messageOf(error) })}\n`);
}
