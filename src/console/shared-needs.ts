/** What pages, forms and the API share. */
import type { People } from './access/people.ts';
import type { Examinations } from './examinations.ts';
import type { Loads } from './loads/loads.ts';
import type { ConsoleNeeds } from './needs.ts';

export type SharedNeeds = ConsoleNeeds & {
  readonly people: People;
  readonly loads: Loads;
  readonly examinations: Examinations;
};
