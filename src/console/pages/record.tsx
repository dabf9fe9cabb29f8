/** One record of an account, read live, with the forms that change it; and the form for a new one. */
import { z } from 'zod';
import { flagOf } from '../../client/call/dialect.ts';
import type { JsonObject } from '../../client/call/json.ts';
import { ID_PARAM } from '../../contract/kinds.ts';
import { CONTACT_MODULE } from '../../contract/records.ts';
import type { Account } from '../../engine/account/account.ts';
import { linksOf } from '../../engine/ledger/matching/contact-links.ts';
import { requireOperator } from '../access/guard.ts';
import { definePage } from '../page.ts';
import { Button, Field, Hidden, Submit } from '../parts/inputs.tsx';
import { Chip, Fact, Foreign, Section, Title } from '../parts/parts.tsx';
import { bodyFields, shownOf } from '../records/fields.ts';
import { hasKey } from '../records/import.ts';
import { KIND, RECORD_KINDS, type RecordKind } from '../records/kinds.ts';
import { accountOf, Fields, Kinds, openCallsOf, Unread, WriteForm } from '../records/parts.tsx';
import { type Listed, type Read, readRecord, readSubtasks } from '../records/read.ts';
import { callCommand, recordPath, recordTitle, valueWords } from '../records/record-words.ts';

const params = z.object({ account: z.string(), kind: z.enum(RECORD_KINDS).exclude(['pipelines']) });

export const newRecord = definePage({
  path: '/records/:account/:kind/new',
  params,
  async show(context, { params: { account: name, kind } }) {
    requireOperator(context.person);
    const { one, create } = KIND[kind];
    if (create === undefined) return { path: recordPath(name, kind) };
    const account = await accountOf(context, name);
    return {
      title: `New ${one}`,
      tab: 'records',
      command: callCommand({ operation: create, account: name, body: {} }),
      isStill: true,
      body: (
        <>
          <Kinds account={name} kind={kind} />
          <h1>New {one}</h1>
          {await openCallsOf(context, account)}
          <WriteForm account={name} operation={create} page={recordPath(name, kind)} class="write">
            <Fields operation={create} />
            <div class="acts">
              <Submit label={`Create the ${one}`} primary />
              <Button to={recordPath(name, kind)} label="Back" />
            </div>
          </WriteForm>
        </>
      ),
    };
  },
});

export const record = definePage({
  path: '/records/:account/:kind/:id',
  params: params.extend({ id: z.string().max(200) }),
  async show(context, { params: { account: name, kind, id } }) {
    const account = await accountOf(context, name);
    const read = await readRecord(account, kind, id);
    const found = read.status === 'read' ? read.value : {};
    const title = recordTitle(kind, id, found);
    const subtasks = kind === 'tasks' && read.status === 'read' ? await readSubtasks(account, id) : undefined;
    const [link] = kind === 'contacts' ? await linksOf(context.pool, account, [id]) : [];
    const { canAct } = context;
    return {
      title,
      tab: 'records',
      isStill: true,
      command: callCommand({ operation: `${kind}.get`, account: name, params: { [ID_PARAM[kind]]: id } }),
      body: (
        <>
          <Kinds account={name} kind={kind} />
          <Title text={title} most={120} />
          {read.status === 'failed' ? (
            <Unread why={read.why} />
          ) : (
            <>
              <Members record={found} account={name} kind={kind} />
              {subtasks && <Task {...{ name, id, canAct, subtasks }} record={found} />}
              {kind === 'contacts' && (
                <Import {...{ account, canAct }} customer={link?.customer} contact={id} record={found} />
              )}
              {canAct && <Change {...{ account, kind, id }} record={found} />}
              {canAct && kind === 'contacts' && <Comment account={name} contact={id} />}
            </>
          )}
        </>
      ),
    };
  },
});

interface RecordProps {
  readonly account: Account;
  readonly kind: RecordKind;
  readonly id: string;
  readonly record: JsonObject;
}

/** Everything that the service answered, first what the form for a new record has, in its order. */
function Members({ record, account, kind }: { record: JsonObject; account: string; kind: RecordKind }) {
  const { create } = KIND[kind];
  const first = create === undefined ? [] : bodyFields(create).filter(({ name }) => name in record);
  const inOrder = { ...Object.fromEntries(first.map(({ name }) => [name, record[name]])), ...record };
  const filled = Object.entries(inOrder).filter(([, value]) => valueWords(value) !== '');
  return (
    <dl class="facts">
      {filled.map(([name, value]) => (
        <Fact name={<Foreign text={name} most={60} />}>
          {kind === 'orders' && name === 'client_id' ? (
            <a href={recordPath(account, 'customers', valueWords(value))}>{valueWords(value)}</a>
          ) : (
            <Foreign text={valueWords(value)} most={1_000} />
          )}
        </Fact>
      ))}
    </dl>
  );
}

