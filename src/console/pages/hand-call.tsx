/** One write that a person made: what was sent, its outcome, and what to do if it is unknown. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { HandCall } from '../../engine/ledger/console/hand-calls.ts';
import { pairsOf } from '../../operator/row-words.ts';
import type { Settings } from '../../settings/settings.ts';
import { definePage } from '../page.ts';
import { Act, Button } from '../parts/inputs.tsx';
import { Chip, Crumbs, Fact, Foreign, Section, Time } from '../parts/parts.tsx';
import { KIND, RECORD_KINDS } from '../records/kinds.ts';
import { accountOf, Unread } from '../records/parts.tsx';
import { callCommand, listCommand, recordPath, recordTitle } from '../records/record-words.ts';
import { findSent, kindSent, type Sent } from '../records/sent.ts';
import { type CallState, callState, isApplied, isRepeatable, lookFrom } from '../records/state.ts';
import { handCallOf } from '../records/write.ts';

export const handCall = definePage({
  path: '/calls/:call',
  params: z.object({ call: z.string() }),
  query: z.object({ look: z.literal('1').optional(), again: z.literal('1').optional() }),
  async show(context, { params, query }) {
    const call = await handCallOf(context.pool, params.call);
    const { operation, account, page } = call;
    const state = callState(context.settings, call);
    const { canAct } = context;
    const isFound = isApplied(call);
    const sent =
      query.look && (isFound || state === 'unknown')
        ? await findSent(await accountOf(context, account), call)
        : undefined;
    return {
      title: operation,
      tab: 'records',
      ...commandOf(call, state),
      isBusy: state === 'under way',
      isStill: state !== 'under way' && !isTooEarly(context.settings, call, state),
      body: (
        <>
          <Crumbs to={{ [isFound ? page : formPath(call)]: 'Back to where it was entered' }} />
          <h1 data-refused={AGAIN.includes(state) || undefined}>
            {operation} <Chip tone={TONE[state]}>{state}</Chip>
          </h1>
          <p class="dim">
            <Foreign text={call.who} most={60} />, <Time at={call.at} />, account {account}
          </p>
          {isFound && query.again && (
            <p class="notice warn" role="status">
              Nothing was sent now: the same content was sent before, and the service applied it. If you want a second
              one, confirm it below.
            </p>
          )}
          <p>{meaningOf(call, state)}</p>
          {call.message !== null && (
            <p>
              <Foreign text={call.message} most={800} />
            </p>
          )}
          <Content call={call} />
          {isFound && sent && <Found call={call} sent={sent} />}
          {canAct && state === 'unknown' && <Unknown {...{ call, sent }} settings={context.settings} />}
          {canAct && AGAIN.includes(state) && <Again call={call} label="Send it again" />}
          {canAct && isFound && query.again && <Again call={call} label={secondOf(operation)} />}
        </>
      ),
    };
  },
});

/** The page of its form. */
function formPath({ account, operation, page }: HandCall): string {
  const kind = RECORD_KINDS.find((one) => operation === KIND[one].create);
  return kind === undefined ? page : recordPath(account, kind, 'new');
}

/** The command of a create that was applied, or may have been, would make the record twice: then the one that lists it. */
function commandOf(call: HandCall, state: CallState): { readonly command?: string } {
  const { operation, account, path, body } = call;
  if (AGAIN.includes(state) || isRepeatable(operation))
    return { command: callCommand({ operation, account, params: path, body }) };
  const kind = kindSent(call);
  if (kind === undefined) return {};
  if (kind !== 'subtasks') return { command: listCommand(account, kind) };
  const { task_id } = z.looseObject({ task_id: z.unknown() }).parse(body);
  return { command: callCommand({ operation: 'subtasks.getall', account, params: { task_id: String(task_id) } }) };
}

/** `customers.create` is a second customer, `contacts.comment` a second comment. */
function secondOf(operation: string): string {
  const kind = RECORD_KINDS.find((one) => operation === KIND[one].create);
  return kind === undefined ? 'Send it a second time' : `Create a second ${KIND[kind].one}`;
}

const AGAIN: readonly CallState[] = ['refused', 'limited', 'not-sent', 'was not applied'];

