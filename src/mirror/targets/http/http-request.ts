/** The calls of an http target, filled with a change or an item. Pure. */
import type { HttpRequest } from '../../../settings/target-http.ts';
import type { Place, TemplateView } from '../../../settings/template.ts';
import type { TargetRequest } from '../calls/caller.ts';
import { type Render, type Rendered, renderer } from '../render.ts';

type Refused = Exclude<Rendered, { status: 'ok' }>;
type Filled =
  | { readonly status: 'ok'; readonly value: Omit<TargetRequest, 'body'> & { readonly content: string | undefined } }
  | Refused;

const FORM = 'application/x-www-form-urlencoded';

/** `where`: the setting of the call, such as targets.trello.items.read. */
export function requestFiller(request: HttpRequest, where: string): (view: TemplateView) => Filled {
  const part = (key: string, text: string, place: Place) =>
    [key, renderer({ text, place, where: `${where}.${key}` })] as const;
  const parts = (key: 'query' | 'headers' | 'form', place: Place) =>
    Object.entries(request[key] ?? {}).map(([name, text]) => part(`${key}.${name}`, text, place));
  const { path, body, form, method } = request;
  const all = [
    part('path', path, 'path'),
    ...(body === undefined ? [] : [part('body', body, 'json')]),
    ...parts('query', 'text'),
    ...parts('form', 'text'),
    ...parts('headers', 'header'),
  ];

  return (view) => {
    const filled = fillAll(all, view);
    if ('status' in filled) return filled;
    const named = (key: 'query' | 'headers' | 'form') =>
      Object.keys(request[key] ?? {}).map((name): [string, string] => [name, filled.get(`${key}.${name}`) ?? '']);
    const parameters = new URLSearchParams(named('query').filter(([, text]) => text !== '')).toString();
    const address = `${filled.get('path') ?? ''}${parameters === '' ? '' : `?${parameters}`}`;
    const headers = Object.fromEntries(named('headers').map(([name, value]) => [name.toLowerCase(), value]));
    const call = { method, path: address };
    if (form === undefined) return { status: 'ok', value: { ...call, headers, content: filled.get('body') } };
    const content = new URLSearchParams(named('form')).toString();
    return { status: 'ok', value: { ...call, headers: { 'content-type': FORM, ...headers }, content } };
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
