/**
 * Simulates a vendor: a real server that is strict about every request (it reports anything unexpected), and
 * that breaks off, refuses or forgets to answer when a test says so.
 */
import { type Reply, type SeenRequest, startHttpServer } from './http-server.ts';

/** `lose`: the change is made, and the answer never arrives. `break`: the change is not made. */
export type Twist = Reply | 'lose' | 'break' | ((request: SeenRequest) => Reply);

export interface Rule {
  readonly method: string;
  readonly path: RegExp;
  /** The names of the query's parameters: the required ones, and after a ? the optional ones. */
  readonly query?: readonly string[];
  /** The same for the members of a body. */
  readonly body?: readonly string[];
  readonly headers?: Readonly<Record<string, RegExp>>;
  answer(request: SeenRequest, match: RegExpExecArray): Reply;
}

export interface VendorStandin {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** Requests that the vendor would not accept; a test ends with none. */
  readonly complaints: readonly string[];
  /** The fault of the next request, or of the next request that matches. */
  next(twist: Twist, isMeant?: (request: SeenRequest) => boolean): void;
  connections(): number;
  close(): Promise<void>;
}

/** `headers`: what every request must have. */
export async function startVendor(
  headers: Readonly<Record<string, RegExp>>,
  rules: readonly Rule[],
): Promise<VendorStandin> {
  const complaints: string[] = [];
  const twists: { readonly twist: Twist; readonly isMeant: (request: SeenRequest) => boolean }[] = [];
  const server = await startHttpServer((request, response) => {
    const found = twists.findIndex(({ isMeant }) => isMeant(request));
    const twist = found === -1 ? undefined : twists.splice(found, 1)[0]?.twist;
    if (typeof twist === 'function') return twist(request);
    if (typeof twist === 'object') return twist;
    const reply = twist === 'break' ? undefined : answer(request);
    if (twist === undefined) return reply;
    response.destroy();
    return undefined;
  });

  function answer(request: SeenRequest): Reply {
    const name = `${request.method} ${request.path}`;
    const rule = rules.find((each) => each.method === request.method && each.path.test(request.path));
    const match = rule?.path.exec(request.path);
    if (rule === undefined || match === null || match === undefined) return complain(`${name}: unexpected request`);
    const wanted = { ...headers, ...rule.headers, ...(rule.body && { 'content-type': /^application\/json$/ }) };
    for (const [header, pattern] of Object.entries(wanted)) {
      if (!pattern.test(String(request.headers[header]))) return complain(`${name}: ${header} is wrong`);
    }
    const query = namesProblem([...request.query.keys()], rule.query ?? []);
    if (query !== undefined) return complain(`${name}: the query ${query}`);
    const problem = bodyProblem(request.body, rule.body);
    return problem === undefined ? rule.answer(request, match) : complain(`${name}: ${problem}`);
  }

  function complain(text: string): Reply {
    complaints.push(text);
    return { status: 418, body: text };
  }

  return {
    url: server.url,
    requests: server.requests,
    complaints,
    connections: server.connections,
    next: (twist, isMeant = () => true) => void twists.push({ twist, isMeant }),
    close: server.close,
  };
}

function bodyProblem(body: string, names: Rule['body']): string | undefined {
  if (names === undefined) return body === '' ? undefined : 'has a body';
  const problem = namesProblem(Object.keys(JSON.parse(body) as object), names);
  return problem === undefined ? undefined : `the body ${problem}`;
}

function namesProblem(given: readonly string[], names: readonly string[]): string | undefined {
  const allowed = names.map((name) => name.replace(/^\?/, ''));
  const unknown = given.find((name) => !allowed.includes(name));
  const missing = names.find((name) => !name.startsWith('?') && !given.includes(name));
  return unknown === undefined && missing === undefined ? undefined : `has ${given.join(', ')}`;
}
