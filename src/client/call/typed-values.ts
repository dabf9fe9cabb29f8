/** Values that say their type, as databases write them. Pure. */
import { isJsonObject } from './dialect.ts';
import type { Json, JsonObject } from './json.ts';

/** MongoDB: `{"$oid": …}`. Firestore: `{"stringValue": …}`. DynamoDB: `{"S": …}`. */
const TYPE = /^(?:\$(?:oid|date|number\w+)|[a-z]+Value|[SN]|BOOL|NULL)$/;

/** The record with the values themselves in place of those that say their type; the same object if none does. */
export function untyped(record: JsonObject): JsonObject {
  let plain: Record<string, Json> | undefined;
  for (const name in record) {
    const type = typeIn(record[name]);
    if (type === undefined) continue;
    plain ??= { ...record };
    plain[name] = type === 'nullValue' || type === 'NULL' ? null : ((record[name] as JsonObject)[type] ?? null); // safe: it has a type
  }
  return plain ?? record;
}

/** The only member of an object, if it names a type. */
function typeIn(value: Json | undefined): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const [name, ...others] = Object.keys(value);
  return name !== undefined && others.length === 0 && TYPE.test(name) ? name : undefined;
}
