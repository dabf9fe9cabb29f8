/** Answers with a list: JSON that arrives in pieces is read as JSON.parse reads it whole, or refused. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { listIn } from '../../src/client/call/decode.ts';
import { autoDialect } from '../../src/client/call/dialect.ts';
import { type Json, parseJson } from '../../src/client/call/json.ts';
import { ListProblem, ListReader } from '../../src/client/lists/list-stream.ts';
import { failureIn } from '../../src/contract/envelope.ts';
import { brokenBytes, expectMessage, fuzz, toBytes } from './fuzz.ts';

interface Input {
  readonly bytes: string;
  /** The bytes that arrive at a time. */
  readonly size: number;
  readonly isPage: boolean;
}

type Read = { readonly list: readonly Json[] } | 'failing' | 'refused';

const record = fc.record({
  id: fc.oneof(fc.nat(), fc.uuid()),
  name: fc.string({ unit: 'grapheme', maxLength: 5 }),
  tags: fc.array(fc.record({ id: fc.nat(9) }), { maxLength: 2 }),
});
const list = fc.array(record, { maxLength: 4 });
const answer = fc.oneof(
  list,
  fc.record({ status: fc.constantFrom('success', 'error'), message: fc.constant('OK'), content: list }),
  fc.record({ data: fc.record({ items: list, total: fc.nat(9), next: fc.constant(null) }), errors: fc.constant([]) }),
);
const text = fc.tuple(answer, fc.constantFrom(0, 1)).map(([value, indent]) => JSON.stringify(value, null, indent));

fuzz('reads a list as JSON.parse reads it, or refuses it with a reason', {
  corpus: [
    ...[
      '',
      '[]',
      '{}',
      '[{"id":1}',
      '[{"id":1}]]',
      '{"content":[{"id":1}],"status":"error"}',
      '\u00ef\u00bb\u00bf[{"id":1}]',
    ],
    ...[
      '[{"id":9007199254740993}]',
      '{"content":null}',
      '[{"id":1,"name":"\u00ff"}]',
      '[{"id":1,"id":2}]',
      '"\\ud800"',
      '[{"id":1}}\n{"id":2},{"id":3}]',
    ],
  ].flatMap((bytes): Input[] => [1, 100].map((size) => ({ bytes, size, isPage: size === 1 }))),
  inputs: fc.record({
    bytes: brokenBytes(text, ['"content":', '[{"id":1}]', '"errors":[1]', '[]', '\\u', '"id":null,']),
    size: fc.integer({ min: 1, max: 64 }),
    isPage: fc.boolean(),
  }),
  check: (input) => expect(streamed(input)).toEqual(whole(input)),
});

function streamed({ bytes, size, isPage }: Input): Read {
  const reader = new ListReader('contacts', autoDialect, isPage);
  try {
    const all = toBytes(bytes);
    for (let at = 0; at < all.length; at += size) reader.write(all.subarray(at, at + size));
    const end = reader.end();
    return end.status === 'failing' ? 'failing' : { list: reader.take() ?? [] };
  } catch (error) {
    if (!(error instanceof ListProblem)) throw error;
    expectMessage(error.message);
    return 'refused';
  }
}

function whole({ bytes, isPage }: Input): Read {
  let body: Json;
  try {
    body = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(toBytes(bytes)));
  } catch {
    return 'refused';
  }
  if (failureIn(body) !== undefined) return 'failing';
  const found = listIn(body, autoDialect, 'contacts', { isPage });
  return found === undefined ? 'refused' : { list: found.list };
}
