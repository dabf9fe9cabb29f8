/** Which of the two documented prefixes does each kind of record answer under? */
import { type Kind, listOf } from '../../../contract/kinds.ts';
import { PREFIXES, type Prefix } from '../../../contract/operation.ts';
import { inWords, whyNot } from '../answer-words.ts';
import { isAnswered, type ListSeen } from '../lists.ts';
import { certain, type Examination, type Finding, likely, type Probe, settingOf } from '../probe.ts';

const GAP = 'prefix';
const ASKED: readonly Kind[] = ['contacts', 'customers', 'orders', 'tasks', 'pipelines'];
/** For a call whose answer only has to exist. */
const ENOUGH_BYTES = 64 * 1024;

export const prefix: Probe = { name: 'the prefix', gaps: [GAP], run };

async function run(exam: Examination): Promise<readonly Finding[]> {
  const seen: ListSeen[] = [];
  for (const kind of ASKED) seen.push(await exam.list(kind));
  const answering = seen.filter(({ prefix }) => prefix !== undefined);
  const { name, baseUrl } = exam.account;
  const silent = seen
    .filter((one) => one.prefix === undefined)
    .map(({ kind, look }) => {
      const why = look === undefined ? '' : `: ${whyNot(look)}`;
      const needs =
        answering.length === 0
          ? `check accounts.${name}.url (${baseUrl}): no list answers there under ${PREFIXES.join(' or ')}`
          : `ask the service’s operator where the ${kind} are; both prefixes were tried`;
      return likely(GAP, `no list was found under either prefix${why}`, 'cannot read them', { about: kind, needs });
    });
  if (answering.length === 0) return silent;
  return [...silent, await verdict(exam, answering)];
}

async function verdict(exam: Examination, answering: readonly ListSeen[]): Promise<Finding> {
  const { account } = exam;
  const under = new Map(PREFIXES.map((prefix) => [prefix, answering.filter((one) => one.prefix === prefix)]));
  const used = PREFIXES.filter((prefix) => under.get(prefix)?.length !== 0);
  const [only] = used;
  if (only === undefined || used.length > 1) {
    const kindsByPrefix = used.map((one) => `${inWords(under.get(one)?.map(({ kind }) => kind) ?? [])} under ${one}`);
    const needs = `set accounts.${account.name}.prefix to auto: no single prefix fits`;
    const does = 'finds the prefix of each operation separately';
    return certain(GAP, kindsByPrefix.join('; '), does, account.prefix === 'auto' ? {} : { needs });
  }
  const other = PREFIXES.find((one) => one !== only) ?? only;
  const both = await alsoUnder(exam, answering, other);
  const does = `uses ${only}`;
  if (both.length > 0)
    return certain(GAP, `every list answers under ${only}; ${inWords(both)} under ${other} as well`, does);
  const isRight = account.prefix === 'auto' || account.prefix === only;
  const needs = isRight ? undefined : `set accounts.${account.name}.prefix to ${only}`;
  const found = `every list answers under ${only}, and none under ${other}`;
  if (answering.length < ASKED.length) return likely(GAP, found, does, { needs });
  return certain(GAP, found, does, { setting: settingOf(account, 'prefix', only), needs });
}

/** The kinds that also answer under `other`. Each call asks for as little as possible. */
async function alsoUnder({ calls, account }: Examination, lists: readonly ListSeen[], other: Prefix): Promise<Kind[]> {
  const both: Kind[] = [];
  for (const { kind, tries } of lists) {
    const query = kind === 'contacts' ? { [account.dialect.rowsPerPageParam]: 1 } : {};
    const look =
      tries.find((one) => one.prefix === other)?.look ??
      (await calls.look(listOf(kind), { prefix: other, query, maxBodyBytes: ENOUGH_BYTES }));
    if (isAnswered(look)) both.push(kind);
  }
  return both;
}
