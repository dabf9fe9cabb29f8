/** Servers often echo the secrets that they receive, encoded in some way. */

/** A character that JSON, addresses and pages may write in another way, and its forms. */
const ENCODABLE = /[^\w~-]/gu;
const ENCODED = '\\\\u[\\da-fA-F]{4}|\\\\.|(?:%[\\da-fA-F]{2})+|&#?\\w+;';

/** A shorter text is not a secret; removing it would garble the text. */
const MIN_SECRET_LENGTH = 4;

/** Call it before a text is cut: a part of a secret is secret, too. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  if (text === '') return '';
  // The longest first: removing a shorter secret must not leave the rest of a longer one.
  const longestFirst = secrets
    .filter(({ length }) => length >= MIN_SECRET_LENGTH)
    .toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((clean, secret) => clean.replaceAll(anyFormOf(secret), '***'), text);
}

function anyFormOf(secret: string): string | RegExp {
  const pattern = secret.replaceAll(ENCODABLE, (character) => `(?:\\${character}|${ENCODED})`);
  return pattern === secret ? secret : new RegExp(pattern, 'g');
}
