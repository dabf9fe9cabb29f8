/** Writes an empty file of orders, with the columns that a load reads. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, LockstepError, messageOf } from '../../base/errors.ts';
import { FIELDS, SHARED } from '../../csv/fields.ts';
import { WRONG_USE } from '../errors.ts';
import type { Session } from '../session.ts';

const DEFAULT_FILE = 'orders.csv';
const TO_STDOUT = '-';

/** Every field but those that a customer column fills too. */
export const TEMPLATE_COLUMNS = FIELDS.filter((field) => !SHARED.some(([, creation]) => creation === field));

/** `-` is stdout. @throws LockstepError TEMPLATE_NOT_WRITTEN, also if the file exists */
export async function writeTemplate({ out, cwd }: Session, name: string = DEFAULT_FILE): Promise<void> {
  const text = `${TEMPLATE_COLUMNS.join(',')}\n`;
  if (name === TO_STDOUT) return out.content(text);
  const file = path.resolve(cwd, name);
  await writeFile(file, text, { flag: 'wx' }).catch((error: unknown) => {
    const what = codeOf(error) === 'EEXIST' ? 'it exists' : messageOf(error);
    const message = `The template is not written to ${name}: ${what}. Name another file.`;
    throw new LockstepError('TEMPLATE_NOT_WRITTEN', message, { cause: error, exitCode: WRONG_USE });
  });
  out.say(`Wrote ${name} with the columns ${TEMPLATE_COLUMNS.join(', ')}. Columns that are not needed can be deleted.`);
  out.result({ file, columns: TEMPLATE_COLUMNS });
}
