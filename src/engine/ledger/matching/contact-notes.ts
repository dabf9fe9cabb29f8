/** What a person should know about the contacts of a run, although nothing is decided by it. */
import { firstOf, formatCount, plural } from '../../../base/counts.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import type { Run } from '../runs.ts';
import { CONTACT_LINK } from './contact-links.ts';
import { type Link, linksInOrder, type Sightings } from './recall-contacts.ts';

/** Examples in a note, at most. */
const MOST_NAMED = 3;

/**
 * Imported contacts that are gone from the list since an earlier run, as a note; none after a scan that may have missed contacts.
 * Their links forget the contact, so that later runs do not note it again, and check it if it comes back.
 */
export async function noteGone(
  db: Queryable,
  run: Run,
  sightings: Pick<Sightings, 'isInList' | 'linked'>,
): Promise<string | undefined> {
  const found = await db.query<{ linked: number; scan: Run['scan'] | null }>(
    `select count(*)::int as linked, (select scan from ledger.runs where id = $3) as scan
     from ledger.links where scope = $1 and kind = $2`,
    [run.scope, CONTACT_LINK, run.id],
  );
  const [{ linked = 0, scan } = {}] = found.rows;
  if (linked === sightings.linked || (scan ?? 'unproven') === 'unproven') return undefined;
  let gone = 0;
  const examples: string[] = [];
  for await (const links of linksInOrder(db, run)) {
    const without = links.filter(({ contact, isKnown }) => isKnown && !sightings.isInList(contact));
    const room = MOST_NAMED - examples.length;
    examples.push(
      ...without.slice(0, room).map(({ contact, customer }) => `contact ${contact} (customer ${customer})`),
    );
    gone += without.length;
    if (!run.dryRun) await forgetContacts(db, run, without);
  }
  if (gone === 0) return undefined;
  const what = plural(gone, 'imported contact is', 'imported contacts are');
  const stay = gone === 1 ? 'its customer stays' : 'their customers stay';
  return `${what} gone from the list, and ${stay} unchanged: ${firstOf(examples, gone)}`;
}

async function forgetContacts(db: Queryable, run: Run, links: readonly Pick<Link, 'contact'>[]): Promise<void> {
  await db.query('update ledger.links set contact = null where scope = $1 and kind = $2 and source_id = any($3)', [
    run.scope,
    CONTACT_LINK,
    links.map(({ contact }) => contact),
  ]);
}

/** New contacts with the same name, e-mail and phone, which become several customers, as a note. Needs the table `deciding`. */
export async function noteTwins(db: Queryable): Promise<string | undefined> {
  const found = await db.query<{ ids: string[]; all: number }>(
    `select (array_agg(source_id order by n))[1:${MOST_NAMED}] as ids, (sum(count(*)) over ())::int as all
     from deciding where state = 'ready' and action <> 'update'
     group by coalesce(email, ''), coalesce(phone, ''), coalesce(name, '') having count(*) > 1 order by min(n) limit ${MOST_NAMED}`,
  );
  const [{ all = 0 } = {}] = found.rows;
  if (all === 0) return undefined;
  const examples = found.rows.map(({ ids }) => `contacts ${ids.join(' and ')}`);
  const named = found.rows.reduce((sum, { ids }) => sum + ids.length, 0);
  return `${formatCount(all)} new contacts have the same name, e-mail and phone as another new contact, and each becomes a customer of its own: ${firstOf(examples, all - named + examples.length)}`;
}
