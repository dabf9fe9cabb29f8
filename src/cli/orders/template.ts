/** Writes an empty file of orders, with the columns that a load reads. */
import { FIELDS, SHARED } from '../../csv/fields.ts';
import { exportLines, type Replacing } from '../export-file.ts';
import type { Session } from '../session.ts';

const DEFAULT_FILE = 'orders.csv';

/** Every field but those that a customer column fills too. */
const TEMPLATE_COLUMNS = FIELDS.filter((field) => !SHARED.some(([, creation]) => creation === field));

/** `-` is stdout. @throws LockstepError FILE_EXISTS, EXPORT_NOT_WRITABLE */
export async function writeTemplate(session: Session, name: string = DEFAULT_FILE, how: Replacing = {}): Promise<void> {
  const { out } = session;
  const { file } = await exportLines(session, name, header(), how);
  const columns = TEMPLATE_COLUMNS.join(', ');
  if (file !== null) out.say(`Wrote ${name} with the columns ${columns}. Columns that are not needed can be deleted.`);
  out.result({ file, columns: TEMPLATE_COLUMNS });
}

async function* header(): AsyncGenerator<string> {
  yield `${TEMPLATE_COLUMNS.join(',')}\n`;
}
