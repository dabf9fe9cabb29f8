/** The header Link, as RFC 8288 specifies it. Pure. */

const LINK = /<([^>]*)>((?:\s*;\s*[^\s;,="]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)/g;
const RELATION = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i;

/** The address of the next page, as it is written in the header; undefined without one. */
export function nextLink(header: string | undefined): string | undefined {
  const links = [...(header ?? '').matchAll(LINK)];
  return links.find(([, , parameters = '']) => relationsIn(parameters).includes('next'))?.[1];
}

function relationsIn(parameters: string): readonly string[] {
  const [, quoted, bare = ''] = RELATION.exec(parameters) ?? [];
  return (quoted ?? bare).toLowerCase().split(/\s+/);
}
