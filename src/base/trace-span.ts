/** Spans of traces, for rooms that do not know how traces are exported. */

/** Names, codes and counts only: never a secret, the content of a record, or a part of an address that may hold one. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

/** Does work in a span; spans that begin within it are its children. `attributesOf`: what the result adds. */
export type InSpan = <T>(
  name: string,
  attributes: SpanAttributes,
  work: () => Promise<T>,
  attributesOf?: (result: T) => SpanAttributes,
) => Promise<T>;