const TONE = {
  applied: 'good',
  'was applied': 'good',
  'was not applied': 'dim',
  refused: 'bad',
  limited: 'warn',
  'not-sent': 'warn',
  unknown: 'bad',
  'under way': 'busy',
} as const;

function meaningOf(call: HandCall, state: CallState): string {
  switch (state) {
    case 'under way':
      return 'It is being sent.';
    case 'applied':
      return 'The service applied it.';
    case 'was applied':
      return 'A person looked: the service applied it.';
    case 'was not applied':
      return 'A person looked: the service did not apply it.';
    case 'refused':
      return `The service refused it (HTTP ${call.httpStatus}), so nothing changed there.`;
    case 'limited':
      return 'The service asked for a pause and did not apply it. Send it again later.';
    case 'not-sent':
      return 'It was not sent, so nothing changed at the service.';
    case 'unknown':
      return isRepeatable(call.operation)
        ? 'It is unknown whether the service applied it. Sending it again has the same effect as sending it once.'
        : 'It is unknown whether the service applied it. Sending it again could apply it twice, so look first.';
    default:
      return state satisfies never;
  }
}

function Content({ call: { path, body } }: { readonly call: HandCall }) {
  const pairs = pairsOf({ ...path, ...z.record(z.string(), z.unknown()).catch({}).parse(body) });
  return (
    <Section title="What was sent">
      <dl class="facts">
        {pairs.map(([name, value]) => (
          <Fact name={<Foreign text={name} most={60} />}>
            <Foreign text={value} most={600} />
          </Fact>
        ))}
      </dl>
    </Section>
  );
}

/** Whether the service may still apply a create, so that a look would prove nothing yet. */
function isTooEarly(settings: Settings, call: HandCall, state: CallState): boolean {
  return state === 'unknown' && !isRepeatable(call.operation) && Date.now() < lookFrom(settings, call).getTime();
}

interface UnknownProps {
  readonly call: HandCall;
  readonly sent: Sent | undefined;
  readonly settings: Settings;
}

function Unknown({ call, sent, settings }: UnknownProps) {
  if (isRepeatable(call.operation)) return <Again call={call} label="Send it again" />;
  if (isTooEarly(settings, call, 'unknown')) {
    return (
      <p class="notice warn">
        The service may still apply it. Look for it after <Time at={lookFrom(settings, call)} exact />: by then the
        service has applied or dropped it, if <code>budget.settle</code> of the account is right.
      </p>
    );
  }
  if (sent === undefined) {
    return (
      <p class="more">
        <Button to={`/calls/${call.id}?look=1`} label="Look for it at the service" />
      </p>
    );
  }
  return (
    <>
      <Found call={call} sent={sent} />
      <div class="acts more">
        <Act path={`/calls/${call.id}/applied`} label="It was applied" />
        <Again call={call} label="It was not applied: send it again" />
      </div>
    </>
  );
}

function Found({ call: { account, operation, page }, sent }: { readonly call: HandCall; readonly sent: Sent }) {
  if (sent.status === 'not-listed') {
    return (
      <p class="notice warn">
        The contract has no list that shows it. <a href={page}>Look at the page where it was entered</a>, then say what
        you saw.
      </p>
    );
  }
  const { kind, records, isWhole, problem } = sent;
  return (
    <>
      <Unread why={problem} />
      {records.length === 0 ? (
        <p class="notice">
          {isWhole
            ? 'The list was read to its end, and has no record with this content.'
            : 'No record with this content so far, but the list was not read to its end: look at the service too.'}
        </p>
      ) : (
        <div class="notice">
          <p>{operation === 'customers.import' ? 'Customers like the contact:' : 'Records with this content:'}</p>
          <ul>
            {records.map(({ id, record }) => (
              <li>
                {kind === 'subtasks' ? (
                  `subtask ${id}`
                ) : (
                  <a href={recordPath(account, kind, id)}>
                    <Foreign text={recordTitle(kind, id, record)} most={80} />, id {id}
                  </a>
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

function Again({ call, label }: { readonly call: HandCall; readonly label: string }) {
  return <Act path={`/calls/${call.id}/again`} values={{ once: randomUUID() }} label={label} />;
}
