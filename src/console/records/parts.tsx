/** What the pages of records share. */
import { randomUUID } from 'node:crypto';
import type { Child } from 'hono/jsx';
import type { JsonObject } from '../../client/call/json.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Account } from '../../engine/account/account.ts';
import { openHandCalls } from '../../engine/ledger/console/hand-calls.ts';
import type { PageContext } from '../page.ts';
import { Hidden, Select } from '../parts/inputs.tsx';
import { Foreign, Time } from '../parts/parts.tsx';
import { Words } from '../parts/words.tsx';
import { bodyFields, type Field, shownOf } from './fields.ts';
import { RECORD_KINDS, type RecordKind } from './kinds.ts';
import { recordPath, valueWords } from './record-words.ts';
import { requireUsable } from './write.ts';

type Opening = Pick<PageContext, 'pool' | 'openAccount'>;

/** The account of a page, if it may be read. @throws LockstepError ACCOUNT_SUSPENDED, IDENTITY_CHANGED, SETTINGS_NAME_UNKNOWN */
export async function accountOf({ pool, openAccount }: Opening, name: string): Promise<Account> {
  const account = await openAccount(name);
  await requireUsable(pool, account);
  return account;
}

export function Kinds({ account, kind }: { readonly account: string; readonly kind: RecordKind }) {
  return (
    <nav class="kinds" aria-label={`Records of ${account}`}>
      <a href="/records">Records</a>
      <strong>{account}</strong>
      {RECORD_KINDS.map((one) => (
        <a href={recordPath(account, one)} aria-current={one === kind ? 'page' : undefined}>
          {one}
        </a>
      ))}
    </nav>
  );
}

/** Why a part could not be read. */
export function Unread({ why }: { readonly why: string | undefined }) {
  if (why === undefined) return null;
  return (
    <p class="notice warn" role="status">
      <Words text={why} most={800} />
    </p>
  );
}

/** Creates of which it is not known whether they were applied. */
export async function openCallsOf({ pool }: PageContext, { scope }: Account) {
  const calls = await openHandCalls(pool, scope);
  if (calls.length === 0) return null;
  return (
    <div class="notice warn">
      <p>It is not known whether the service applied these. Look before you enter them again:</p>
      <ul>
        {calls.map(({ id, operation, at, who }) => (
          <li>
            <a href={`/calls/${id}`}>{operation}</a> by <Foreign text={who} most={60} />, <Time at={at} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface WriteFormProps {
  readonly account: string;
  readonly operation: OperationName;
  readonly path?: Readonly<Record<string, string>>;
  /** Where it returns to once it was applied. */
  readonly page: string;
  readonly class?: string;
  readonly children: Child;
}

/** A form that is sent once: its id is chosen here. */
export function WriteForm({ account, operation, path = {}, page, class: look, children }: WriteFormProps) {
  return (
    <form class={look ?? 'acts'} method="post" action={`/records/${encodeURIComponent(account)}/call/${operation}`}>
      <Hidden values={{ once: randomUUID(), page }} />
      <Hidden values={Object.fromEntries(Object.entries(path).map(([name, value]) => [`path.${name}`, value]))} />
      {children}
    </form>
  );
}

interface FieldsProps {
  readonly operation: OperationName;
  /** What the fields have now. If they have changed once the form is sent, nothing is written. */
  readonly record?: JsonObject;
  /** Fields with a fixed value, which are not shown. */
  readonly fixed?: Readonly<Record<string, string>>;
}

export function Fields({ operation, record: given, fixed = {} }: FieldsProps) {
  const record = given ?? {};
  const shown = given && shownOf(operation, given);
  const fields = bodyFields(operation).filter(({ name }) => fixed[name] === undefined);
  const filled = fields.filter(({ name }) => valueWords(record[name]) !== '').map(({ name }) => name);
  return (
    <>
      <Hidden values={{ ...fixed, shown, filled: filled.length > 0 ? filled.join(',') : undefined }} />
      <div class="fields">
        {fields.map((field) => (
          <Input field={field} value={valueWords(record[field.name])} />
        ))}
      </div>
    </>
  );
}

const LONG = /description|comment_text/;

function Input({ field: { name, type }, value }: { readonly field: Field; readonly value: string }) {
  if (type === 'flag') {
    return <Select label={name} name={name} options={['', 'yes', 'no']} value={flagWord(value)} none={null} />;
  }
  if (LONG.test(name)) {
    return (
      <label class="long">
        {name}
        <textarea name={name} rows={3}>
          {`\n${value}`}
        </textarea>
      </label>
    );
  }
  return (
    <label>
      {name}
      <input name={name} value={value} {...ATTRIBUTES[type]} />
    </label>
  );
}

const ATTRIBUTES = {
  text: { type: 'text' },
  number: { type: 'text', inputmode: 'decimal' },
  id: { type: 'text', inputmode: 'numeric' },
  time: { type: 'datetime-local', step: '1' },
} as const;

/** Services write flags as yes, true or 1. */
function flagWord(value: string): string {
  if (['yes', 'true', '1'].includes(value)) return 'yes';
  return value === '' ? '' : 'no';
}
