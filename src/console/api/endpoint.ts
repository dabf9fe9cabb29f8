/** One operation of the API: its address, its schemas, and what it does. The OpenAPI document is made from the same. */
import { Readable } from 'node:stream';
import { z } from 'zod';
import type { Taking } from '../actions/actions.ts';
import { readGiven } from '../read-given.ts';
import type { SharedNeeds } from '../shared-needs.ts';

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
  /** @throws ZodError if the request does not fit, or has members that do not exist; the LockstepErrors of what it does */
  readonly answerTo: (needs: SharedNeeds, request: ApiRequest) => Promise<unknown>;
}

interface ApiRequest {
  readonly taking: Taking;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** Without `params` or `query` it takes none. */
interface EndpointSpec<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodObject>
  extends Pick<Endpoint, 'name' | 'summary' | 'answer'> {
  readonly route: `${Endpoint['method']} /${string}`;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly isFile?: boolean;
  readonly work: (
    needs: SharedNeeds,
    given: {
      readonly taking: Taking;
      readonly params: z.output<Params>;
      readonly query: z.output<Query>;
      readonly body: z.output<Body>;
      /** The file, if the body is one. */
      readonly file: Readable;
    },
  ) => Promise<unknown>;
}

const nothing = z.object({});

export function defineEndpoint<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodObject>(
  spec: EndpointSpec<Params, Query, Body>,
): Endpoint {
  const { route, params, query, body, work, isFile = false, ...rest } = spec;
  const [method, path] = route.split(' ') as [Endpoint['method'], string]; // safe: of this form
  const [ofQuery, ofBody] = [(query ?? nothing).strict(), (body ?? nothing).strict()];
  return {
    ...rest,
    method,
    path,
    params: params ?? nothing,
    query: ofQuery,
    body: body && ofBody,
    isFile,
    answerTo: (needs, given) => {
      // Safe: without a schema there are no fields.
      const read = <S extends z.ZodObject>(schema: z.ZodObject, value: unknown) =>
        readGiven(schema, value ?? {}) as z.output<S>;
      const file = isFile && given.body instanceof Readable ? given.body : undefined;
      return work(needs, {
        taking: given.taking,
        params: read<Params>(params ?? nothing, given.params),
        query: read<Query>(ofQuery, given.query),
        body: read<Body>(ofBody, file ? {} : given.body),
        file: file ?? Readable.from([]),
      });
    },
  };
}
