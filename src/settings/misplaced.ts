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

type Places = ReadonlyMap<string, readonly Place[]>;

/**
 * Finds the path of the only map near `path` that has its last key, with the names of `path`; undefined if there is none, or more
 * than one. `schema`: a JSON Schema, read when the first key is looked for.
 */
export function placeFinder(schema: () => unknown): (path: readonly PathStep[]) => readonly PathStep[] | undefined {
  let known: Places | undefined;
  return (path) => {
    known ??= placesIn(schema(), []);
    const places = known.get(String(path.at(-1))) ?? [];
    const nearest = Math.max(0, ...places.map((place) => shared(place, path)));
    const [place, another] = places.filter((one) => shared(one, path) === nearest);
    if (place === undefined || another !== undefined) return undefined;
    const named = place.map((step, index) => (step === NAME && index < nearest ? path[index] : step));
    return named.every((step) => typeof step === 'string') ? named : undefined;
  };
}

/** The paths of the maps that have a key, by key. */
function placesIn(schema: unknown, at: Place): Places {
  const { success, data } = jsonSchema.safeParse(schema);
  if (!success) return new Map();
  const { properties, additionalProperties, anyOf, oneOf } = data;
  return merged([
    new Map(Object.keys(properties).map((key) => [key, [at]])),
    ...Object.entries(properties).map(([name, inner]) => placesIn(inner, [...at, name])),
    placesIn(additionalProperties, [...at, NAME]),
    ...anyOf.map((inner) => placesIn(inner, at)),
    inEach(oneOf.map((inner) => placesIn(inner, at))),
  ]);
}

function merged(all: readonly Places[]): Places {
  const places = new Map<string, readonly Place[]>();
  for (const one of all)
    for (const [key, more] of one) {
      const before = places.get(key) ?? [];
      places.set(key, [...before, ...more.filter((place) => !isAmong(before, place))]);
    }
  return places;
}

/** Types of a sync or a target: a key that only another type has would be as wrong in the other map. */
function inEach([first = new Map(), ...others]: readonly Places[]): Places {
  const inAll = (key: string, place: Place) => others.every((places) => isAmong(places.get(key) ?? [], place));
  return new Map([...first].map(([key, places]) => [key, places.filter((place) => inAll(key, place))]));
}

function isAmong(places: readonly Place[], place: Place): boolean {
  return places.some((one) => one.length === place.length && one.every((step, index) => step === place[index]));
}

/** How many steps of a place lead towards a path. */
function shared(place: Place, path: readonly PathStep[]): number {
  const end = place.findIndex((step, index) => index >= path.length - 1 || (step !== NAME && step !== path[index]));
  return end === -1 ? place.length : end;
}
