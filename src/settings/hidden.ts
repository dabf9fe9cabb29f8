/** Values that must not be shown by accident, in a log line, a job, an error or `JSON.stringify`. */
import { inspect } from 'node:util';

/** A secret text; everything that prints it shows `label` instead. */
export class Hidden {
  readonly #value: string;
  readonly #label: string;

  constructor(value: string, label = '***') {
    this.#value = value;
    this.#label = label;
  }

  /** The text itself. Call it where the text is used, and do not store the result. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return this.#label;
  }

  toJSON(): string {
    return this.#label;
  }

  [inspect.custom](): string {
    return this.#label;
  }
}

/** A URL that shows its host and path, and hides its password, its query's values and path segments as long as a token. */
export function hiddenUrl(url: string): Hidden {
  return new Hidden(url, maskUrl(url));
}

/** `url` in a form that may be shown; `***` if it is not a URL. */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return '***';
  const parsed = new URL(url);
  if (parsed.password !== '') parsed.password = '***';
  for (const name of new Set(parsed.searchParams.keys())) parsed.searchParams.set(name, '***');
  // Webhook URLs often have a secret in the path: a segment of 20 or more characters counts as one.
  parsed.pathname = parsed.pathname
    .split('/')
    .map((segment) => (segment.length >= 20 ? '***' : segment))
    .join('/');
  parsed.hash = '';
  return parsed.href;
}
