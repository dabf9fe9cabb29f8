import { type MappingChoices, mapColumns } from '../../src/csv/columns.ts';

export const mapped = (names: readonly string[], told: MappingChoices['told'] = new Map(), more: MappingChoices = {}) =>
  mapColumns({ names, isGiven: true, line: 1 }, { told, ...more });
export const asPairs = (names: readonly string[]) =>
  Object.fromEntries(mapped(names).columns.map(({ field, name }) => [field, name]));
