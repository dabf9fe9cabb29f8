/** The JSON of a text or a body; undefined if it is not JSON. */
export function jsonOf(text: string | Buffer): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}
