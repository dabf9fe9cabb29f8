/**
 * Simulates a vendor: a real server that is strict about every request (it reports anything unexpected), and
 * that breaks off, refuses or forgets to answer when a test says so.
 */
import type { ServerResponse } from 'node:http';
import { type Reply, type SeenRequest, startHttpServer } from './http-server.ts';
import type { Contract } from './vendor-contract.ts';

/** `lose`: the change is made, and the answer never arrives; `fail`: it is a 500. `break`: the change is not made. */
export type Twist = Reply | 'lose' | 'fail' | 'break' | ((request: SeenRequest) => Reply | Promise<Reply>);

export interface Rule {
  readonly method: string;
  readonly path: RegExp;
  readonly headers?: Readonly<Record<string, RegExp>>;
  /** The parameters and the members of the body that the vendor knows. */
  readonly query?: readonly string[];
  readonly body?: readonly string[];
  answer(request: SeenRequest, match: RegExpExecArray): Reply | Promise<Reply>;
}

export function rule(method: string, path: RegExp, answer: Rule['answer'], more: Partial<Rule> = {}): Rule {
  return { method, path, answer, ...more };
}

const JSON_TYPE = /^application\/json$/;

export interface VendorStandin {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** Requests that the vendor would not accept, and answers that it would never give; a test ends with none. */
  readonly complaints: readonly string[];
  /** The fault of the next request, or of the next request that matches. */
  next(twist: Twist, isMeant?: (request: SeenRequest) => boolean): void;
  connections(): number;
  /** Sent with every answer; default: the time of this machine. */
  serverTime?: Date;
  /** Called before a request is answered. */
  before?: (request: SeenRequest) => void;
  close(): Promise<void>;
}

/** `headers`: what every request must have. `contract`: what the vendor's own document says of requests and answers. */
export async function startVendor(
  contract: Contract,
  headers: Readonly<Record<string, RegExp>>,
  rules: readonly Rule[],
): Promise<VendorStandin> {
  const complaints: string[] = [];
  const redirects = new Set<string>();
  const twists: { readonly twist: Twist; readonly isMeant: (request: SeenRequest) => boolean }[] = [];
  const server = await startHttpServer(async (request, response) => {
    standin.before?.(request);
    const reply = await replyTo(request, response);
    if (reply !== undefined) contract.note(request, reply);
    const { serverTime } = standin;
    return reply && serverTime ? { ...reply, headers: { ...reply.headers, date: serverTime.toUTCString() } } : reply;
  });

  async function replyTo(request: SeenRequest, response: ServerResponse): Promise<Reply | undefined> {
    const found = twists.findIndex(({ isMeant }) => isMeant(request));
    const twist = found === -1 ? undefined : twists.splice(found, 1)[0]?.twist;
    const refused = problemOf(request);
    if (refused !== undefined) return refused;
    if (typeof twist === 'function') return twist(request);
    if (typeof twist === 'object') return twist;
    const reply = twist === 'break' ? undefined : await answer(request);
    if (twist === undefined) return reply;
    if (twist === 'fail') return { status: 500, body: {} };
    response.destroy();
    return undefined;
  }

  function problemOf(request: SeenRequest): Reply | undefined {
    const wanted = { ...headers, ...(request.body && { 'content-type': JSON_TYPE }), ...ruleFor(request)?.headers };
    for (const [header, pattern] of Object.entries(wanted)) {
      if (!pattern.test(String(request.headers[header]))) return complain(request, `${header} is wrong`);
    }
    const unknown = unknownTo(ruleFor(request), request);
    if (unknown !== undefined) return complain(request, `${unknown} is unknown`);
    // The document of a vendor does not describe the addresses that its redirects name.
    const problem = redirects.has(request.path) ? undefined : contract.requestProblem(request);
    return problem === undefined ? undefined : complain(request, problem);
  }

  function unknownTo({ query, body }: Partial<Rule> = {}, request: SeenRequest): string | undefined {
    const members = body && Object.keys(JSON.parse(request.body));
    return (
      [...request.query.keys()].find((name) => query?.includes(name) === false) ??
      members?.find((name) => body?.includes(name) === false)
    );
  }

  function ruleFor({ method, path }: SeenRequest): Rule | undefined {
    return rules.find((each) => each.method === method && each.path.test(path));
  }

  async function answer(request: SeenRequest): Promise<Reply> {
    const rule = ruleFor(request);
    const match = rule?.path.exec(request.path);
    if (rule === undefined || match === null || match === undefined) return complain(request, 'unexpected request');
    const reply = await rule.answer(request, match);
    if (redirects.has(request.path)) return reply;
    const { location } = reply.headers ?? {};
    if (location !== undefined) redirects.add(new URL(location, server.url).pathname);
    const problem = contract.replyProblem(request, reply);
    return problem === undefined ? reply : complain(request, problem);
  }

  function complain({ method, path }: SeenRequest, problem: string): Reply {
    const text = `${method} ${path}: ${problem}`;
    complaints.push(text);
    return { status: 418, body: text };
  }

  const standin: VendorStandin = {
    url: server.url,
    requests: server.requests,
    complaints,
    connections: server.connections,
    next: (twist, isMeant = () => true) => void twists.push({ twist, isMeant }),
    close: server.close,
  };
  return standin;
}
