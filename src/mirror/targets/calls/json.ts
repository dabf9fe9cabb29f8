import { type Json, parseJson } from '../../../client/call/json.ts';

/** The JSON of a text or a body, in which longer integers keep their digits; undefined if it is not JSON. */
export function jsonOf(text: string | Buffer): Json | undefined {
  if (text.length === 0) return undefined; // most answers of webhooks are empty, and a thrown error costs much
  try {
    return parseJson(text.toString().replace(/^\ufeff/, '')); // some servers write a byte order mark first
  } catch {
    return undefined;
  }
}
