/** Writes docs/client.md from the table of operations: `npm run docs`. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { type OperationName, operationNames, operations } from '../src/contract/operations.ts';

const file = path.join(import.meta.dirname, 'client.md');

const HEAD = `# Lockstep as a library

Generated from \`src/contract/operations.ts\` by \`npm run docs\`. Both modules come with their types, for the module
resolutions \`nodenext\` and \`bundler\`. A TypeScript project also needs \`@types/node\` and \`@types/pg\`.

## A workspace in your own process

\`\`\`ts
import { startWorkspace } from 'lockstep';

const workspace = await startWorkspace({ config: 'config/lockstep.yaml' }); // what \`lockstep start\` does, without the console
const report = await workspace.runSync('nightly-contacts');
console.log(report.run, report.status, report.counts);
await workspace.close();
\`\`\`

\`startWorkspace\`, \`runSync\` and \`openClient\` throw errors with a stable \`code\` ([errors.md](errors.md)). A run that fails is no error: the
\`status\` of its report says so.

If an account uses the embedded service, the program serves it on port 4100. To choose another port, set \`port\`; 0 takes any free one.

## The client

\`\`\`ts
import { openClient } from 'lockstep/client';

const client = openClient({ baseUrl: 'https://sales.example.com', apiKey: process.env.ACME_KEY ?? '', requestsPerSecond: 5 });
const found = await client.contacts.search({ query: { search_term: 'ann' } });
if (found.status === 'applied') for (const contact of found.content) console.log(contact.email);
await client.close();
\`\`\`

A call rejects only if its options are wrong, for example if a path parameter is missing. A failure of the network or the service is an
outcome, whose \`status\` is one of these:

| status | means |
|---|---|
| \`applied\` | the service reported success; \`content\` has the records of a list, the record of a get, otherwise the answer |
| \`refused\` | the service refused the call, and nothing changed there; \`httpStatus\` and \`message\` say why |
| \`limited\` | the service asked for fewer calls: try again after \`retryAfterMs\`; nothing changed there |
| \`not-sent\` | the call was not sent; \`reason\` and \`message\` say why |
| \`unknown\` | the call was sent, and may have been applied: read the record before you send it again; \`reason\` and \`message\` say why |

The client repeats a call in three cases only, and once in each:

- The path seems to be missing. The client tries it under the other prefix.
- The path seems to be missing with a slash at its end, for which an earlier redirect asked. The client tries it without the slash.
- A read is redirected to the same path under the other prefix, or with a slash at its end. The client reads there.

The client makes \`requestsPerSecond\` calls a second at most. It does not know of other clients and processes with the same key; the
processes of a workspace share one budget. An integer that a number cannot hold exactly comes as an object with its \`digits\`.

Every method also takes \`signal\` and \`timeoutMs\` (1 to 3,600,000). In the table, a question mark means that a member may be left out. *Again* says whether a
call can be sent again: where it says no, each call is applied. *Shown by* names the read that shows whether a call was applied.

| method of \`client\` | calls | takes | returns | again | shown by |
|---|---|---|---|---|---|
`;

/** The page, whole. */
export function renderClient(): string {
  return `${HEAD}${operationNames.map(renderOperation).join('')}`;
}

function renderOperation(name: OperationName): string {
  const { method, path: route, params, query, body, list, repeatable, readBack } = operations[name];
  const takes = [
    ['path', membersOf(params)],
    ['query', membersOf(query)],
    ['body', body ? membersOf(body) : ''],
  ].flatMap(([part, members]) => (members ? [`\`${part}\`: ${members}`] : []));
  const returns = list === 'paged' ? 'a page of a list' : list === 'all' ? 'a whole list' : '';
  const shownBy = readBack === undefined ? '' : `\`${readBack}\``;
  const cells = [
    `\`${name}\``,
    `\`${method} ${route}\``,
    takes.join('<br>'),
    returns,
    repeatable ? 'yes' : 'no',
    shownBy,
  ];
  return `| ${cells.join(' | ')} |\n`;
}

function membersOf(schema: z.ZodObject): string {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { unrepresentable: 'any' });
  return Object.keys(properties)
    .map((name) => `\`${name}${required.includes(name) ? '' : '?'}\``)
    .join(', ');
}

if (process.argv[1] === import.meta.filename) writeFileSync(file, renderClient());
