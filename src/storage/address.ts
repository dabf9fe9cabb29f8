/** A Postgres URL: checked before use, and shown without its password. */
import { type LockstepError, wrongUse } from '../base/errors.ts';

const EXAMPLE = 'postgres://user:password@host:5432/database';

/**
 * The URL for messages: `postgres://user:***@host:port/database`, without its options, which may hold a password too.
 * Throws DATABASE_URL_INVALID (exit code 2) if the text is not a Postgres URL; the message never repeats it.
 */
export function maskedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    throw invalid(`expected "embedded" or the form ${EXAMPLE}`);
  }
  // An unescaped "/", "#" or "?" in a password ends the host early, so the rest of the password would be shown.
  if (url.hash !== '' || url.pathname.includes('@') || url.search.includes('@')) {
    throw invalid('a "#", "/", "?" or "@" in the password has to be percent-encoded, such as %23 for "#"');
  }
  const user = url.username === '' ? '' : `${url.username}${url.password === '' ? '' : ':***'}@`;
  return `${url.protocol}//${user}${url.hostname}:${url.port || 5432}${url.pathname}`;
}

function invalid(reason: string): LockstepError {
  return wrongUse(`The database's URL (DATABASE_URL or database.url) is wrong: ${reason}`, 'DATABASE_URL_INVALID');
}
