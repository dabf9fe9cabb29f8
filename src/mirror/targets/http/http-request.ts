/** The calls of an http target, filled with a change or an item. Pure. */
import type { HttpRequest } from '../../../settings/target-http.ts';
import type { Place, TemplateView } from '../../../settings/template.ts';
import type { TargetRequest } from '../calls/caller.ts';
import { type Render, type Rendered, renderer } from '../render.ts';

type Refused = Exclude<Rendered, { status: 'ok' }>;
type Filled =
  | { readonly status: 'ok'; readonly value: Omit<TargetRequest, 'body'> & { readonly json: string | undefined } }
  | Refused;

/** `where`: the setting of the call, such as targets.trello.items.read. */
export function requestFiller(request: HttpRequest, where: string): (view: TemplateView) => Filled {
  const part = (key: string, text: string, place: Place) => renderer({ text, place, where: `${where}.${key}` });
  const parts = (key: 'query' | 'headers', place: Place) =>
    Object.entries(request[key]).map(([name, text]) => [name, part(`${key}.${name}`, text, place)] as const);
  const path = part('path', request.path, 'path');
  const query = parts('query', 'text');
  const headers = parts('headers', 'header');
  const body = request.body === undefined ? undefined : part('body', request.body, 'json');

  return (view) => {
    const all = fillAll([['path', path], ...(body ? [['body', body] as const] : [])], view);
    if ('status' in all) return all;
    const asked = fillAll(query, view);
    if ('status' in asked) return asked;
    const sent = fillAll(headers, view);
    if ('status' in sent) return sent;
    const parameters = new URLSearchParams([...asked]).toString();
    const address = `${all.get('path') ?? ''}${parameters === '' ? '' : `?${parameters}`}`;
    const { method } = request;
    return { status: 'ok', value: { method, path: address, headers: lowerCased(sent), json: all.get('body') } };
  };
}

/** The filled parts by name, or the first that cannot be filled. */
function fillAll(parts: readonly (readonly [name: string, render: Render])[], view: TemplateView) {
  const filled = new Map<string, string>();
  for (const [name, render] of parts) {
    const rendered = render(view);
    if (rendered.status !== 'ok') return rendered;
    filled.set(name, rendered.text);
  }
  return filled;
}

function lowerCased(headers: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries([...headers].map(([name, value]) => [name.toLowerCase(), value]));
}
