/**
 * Customers that a run has created, compared with what they were created from: a service may leave out an e-mail or a phone, or
 * change it. A member counts if the list shows it for other customers as they were sent: a service may never show it, or always
 * write it in another form.
 */
import { plural } from '../../../base/counts.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import { addNote, type Run } from '../runs.ts';
import { reviseRows } from '../transitions.ts';
import { CONTACT_LINK } from './contact-links.ts';

interface Member {
  readonly name: 'email' | 'phone_number' | 'full_name' | 'organization';
  /** As links store it. */
  readonly key: 'email' | 'phone' | 'name' | 'org';
  /** Later runs find the customer by it, so a note says if the service never shows it. */
  readonly isKey?: true;
  /** SQL: the customer of `m` shows what it was created from. */
  readonly isSame: string;
}

const LAST_DIGITS = (fields: string) => `right(regexp_replace(${fields}->>'phone_number', '\\D', '', 'g'), 6)`;

/** A service may write a phone with another prefix, and names in a form of its own. */
const MEMBERS: readonly Member[] = [
  { name: 'email', key: 'email', isKey: true, isSame: 'm.email = m.shown_email' },
  { name: 'phone_number', key: 'phone', isKey: true, isSame: `${LAST_DIGITS('m.wanted')} = ${LAST_DIGITS('m.shown')}` },
  { name: 'full_name', key: 'name', isSame: `m.shown ? 'full_name'` },
  { name: 'organization', key: 'org', isSame: `m.shown ? 'organization'` },
];

const differs = ({ name, isSame }: Member) =>
  `(m.wanted ? '${name}' and not coalesce(${isSame} or m.shown->>'${name}' ~ '[*]', false))`;

/** SQL: the customers `m` that run `$1` has created, as they were last read; not those of contacts that were edited meanwhile. */
const MADE = `
  select v.n, v.record_id, i.source_id, i.email, i.fields as wanted, k.email as shown_email, k.fields as shown, k.is_listed
  from ledger.verdicts v join ledger.inputs i on i.run_id = $1 and i.n = v.n
    join ledger.records k on k.run_id = $1 and k.kind = 'customer' and k.record_id = v.record_id and k.first_pass > 0
    left join ledger.links l on l.scope = $2 and l.kind = '${CONTACT_LINK}' and l.source_id = i.source_id
  where v.run_id = $1 and v.verdict = 'created' and (l.hash is null or l.hash = i.hash)`;

/**
 * Reviews contacts whose new customers lack an e-mail, a phone, a name or an organization, or have another e-mail or phone. The next
 * run of the sync fills what is missing; what differs may be the edit of a person. A load, whose orders are created all the same,
 * only notes it. Call it once everything is settled.
 */
export async function reviewIncomplete(db: Queryable, run: Run): Promise<void> {
  const { compared, hidden } = await membersOf(db, run);
  for (const { name } of hidden) await addNote(db, run.partOf ?? run.id, hiddenNote(name));
  if (compared.length === 0) return;
  const differences = compared.map(
    (one) => `case when ${differs(one)} then jsonb_build_object('field', '${one.name}',
      'is', coalesce(m.shown->>'${one.name}', ''), 'expected', m.wanted->>'${one.name}') end`,
  );
  const incomplete = `select m.n, m.record_id, m.is_listed, to_jsonb(array_remove(array[${differences.join(', ')}], null)) as differences
    from (${MADE}) m where ${compared.map(differs).join(' or ')}`;
  await (run.type === 'contacts' ? review : note)(db, run, incomplete);
}

/** Of the members that some customer does not show as they were sent: those to compare, and the keys that none shows so. */
async function membersOf(
  db: Queryable,
  run: Run,
): Promise<{ readonly compared: readonly Member[]; readonly hidden: readonly Member[] }> {
  const shown = MEMBERS.map((one) => `bool_or(m.wanted ? '${one.name}' and ${one.isSame}) is true as ${one.name}`);
  const open = MEMBERS.map((one) => `bool_or(${differs(one)}) is true as ${one.name}_differs`);
  const names = (isMeant: (member: Member) => string) =>
    `array_remove(array[${MEMBERS.map((one) => `case when ${isMeant(one)} then '${one.name}' end`)}], null)`;
  const found = await db.query<{ readonly compared: readonly string[]; readonly hidden: readonly string[] }>(
    `with judged as (select ${[...shown, ...open].join(', ')} from (${MADE}) m)
     select ${names(({ name, key }) => `${name}_differs and (${name} or ${isInLinks(key)})`)} as compared,
       ${names(({ name }) => `${name}_differs and not ${name}`)} as hidden from judged`,
    [run.id, run.scope],
  );
  const [{ compared, hidden } = { compared: [], hidden: [] }] = found.rows;
  return {
    compared: MEMBERS.filter(({ name }) => compared.includes(name)),
    hidden: MEMBERS.filter(({ name, isKey }) => isKey && hidden.includes(name) && !compared.includes(name)),
  };
}

/** SQL: the list has shown this key of a customer before. */
const isInLinks = (key: Member['key']) =>
  `exists (select from ledger.links l where l.scope = $2 and l.kind = '${CONTACT_LINK}' and l.run_id <> $1 and l.known ? '${key}')`;

function hiddenNote(name: Member['name']): string {
  return `no customer that was created shows its ${name} as it was sent: the service does not store it, does not show it, or writes it in another form`;
}

async function review(db: Queryable, run: Run, incomplete: string): Promise<void> {
  await reviseRows(db, run.id, {
    sql: `select n, 'review' as verdict, 'CONTENT_DIFFERS' as reason, record_id,
        jsonb_build_object('customer', record_id, 'action', 'created', 'differences', differences)
          || case when is_listed then '{}' else '{"isUnlisted": true}' end::jsonb
          || case when $3 and not jsonb_path_exists(differences, '$[*] ? (@.is != "")') then '{"isSentAgain": true}' else '{}' end::jsonb as facts
      from (${incomplete}) c`,
    values: [run.scope, run.options.onChange !== 'ignore'],
  });
  // With another hash, the next run finds that the contact has changed since its customer was written.
  await db.query(
    `update ledger.links l set hash = '' from ledger.verdicts v join ledger.inputs i on i.run_id = v.run_id and i.n = v.n
     where v.run_id = $1 and v.reason = 'CONTENT_DIFFERS' and v.facts ? 'isSentAgain' and l.scope = $2 and l.kind = '${CONTACT_LINK}' and l.source_id = i.source_id`,
    [run.id, run.scope],
  );
}

async function note(db: Queryable, run: Run, incomplete: string): Promise<void> {
  const found = await db.query<{ id: string; fields: string; n: number }>(
    `select record_id as id, (select string_agg(d->>'field', ', ') from jsonb_array_elements(differences) d) as fields,
       count(*) over ()::int as n from (${incomplete}) c order by n limit 1`,
    [run.id, run.scope],
  );
  for (const { id, fields, n } of found.rows)
    await addNote(
      db,
      run.partOf ?? run.id,
      `${plural(n, 'customer that was created does', 'customers that were created do')} not show what was sent, such as the ${fields} of customer ${id}: correct this at the service`,
    );
}
