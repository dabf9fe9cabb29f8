/** What tests ask a console for: its API, its pages and its forms. */
import type { Console } from '../../src/console/server.ts';

type At = Pick<Console, 'url'>;

/** Calls the API: by POST if there is a body, which is a CSV if it is text. Loosely typed: the assertions check the shape. */
export function apiOf({ url }: At) {
  return async (path: string, body?: string | object) => {
    const [type, sent] = typeof body === 'string' ? ['text/csv', body] : ['application/json', JSON.stringify(body)];
    const how = body !== undefined && { method: 'POST', headers: { 'content-type': type }, body: sent };
    const answer = await fetch(`${url}/api/v1${path}`, how || {});
    return { status: answer.status, json: JSON.parse(await answer.text()) };
  };
}

/** The HTML of a page. */
export async function pageAt({ url }: At, path: string): Promise<string> {
  return (await fetch(url + path)).text();
}

/** Sends a form, as a page of the console does. `from`: the page. */
export function postForm(
  { url }: At,
  path: string,
  fields: URLSearchParams | FormData | Readonly<Record<string, string>> = {},
  from = '/',
): Promise<Response> {
  const body = fields instanceof FormData ? fields : new URLSearchParams(fields);
  return fetch(url + path, { method: 'POST', headers: { origin: url, referer: url + from }, body, redirect: 'manual' });
}
