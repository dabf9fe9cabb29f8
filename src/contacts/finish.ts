/** The end of a contact sync: links remember what was brought in line. */
import type { Queryable, Run } from '../engine/ledger/runs.ts';
import { KNOWN } from './check-links.ts';
import { CONTACT_LINK } from './staging.ts';

export async function finishContacts(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.links l set hash = r.hash, run_id = $1, known = ${KNOWN('r')} from ledger.rows r
     where r.run_id = $1 and r.verdict = 'updated' and l.scope = $2 and l.kind = $3 and l.source_id = r.source_id`,
    [run.id, run.scope, CONTACT_LINK],
  );
}
