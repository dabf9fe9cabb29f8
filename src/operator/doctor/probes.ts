/** All probes in order: first the ones that can stop an examination, then the most useful ones for a new service. */
import type { Probe } from './probe.ts';
import { address } from './probes/address.ts';
import { envelope, errors } from './probes/answers.ts';
import { contactsPaging } from './probes/contacts-paging.ts';
import { fieldNames } from './probes/field-names.ts';
import { key } from './probes/key.ts';
import { order } from './probes/order.ts';
import { pace } from './probes/pace.ts';
import { prefix } from './probes/prefix.ts';
import { recordForms } from './probes/records.ts';
import { search } from './probes/search.ts';
import { shapes } from './probes/shapes.ts';
import { tasksPaging } from './probes/tasks-paging.ts';
import { wholeLists } from './probes/whole-lists.ts';
import { writeContact } from './probes/write-contact.ts';
import { writeImport } from './probes/write-import.ts';
import { writeTask } from './probes/write-task.ts';

export const readingProbes: readonly Probe[] = [
  address,
  key,
  prefix,
  shapes,
  wholeLists,
  contactsPaging,
  tasksPaging,
  order,
  envelope,
  errors,
  recordForms,
  fieldNames,
  search,
  pace,
];

/** These run only if the user asks for them. */
export const writingProbes: readonly Probe[] = [writeContact, writeImport, writeTask];
