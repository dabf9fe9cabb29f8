/** Parts of OpenAPI 3.1 documents, made from zod schemas: both write JSON Schema 2020-12. */
import { z } from 'zod';

export type Schema = Readonly<Record<string, unknown>>;

export function parametersIn(location: 'path' | 'query', schema: z.ZodObject): readonly Schema[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' });
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: location,
    required: location === 'path' || required.includes(name),
    schema: property,
  }));
}

/** A part that JSON Schema cannot say allows any value. */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

export function jsonContent(schema: Schema): Schema {
  return { 'application/json': { schema } };
}
