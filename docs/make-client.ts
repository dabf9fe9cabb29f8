/** Writes docs/client.md from the table of operations: `npm run docs`. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { type OperationName, operationNames, operations } from '../src/contract/operations.ts';

const file = path.join(import.meta.dirname, 'client.md');

const HEAD = `# Lockstep as a library

Generated from \`src/contract/operations.ts\` by \`npm run docs\`. Both modules come with their types; a TypeScript project that checks
the types of its libraries too needs \`skipLibCheck: true\`, because some of their dependencies need it.

## A workspace in your own process

\`\`\`ts
import { startWorkspace } from 'lockstep';

const workspace = await startWorkspace({ config: 'config/lockstep.yaml' }); // what \`lockstep start\` does
const report = await workspace.runSync('nightly-contacts');
console.log(report.status, report.counts);
await workspace.close();
\`\`\`

## The client

\`\`\`ts
import { openClient } from 'lockstep/client';

const client = openClient({ baseUrl: 'https://sales.example.com', apiKey: process.env.ACME_KEY ?? '', requestsPerSecond: 5 });
const found = await client.contacts.search({ query: { search_term: 'ann' } });
if (found.status === 'applied') for (const contact of found.content) console.log(contact.email);
await client.close();
\`\`\`

A call never rejects for what the network or the service do. Its outcome has one of these as its \`status\`:

| status | means |
|---|---|
| \`applied\` | the service took it; \`content\` is the records of a list, the record of a get, else what came back |
| \`refused\` | the service said no, and nothing changed there |
| \`limited\` | over the rate: come back after \`retryAfterMs\`; nothing changed there |
| \`not-sent\` | it never left this process |
| \`unknown\` | it was sent, and may have been applied: look before sending it again |

Nothing is retried. The client makes \`requestsPerSecond\` calls a second at most, in this process; a budget that processes share is
part of a workspace. An integer that a number cannot hold exactly comes as an object with its \`digits\`.

Besides what the tables below say, every method takes \`signal\` and \`timeoutMs\`. A question mark means that it may be left out.
`;

/** The page, whole. */
export function renderClient(): string {
  return `${HEAD}\n${operationNames.map(renderOperation).join('\n')}`;
}

function renderOperation(name: OperationName): string {
  const { summary, method, path: route, params, query, body, list, repeatable, readBack } = operations[name];
  const inputs = [
    ['path', membersOf(params)],
    ['query', membersOf(query)],
    ['body', body ? membersOf(body) : ''],
  ].flatMap(([part, members]) => (members ? [`| \`${part}\` | ${members} |`] : []));
  const table = inputs.length === 0 ? [] : ['', '| takes | |', '|---|---|', ...inputs];
  const again = repeatable ? 'May be sent again.' : 'Sending it again does it again.';
  const shown = readBack === undefined ? '' : ` \`${readBack}\` shows whether it was applied.`;
  const pages = list === 'paged' ? ' One page of a list.' : list === 'all' ? ' A whole list.' : '';
  return [`### client.${name}`, '', `${summary}: \`${method} ${route}\`.${pages} ${again}${shown}`, ...table, ''].join(
    '\n',
  );
}

function membersOf(schema: z.ZodObject): string {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { unrepresentable: 'any' });
  return Object.keys(properties)
    .map((name) => `\`${name}${required.includes(name) ? '' : '?'}\``)
    .join(', ');
}

if (process.argv[1] === import.meta.filename) writeFileSync(file, renderClient());
