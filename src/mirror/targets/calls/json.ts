import { type Json, parseJson } from '../../../client/call/json.ts';

/** The JSON of a text or a body, in which longer integers keep their digits; undefined if it is not JSON. */
export function jsonOf(text: string | Buffer): Json | undefined {
  try {
    return parseJson(text.toString());
  } catch {
    return undefined;
  }
}
