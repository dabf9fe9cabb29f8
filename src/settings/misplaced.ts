/** Finds the map that a key belongs in, if it was written in another one: `settle` beside `budget` instead of in it. */
import { z } from 'zod';
import type { PathStep } from './problems.ts';

/** Any name in a path, such as that of an account. */
const NAME = Symbol('name');
type Place = readonly (string | typeof NAME)[];

const jsonSchema = z.object({
  properties: z.record(z.string(), z.unknown()).default({}),
  additionalProperties: z.unknown().optional(),
  anyOf: z.array(z.unknown()).default([]),
  oneOf: z.array(z.unknown()).default([]),
});

/** The path of the only map near `path` that has its last key, with the names of `path`; undefined if there is none, or more than one. */
export function rightPlace(path: readonly PathStep[], schema: unknown): readonly PathStep[] | undefined {
  const key = path.at(-1);
  const places = new Map(placesOf(key, schema, []).map((place) => [textOf(place), place]));
  const nearest = Math.max(0, ...[...places.values()].map((place) => shared(place, path)));
  const [place, another] = [...places.values()].filter((one) => shared(one, path) === nearest);
  if (place === undefined || another !== undefined) return undefined;
  const named = place.map((step, index) => (step === NAME && index < nearest ? path[index] : step));
  return named.every((step) => typeof step === 'string') ? named : undefined;
}

/** The paths of all maps that have this key. */
function placesOf(key: PathStep | undefined, schema: unknown, at: Place): readonly Place[] {
  const { success, data } = jsonSchema.safeParse(schema);
  if (!success) return [];
  const { properties, additionalProperties, anyOf, oneOf } = data;
  return [
    ...(typeof key === 'string' && Object.hasOwn(properties, key) ? [at] : []),
    ...Object.entries(properties).flatMap(([name, inner]) => placesOf(key, inner, [...at, name])),
    ...placesOf(key, additionalProperties, [...at, NAME]),
    ...anyOf.flatMap((inner) => placesOf(key, inner, at)),
    ...inEach(oneOf.map((inner) => placesOf(key, inner, at))),
  ];
}

/** Types of a sync or a target: a key that only another type has would be as wrong in the other map. */
function inEach([first = [], ...others]: readonly (readonly Place[])[]): readonly Place[] {
  return first.filter((place) => others.every((places) => places.some((one) => textOf(one) === textOf(place))));
}

const textOf = (place: Place): string => place.map(String).join('.');

/** How many steps of a place lead towards a path. */
function shared(place: Place, path: readonly PathStep[]): number {
  const end = place.findIndex((step, index) => index >= path.length - 1 || (step !== NAME && step !== path[index]));
  return end === -1 ? place.length : end;
}
