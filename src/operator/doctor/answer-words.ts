/** Describes an answer for the report; never shows a value of a record. */
import { looksLike } from '../../client/call/decode.ts';
import { isJsonArray, isJsonObject } from '../../client/call/dialect.ts';
import type { Look } from './caller.ts';

/** `HTTP 404 with JSON`, `HTTP 200 with an HTML page`, `nothing: the connection was refused …` */
export function answerWords(look: Look): string {
  const { httpStatus, outcome } = look;
  if (httpStatus === undefined) return 'message' in outcome ? outcome.message : 'no answer';
  return `HTTP ${httpStatus} with ${bodyWords(look)}`;
}

export function bodyWords({ body, json, outcome }: Look): string {
  if (body.trim() === '') return 'an empty body';
  if (json === undefined) {
    if (outcome.status === 'unknown' && outcome.reason === 'too-large') return 'a body over the size limit';
    return looksLike(body);
  }
  if (outcome.status === 'refused' && outcome.httpStatus < 300) return 'an envelope that reports a failure';
  if (isJsonArray(json)) return 'a JSON list';
  return isJsonObject(json) ? 'a JSON object' : `the JSON ${json === null ? 'null' : typeof json}`;
}

/** Why a call returned no list, as a message of the service or the client. */
export function whyNot({ outcome }: Look): string {
  if (outcome.status === 'applied') return 'the answer has no list';
  if (outcome.status === 'limited') return `the service asked to slow down (HTTP ${outcome.httpStatus})`;
  return outcome.message;
}

/** `contacts, tasks and orders` */
export const inWords = (names: readonly string[]) => AND.format(names);
const AND = new Intl.ListFormat('en-GB', { type: 'conjunction' });

/** The header's values as sent, with commas between them. */
export function headerIn({ headers }: Pick<Look, 'headers'>, name: string): string | undefined {
  const value = headers?.[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
