/** The contacts of a drawn service, and a check of what became of them. */
import { mayHideTheFirst } from './drawn-habit.ts';
import { sync, type World } from './random-world.ts';

export const mailOf = (n: number) => `person${n}@example.com`;
/** As people type them: in any case, with a phone in any of its forms. */
const typedMail = (n: number) => (n % 3 === 1 ? `Person${n}@Example.COM` : mailOf(n));
const phoneOf = (n: number) => `+49 (30) 55${String(n).padStart(4, '0')}-0`;
const lower = (value: unknown) => String(value).toLowerCase();
const LAST_NAMES = ["O'Brien & Sons", 'Zoë', '<Ångström>', '李雷', 'McDonald', 'van der Berg'];

/** Contact `n` as its service has it: with habits, some have no e-mail, and some only a name. */
function contactOf({ drawn: { habit, sizes } }: World, n: number): Record<string, unknown> {
  const first_name = 'Person';
  if (habit === 'none') return { first_name, last_name: String(n), email: typedMail(n), phone: phoneOf(n) };
  if (n >= sizes.customers && n % 10 === 9) return { first_name, last_name: String(n) };
  const contact = { first_name, last_name: `${n} ${LAST_NAMES[n % LAST_NAMES.length]}`, phone: phoneOf(n) };
  return n >= sizes.customers && n % 5 === 2 ? contact : { ...contact, email: typedMail(n) };
}

/** What tells the person of a contact or a customer: the e-mail, or else the number in the phone or the name. */
function personOf({
  email,
  phone_number,
  phone = phone_number,
  full_name,
  last_name = full_name,
}: Record<string, unknown>): string {
  if (email) return lower(email);
  return phone
    ? `phone ${String(phone).replaceAll(/\D/g, '').slice(-7)}`
    : `name ${String(last_name).replaceAll(/\D/g, '')}`;
}

export async function checkContacts(world: World): Promise<void> {
  const { service, random, why } = world;
  const { contacts } = service.records;
  const { contacts: count, customers: known } = world.drawn.sizes;
  for (let n = 0; n < known; n++)
    service.add('customers', { full_name: `Person ${n}`, email: mailOf(n), phone_number: '', gender: 'none' });
  const inUse = () => service.records.customers.filter(({ isDeleted }) => !isDeleted);
  if (world.drawn.habit === 'lists deleted records')
    for (const n of [0, 2, known, known + 1])
      service.add('customers', { full_name: `Person ${n}`, email: mailOf(n), phone_number: '' }, { isDeleted: true });
  for (let n = 0; n < count; n++) service.add('contacts', contactOf(world, n));
  const before = service.records.customers.map(({ id, fields }) => JSON.stringify([id, fields]));
  const expected = new Set([...inUse(), ...contacts].map(({ fields }) => personOf(fields)));

  const inStep = (step: string, isDone: boolean) => {
    const mails = inUse().map(({ fields }) => personOf(fields));
    const doubled = mails.filter((mail, i) => mails.indexOf(mail) !== i);
    if (doubled.length > Number(mayHideTheFirst(world.drawn)))
      why.wrong.push(`${step}: ${doubled.length} customers are there twice`);
    const strangers = mails.filter((mail) => !expected.has(mail));
    if (strangers.length > 0) why.wrong.push(`${step}: unexpected customers: ${strangers.join(', ')}`);
    if (isDone && new Set(mails).size !== expected.size)
      why.wrong.push(`${step}: ${mails.length} customers instead of ${expected.size}`);
  };
  const first = await sync(world, `contacts-${world.n}`, 'first sync');
  inStep('first sync', first);
  const changed = before.filter(
    (was, i) => JSON.stringify([service.records.customers[i]?.id, service.records.customers[i]?.fields]) !== was,
  );
  if (changed.length > 0) why.wrong.push(`first sync: ${changed.length} customers that were there were changed`);
  if (!first) return;

  const writes = service.writes();
  if (!(await sync(world, `contacts-${world.n}`, 'second sync'))) return;
  inStep('second sync', true);
  if (service.writes() !== writes) why.wrong.push(`second sync: ${service.writes() - writes} writes`);
  const mailed = contacts.filter(({ fields }) => fields.email !== undefined);
  const edited = mailed.at(random.int(Math.max(1, mailed.length)));
  if (edited === undefined) return;
  const genders = () => inUse().filter(({ fields }) => fields.gender === 'none').length;
  const gendersBefore = genders();
  edited.changedAtMs = Date.now();
  edited.fields = { ...edited.fields, last_name: 'Edited' };
  const done = await sync(world, `contacts-${world.n}`, 'third sync');
  const named = inUse()
    .filter(({ fields }) => lower(fields.full_name).startsWith('person edit'))
    .map(({ fields }) => lower(fields.email));
  const isRight = named.length === 1 && named[0] === lower(edited.fields.email);
  if (done ? !isRight : named.length > 1)
    why.wrong.push(`third sync: edited ${edited.fields.email}, and updated ${named}`);
  if (genders() !== gendersBefore) why.wrong.push('third sync: the gender of a customer was emptied');
  inStep('third sync', done);
  if (done && world.drawn.habit === 'gives ids again') await checkIdsGivenAgain(world);
}

/** The customer of a contact is removed, and a stranger gets its id: no sync may write to the stranger. */
async function checkIdsGivenAgain(world: World): Promise<void> {
  const { customers, contacts } = world.service.records;
  const [contact] = contacts;
  const at = customers.findIndex(({ fields }) => contact && personOf(fields) === personOf(contact.fields));
  const removed = customers[at];
  if (contact === undefined || removed === undefined) return;
  const stranger = { ...removed, fields: { full_name: 'Some Stranger', email: 'stranger@example.com' } };
  customers.splice(at, 1, stranger);
  contact.fields = { ...contact.fields, last_name: 'Moved' };
  await sync(world, `contacts-${world.n}`, 'fourth sync');
  if (stranger.fields.full_name !== 'Some Stranger') world.why.wrong.push('fourth sync: a stranger was updated');
}
