/** One operation of the API: its address, its schemas, and what it does. The OpenAPI document is made from the same. */
import { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Examinations } from '../examinations.ts';
import type { Loads } from '../loads.ts';
import type { ConsoleNeeds } from '../needs.ts';
import type { Person } from '../people.ts';

export type ApiNeeds = ConsoleNeeds & { readonly loads: Loads; readonly examinations: Examinations };

export interface Endpoint {
  readonly name: string;
  readonly summary: string;
  readonly method: 'GET' | 'POST';
  /** After /api/v1, with `{name}` for parameters. */
  readonly path: string;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  readonly body: z.ZodObject | undefined;
  /** Whether the body is a file, which arrives as a stream. */
  readonly isFile: boolean;
  readonly answer: z.ZodType;
  /** @throws ZodError if the request does not fit; the LockstepErrors of what it does */
  readonly answerTo: (needs: ApiNeeds, request: ApiRequest) => Promise<unknown>;
}

interface ApiRequest {
  readonly person: Person;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

interface EndpointSpec<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodObject> {
  readonly name: string;
  readonly summary: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly params: Params;
  readonly query: Query;
  readonly body?: Body;
  readonly isFile?: boolean;
  readonly answer: z.ZodType;
  readonly work: (
    needs: ApiNeeds,
    given: {
      readonly person: Person;
      readonly params: z.output<Params>;
      readonly query: z.output<Query>;
      readonly body: z.output<Body>;
      /** The file, if the body is one. */
      readonly file: AsyncIterable<Uint8Array>;
    },
  ) => Promise<unknown>;
}

export function defineEndpoint<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodObject>(
  spec: EndpointSpec<Params, Query, Body>,
): Endpoint {
  const { params, query, body, work, isFile = false, ...rest } = spec;
  return {
    ...rest,
    params,
    query,
    body,
    isFile,
    answerTo: (needs, given) =>
      work(needs, {
        person: given.person,
        params: params.parse(given.params),
        query: query.parse(given.query),
        body: (body?.parse(given.body ?? {}) ?? {}) as z.output<Body>, // safe: without a schema it has no fields
        file: isFile && given.body instanceof Readable ? given.body : Readable.from([]),
      }),
  };
}