interface ImportProps {
  readonly account: Account;
  readonly contact: string;
  readonly record: JsonObject;
  /** That the contact is linked with. */
  readonly customer: string | undefined;
  readonly canAct: boolean;
}

function Import({ account: { name }, contact, record, customer, canAct }: ImportProps) {
  if (customer !== undefined) {
    return (
      <p class="more">
        Imported as <a href={recordPath(name, 'customers', customer)}>customer {customer}</a>.
      </p>
    );
  }
  if (!canAct) return null;
  if (!hasKey(record))
    return <p class="dim more">Without an e-mail address or a phone number, only a sync can import this contact.</p>;
  return (
    <WriteForm account={name} operation="customers.import" page={recordPath(name, 'contacts', contact)}>
      <Hidden values={{ contact_id: contact }} />
      <button type="submit">Import as an order customer</button>
      <span class="dim">Nothing is sent if a customer has the same e-mail address or phone number.</span>
    </WriteForm>
  );
}

function Change({ account: { name }, kind, id, record }: RecordProps) {
  const { update, one } = KIND[kind];
  if (update === undefined) return null;
  const { operation, idIn, name: member } = update;
  const tenant = kind === 'customers' ? valueWords(record.tenant_id) : '';
  const fixed = { ...(idIn === 'body' && { [member]: id }), ...(tenant !== '' && { tenant_id: tenant }) };
  return (
    <details class="change">
      <summary>Change the {one}</summary>
      <WriteForm
        account={name}
        operation={operation}
        path={idIn === 'path' ? { [member]: id } : {}}
        page={recordPath(name, kind, id)}
        class="write"
      >
        <Fields operation={operation} record={record} fixed={fixed} />
        <div class="acts">
          <Submit label="Save" primary />
          <span class="dim">All filled fields are sent, because a service may replace the whole record.</span>
        </div>
      </WriteForm>
    </details>
  );
}

function Comment({ account, contact }: { readonly account: string; readonly contact: string }) {
  return (
    <Section title="Comment">
      <WriteForm
        account={account}
        operation="contacts.comment"
        page={recordPath(account, 'contacts', contact)}
        class="write"
      >
        <Fields operation="contacts.comment" fixed={{ module_type: CONTACT_MODULE, module_id: contact }} />
        <div class="acts">
          <button type="submit">Add the comment</button>
          <span class="dim">The contract has no list of comments of contacts, so they are not shown here.</span>
        </div>
      </WriteForm>
    </Section>
  );
}

interface TaskProps {
  readonly name: string;
  readonly id: string;
  readonly record: JsonObject;
  readonly canAct: boolean;
  readonly subtasks: Read<readonly Listed[]>;
}

function Task({ name, id, record, canAct, subtasks }: TaskProps) {
  const page = recordPath(name, 'tasks', id);
  const path = { task_id: id };
  return (
    <>
      {canAct && (
        <WriteForm account={name} operation="tasks.complete" path={path} page={page}>
          <Toggle isCompleted={flagOf(record.isCompleted)} what="task" />
        </WriteForm>
      )}
      <Section title="Subtasks">
        {subtasks.status === 'failed' && <Unread why={subtasks.why} />}
        {subtasks.status === 'read' && (
          <ul class="subtasks">
            {subtasks.value.map(({ id: subtask, record: now }) => (
              <li>
                <Foreign text={valueWords(now.item_name) || `subtask ${subtask}`} most={200} />
                {flagOf(now.isCompleted) && <Chip tone="good">completed</Chip>}
                {canAct && (
                  <WriteForm account={name} operation="subtasks.update" path={path} page={page}>
                    <Hidden
                      values={{
                        id: subtask,
                        item_name: valueWords(now.item_name),
                        shown: shownOf('subtasks.update', now),
                      }}
                    />
                    <Toggle isCompleted={flagOf(now.isCompleted)} what={`subtask ${subtask}`} />
                  </WriteForm>
                )}
              </li>
            ))}
          </ul>
        )}
        {canAct && (
          <WriteForm account={name} operation="subtasks.create" path={{}} page={page} class="filters">
            <Hidden values={{ task_id: id }} />
            <Field grows label="New subtask" name="item_name" required />
            <button type="submit">Add</button>
          </WriteForm>
        )}
      </Section>
    </>
  );
}

function Toggle({ isCompleted = false, what }: { readonly isCompleted?: boolean | undefined; readonly what: string }) {
  const act = isCompleted ? 'Reopen' : 'Complete';
  return (
    <>
      <Hidden values={{ isCompleted: isCompleted ? 'no' : 'yes' }} />
      <Submit label={act} aria-label={`${act} ${what}`} />
    </>
  );
}
