/** Records: the contacts, customers, orders, tasks and pipelines of an account, read live. */
import { z } from 'zod';
import { capital } from '../../base/texts.ts';
import { definePage } from '../page.ts';
import { Button, Field } from '../parts/inputs.tsx';
import { addressOf, Foreign, Link, More, Table } from '../parts/parts.tsx';
import { KIND, RECORD_KINDS, type RecordKind } from '../records/kinds.ts';
import { accountOf, Kinds, openCallsOf, Unread } from '../records/parts.tsx';
import { type Listed, type ListedPage, listRecords } from '../records/read.ts';
import { listCommand, recordPath, recordTitle, valueWords } from '../records/record-words.ts';

export const records = definePage({
  path: '/records',
  async show({ settings }) {
    const names = Object.keys(settings.accounts);
    if (names.length === 1 && names[0] !== undefined) return { path: recordPath(names[0], 'contacts') };
    return {
      title: 'Records',
      tab: 'records',
      command: 'accounts',
      isStill: true,
      head: <h1>Records</h1>,
      body: (
        <ul class="cards">
          {names.map((name) => (
            <li class="card">
              <div class="card-head">
                <strong>{name}</strong>
              </div>
              <div class="links">
                {RECORD_KINDS.map((kind) => (
                  <a href={recordPath(name, kind)} aria-label={`${kind} of ${name}`}>
                    {kind}
                  </a>
                ))}
              </div>
            </li>
          ))}
        </ul>
      ),
    };
  },
});

const listQuery = z.object({
  q: z
    .string()
    .trim()
    .max(200)
    .optional()
    .transform((q) => q || undefined),
  after: z
    .string()
    .regex(/^\d{1,9}(~.{0,200})?$/, 'expected the `next` of the page before')
    .optional(),
});

export const recordsOf = definePage({
  path: '/records/:account/:kind',
  params: z.object({ account: z.string(), kind: z.enum(RECORD_KINDS) }),
  query: listQuery,
  async show(context, { params: { account: name, kind }, query: { q, after } }) {
    const account = await accountOf(context, name);
    const page = await listRecords(account, kind, { term: q, after });
    const { one, create } = KIND[kind];
    return {
      title: `${kind} of ${name}`,
      tab: 'records',
      isStill: true,
      command: listCommand(name, kind, q),
      head: (
        <>
          <Kinds account={name} kind={kind} />
          <h1 class="unseen">
            {kind} of {name}
          </h1>
          {await openCallsOf(context, account)}
          <form class="filters" method="get" action={recordPath(name, kind)}>
            <Field grows label={`Find ${kind}`} type="search" name="q" value={q ?? ''} maxlength={200} />
            <button type="submit">Find</button>
            {create && context.canAct && <Button to={recordPath(name, kind, 'new')} label={`New ${one}`} />}
          </form>
        </>
      ),
      body: <List name={name} kind={kind} term={q} page={page} isFirst={after === undefined} />,
    };
  },
});

interface ListProps {
  readonly name: string;
  readonly kind: RecordKind;
  readonly term: string | undefined;
  readonly page: ListedPage;
  readonly isFirst: boolean;
}

function List({ name, kind, term, isFirst, page: { records, next, problem } }: ListProps) {
  return (
    <>
      <Unread why={problem} />
      {records.length > 0 && (
        <Table columns={[capital(KIND[kind].one), ...KIND[kind].columns, 'id']}>
          {records.map((listed) => (
            <Line name={name} kind={kind} listed={listed} />
          ))}
        </Table>
      )}
      {records.length === 0 && problem === undefined && (
        <Nothing term={term} isMore={next !== undefined} isFirst={isFirst} kind={kind} />
      )}
      <More
        to={next && addressOf(recordPath(name, kind), { q: term, after: next })}
        label={problem ? 'Continue' : 'Next'}
      />
    </>
  );
}

interface NothingProps {
  readonly term: string | undefined;
  readonly isMore: boolean;
  readonly isFirst: boolean;
  readonly kind: RecordKind;
}

function Nothing({ term, isMore, isFirst, kind }: NothingProps) {
  if (isMore) return <p class="dim">None of the {kind} read so far. The list is longer.</p>;
  const { one, create } = KIND[kind];
  if (!isFirst) return <p class="dim">No more {kind} follow.</p>;
  if (term !== undefined) return <p class="dim">No {one} matches.</p>;
  const how = create === undefined ? ` Create one in the application of the service; its API cannot.` : '';
  return (
    <p class="dim">
      There are no {kind}.{how}
    </p>
  );
}

function Line({ name, kind, listed: { id, record } }: { name: string; kind: RecordKind; listed: Listed }) {
  return (
    <tr>
      <td>
        <Link to={recordPath(name, kind, id)} text={recordTitle(kind, id, record)} most={80} />
      </td>
      {KIND[kind].columns.map((column) => (
        <td data-label={column}>
          {valueWords(record[column]) !== '' && <Foreign text={valueWords(record[column])} most={80} />}
        </td>
      ))}
      <td class="id">{id}</td>
    </tr>
  );
}
