/** The documents of vendors in test/vendors: whether a request, and a stand-in's answer to it, fit the vendor's own schemas. */
import { readFileSync } from 'node:fs';
import { Ajv2019 } from 'ajv/dist/2019.js';
import addFormats from 'ajv-formats';
import { noteExercised } from './exercised.ts';
import type { Reply, SeenRequest } from './http-server.ts';

export interface Contract {
  /** Why the vendor does not accept the request; undefined if it does. */
  requestProblem(request: SeenRequest): string | undefined;
  /** Why the vendor never gives this answer; undefined if it may. */
  replyProblem(request: SeenRequest, reply: Reply): string | undefined;
  /** Notes that a test has seen this answer to this operation. */
  note(request: SeenRequest, reply: Reply): void;
}

/** For a system without a document in test/vendors: its rules are all that is checked. */
export const UNDOCUMENTED: Contract = {
  requestProblem: () => undefined,
  replyProblem: () => undefined,
  note: () => undefined,
};

type Schema = Readonly<Record<string, unknown>>;

interface Operation {
  readonly query: Readonly<Record<string, { readonly required: boolean; readonly schema: Schema }>>;
  readonly body?: Schema;
  /** By status; null if the document does not describe the body. */
  readonly answers: Readonly<Record<string, Schema | null>>;
}

interface Document {
  readonly source: string;
  /** By method and path: `GET /tasks/{task_gid}`. */
  readonly operations: Readonly<Record<string, Operation>>;
  readonly components: Schema;
}

export function vendorFile(name: string): string {
  return readFileSync(new URL(`../vendors/${name}`, import.meta.url), 'utf8');
}

const contracts = new Map<string, Contract>();

/** `name`: the file in test/vendors, without its ending. Its schemas are compiled once for all tests of a worker. */
export function openApiContract(name: string): Contract {
  const known = contracts.get(name) ?? readContract(name);
  contracts.set(name, known);
  return known;
}

function readContract(name: string): Contract {
  const { components, operations } = JSON.parse(vendorFile(`${name}.json`)) as Document; // safe: a file of this repository
  const ajv = new Ajv2019({ strict: false, coerceTypes: true });
  addFormats.default(ajv);
  const schemas: Record<string, Schema> = {};
  ajv.addSchema({ $id: 'vendor', components, schemas });
  const known = Object.entries(operations).map(([named, operation]) => {
    const [method = '', template = ''] = named.split(' ');
    const path = new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    const { query, body, answers } = operation;
    schemas[`${named} query`] = querySchema(query);
    if (body !== undefined) schemas[`${named} body`] = closedSchema(body);
    for (const [status, answer] of Object.entries(answers)) schemas[`${named} ${status}`] = answer ?? {};
    return { ...operation, named, method, template, path };
  });

  /** A path without parameters comes before one with parameters that it would match. */
  function operationOf({ method, path }: SeenRequest) {
    const fitting = known.filter((each) => each.method === method && each.path.test(path));
    return fitting.find(({ template }) => template === path) ?? fitting[0];
  }

  function problemOf(schema: string, value: unknown): string | undefined {
    const pointer = encodeURIComponent(schema.replaceAll('~', '~0').replaceAll('/', '~1'));
    const validate = ajv.getSchema(`vendor#/schemas/${pointer}`);
    if (validate === undefined) return `there is no schema ${schema}`;
    return validate(value) ? undefined : ajv.errorsText(validate.errors);
  }

  return {
    requestProblem(request) {
      const operation = operationOf(request);
      if (operation === undefined) return 'the document has no such operation';
      const { named, query, body } = operation;
      const given = [...request.query].map(([key, value]) => {
        return [key, query[key]?.schema.type === 'array' ? value.split(',') : value];
      });
      const problem = problemOf(`${named} query`, Object.fromEntries(given));
      if (problem !== undefined) return `the query: ${problem}`;
      if (body === undefined) return request.body === '' ? undefined : 'it has a body';
      const wrong = problemOf(`${named} body`, JSON.parse(request.body));
      return wrong && `the body: ${wrong}`;
    },
    replyProblem(request, { status = 200, body }) {
      const operation = operationOf(request);
      if (operation === undefined || !(status in operation.answers)) return `the document has no answer ${status}`;
      const problem = problemOf(`${operation.named} ${status}`, structuredClone(body));
      return problem && `the answer ${status}: ${problem}`;
    },
    note(request, { status = 200 }) {
      const operation = operationOf(request);
      if (operation !== undefined && status in operation.answers) noteExercised(name, operation.named, String(status));
    },
  };
}

function querySchema(query: Operation['query']): Schema {
  const names = Object.entries(query);
  return {
    type: 'object',
    properties: Object.fromEntries(names.map(([name, { schema }]) => [name, schema])),
    required: names.flatMap(([name, { required }]) => (required ? [name] : [])),
    additionalProperties: false,
  };
}

/** Members that the document does not name are mistakes, in the body and in each of its members. */
function closedSchema(schema: Schema): Schema {
  const { properties: given = {} } = schema as { properties?: Record<string, Schema> };
  const inner = Object.entries(given).map(([name, each]) => [
    name,
    '$ref' in each ? { allOf: [each], unevaluatedProperties: false } : each,
  ]);
  const properties = inner.length === 0 ? {} : { properties: Object.fromEntries(inner) };
  return { allOf: [{ ...schema, ...properties }], unevaluatedProperties: false };
}
