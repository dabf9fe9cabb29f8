/** One row in review: its evidence side by side, what can be decided, and what was decided before. */
import { z } from 'zod';
import { plural } from '../../base/counts.ts';
import { meaningOf, remedyFor } from '../../base/reasons/reasons.ts';
import { shellWord } from '../../base/reasons/template.ts';
import { capital } from '../../base/texts.ts';
import type { Decision } from '../../engine/ledger/decisions.ts';
import { type Keys, MOST_COUNTED, type ReviewItem } from '../../engine/ledger/views/review-items.ts';
import { choicesFor, longId, meaningsFor, optionsFor, reviewStatement, whyNotUsed } from '../../operator/review.ts';
import { canUndo, decidedName } from '../../operator/review-decisions.ts';
import { type Evidence, evidenceOf } from '../../operator/review-evidence.ts';
import { decisionsLike, ordersOfSameCustomer } from '../../operator/same-customer.ts';
import { markOf, type Reviewed, readReviewed } from '../actions/review-actions.ts';
import { definePage } from '../page.ts';
import { Check, Field, Hidden, Note, Remedy, Submit } from '../parts/inputs.tsx';
import { Chip, Crumbs, Empty, Foreign, Link, Section, Title } from '../parts/parts.tsx';
import { Words } from '../parts/words.tsx';
import { recordPath } from '../records/record-words.ts';
import { DecisionTable, itemAddress } from './review-parts.tsx';

/** Candidates with a key of their own. */
const MOST_KEYS = 9;

export const reviewItem = definePage({
  path: '/review/items/:id',
  params: z.object({ id: z.string() }),
  async show({ pool, settings, canAct, hint }, { params: { id } }) {
    const reviewed = await readReviewed(pool, id);
    const { item, decisions } = reviewed;
    const named = item ?? decisions[0];
    const others = item ? (await ordersOfSameCustomer(pool, item, MOST_COUNTED + 1)).length : 0;
    const [newest] = decisions;
    const alike = newest && canUndo(newest) ? (await decisionsLike(pool, newest)).length : 0;
    return {
      title: `Review of ${id.slice(0, 80)}`,
      tab: 'review',
      assets: ['drawer.js'],
      command: commandOf(item, newest),
      head: (
        <>
          <Crumbs to={{ '/review': 'Review' }} here={id} />
          {named && <Title text={decidedName(named)} most={200} />}
          {item && (
            <Question
              {...{ item, reviewed, others, hint, canAct }}
              isKnown={settings.accounts[item.account] !== undefined}
            />
          )}
        </>
      ),
      body: (
        <>
          {!item && <Settled newest={newest} />}
          {decisions.length > 0 && (
            <Section title="Decisions">
              <DecisionTable decisions={decisions} canAct={canAct} />
              {newest && canAct && alike > 0 && <UndoAlike decision={newest} alike={alike} />}
            </Section>
          )}
        </>
      ),
    };
  },
});

/** What the first button does, or the undoing of the decision. */
function commandOf(item: ReviewItem | undefined, newest: Decision | undefined): string {
  if (item) return `review decide ${shellWord(longId(item))} ${optionsFor(item)[0]}`;
  return newest && canUndo(newest) ? `review undo ${shellWord(longId(newest))}` : 'review --decided';
}

/** Undoes a decision and those that chose the same for other orders of its load. */
function UndoAlike({ decision, alike }: { readonly decision: Decision; readonly alike: number }) {
  return (
    <form class="acts" method="post" action={`${itemAddress(longId(decision))}/undo`}>
      <Hidden values={{ entry: decision.entry, sameCustomer: 'yes' }} />
      <button type="submit">Undo it and the {plural(alike, 'equal decision')} about other orders of this load</button>
    </form>
  );
}

function Settled({ newest }: { readonly newest: Decision | undefined }) {
  return (
    <Empty title="It does not wait for a person">
      <p>{newest && canUndo(newest) && 'Undo its decision below to decide it otherwise.'}</p>
    </Empty>
  );
}

interface QuestionProps {
  readonly item: ReviewItem;
  readonly reviewed: Reviewed;
  /** Other orders of its load that name the same customer. */
  readonly others: number;
  readonly hint: (command: string) => string;
  readonly canAct: boolean;
  /** The settings have its account. */
  readonly isKnown: boolean;
}

function Question({ item, reviewed: { decisions }, others, hint, canAct, isKnown }: QuestionProps) {
  const { reason, facts, run, account, n, sync, isLater } = item;
  const choices = choicesFor(item);
  const statement = reviewStatement(item, hint);
  const isForService = !choices.includes('use') && !choices.includes('create');
  return (
    <>
      <p class="why-review">
        <code>{reason}</code> {isLater && <Chip tone="warn">later</Chip>} {meaningOf(reason)}
      </p>
      {statement !== meaningOf(reason) && (
        <p>
          <Words text={statement} most={1_000} />
        </p>
      )}
      {isForService && <Remedy text={remedyFor(reason, facts, { command: hint, about: { run, account } })} />}
      <p>
        <a href={`/runs/${run}/rows/${n}`} data-drawer>
          The row
        </a>{' '}
        of <Foreign text={sync} most={60} />
      </p>
      <form class="deciding" method="post" action={`${itemAddress(longId(item))}/decide`}>
        {/* Enter in a field must not press the first button. */}
        <button type="submit" disabled hidden>
          Nothing
        </button>
        <Hidden values={{ mark: markOf(item, decisions) }} />
        {canAct && others > 0 && <SameCustomer others={others} />}
        <Compare item={item} canUse={canAct && choices.includes('use')} isKnown={isKnown} />
        {canAct && <Choices item={item} choices={choices} />}
      </form>
    </>
  );
}

function SameCustomer({ others }: { readonly others: number }) {
  const count = others > MOST_COUNTED ? `more than ${MOST_COUNTED} other orders` : plural(others, 'other order');
  return <Check label={`Decide the same for ${count} of this load with the same customer`} name="sameCustomer" />;
}

interface CompareProps extends Pick<QuestionProps, 'item' | 'isKnown'> {
  readonly canUse: boolean;
}

/** The item, and below it each record that it may be, or that differs from it, with its differences marked. */
function Compare({ item, canUse, isKnown }: CompareProps) {
  const { kind, account } = item;
  const { what, fields, own, records, isSame } = evidenceOf(item);
  return (
    <div class="wide">
      <table class="list evidence">
        <thead>
          <tr>
            <th scope="col">Record</th>
            {fields.map(([, word]) => (
              <th scope="col">{word}</th>
            ))}
            {canUse && (
              <th scope="col">
                <span class="unseen">Use</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          <tr class="own">
            <th scope="row">This {kind}</th>
            {fields.map(([key, word]) => (
              <td data-label={word}>
                <Value text={own[key]} />
              </td>
            ))}
            {canUse && <td />}
          </tr>
          {Object.entries(records).map(([record, values], i) => (
            <tr>
              <th scope="row">
                {isKnown ? (
                  <Link
                    to={recordPath(account, `${what}s`, record)}
                    text={`${capital(what)} ${record}`}
                    most={50}
                    drawer
                  />
                ) : (
                  <Foreign text={`${capital(what)} ${record}`} most={50} />
                )}
              </th>
              <Compared fields={fields} own={own} other={values} isSame={(key) => isSame(record, key)} />
              {canUse && <td>{whyNotUsed(item, record) ?? <UseButton record={record} number={i + 1} />}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface ComparedProps extends Pick<Evidence, 'fields' | 'own'> {
  readonly other: Keys | null;
  readonly isSame: (key: string) => boolean;
}

function Compared({ fields, own, other, isSame }: ComparedProps) {
  if (!other) {
    return fields.length === 0 ? null : (
      <td class="dim" colspan={fields.length}>
        only its id is known
      </td>
    );
  }
  return (
    <>
      {fields.map(([key, word]) => (
        <td data-label={word}>
          {own[key] === undefined || isSame(key) ? (
            <Value text={other[key]} />
          ) : (
            <mark>
              <span class="unseen">different: </span>
              <Value text={other[key]} />
            </mark>
          )}
        </td>
      ))}
    </>
  );
}

function Value({ text }: { readonly text: string | undefined }) {
  return text === undefined ? <span class="dim">none</span> : <Foreign text={text} most={200} />;
}

function UseButton({ record, number }: { readonly record: string; readonly number: number }) {
  const key = number <= MOST_KEYS ? String(number) : undefined;
  return (
    <button type="submit" name="choice" value={`use:${record}`} data-key={key}>
      Use{' '}
      <span class="unseen">
        <Foreign text={record} most={40} />
      </span>{' '}
      {key !== undefined && <kbd>{key}</kbd>}
    </button>
  );
}

function Choices({ item, choices }: { readonly item: ReviewItem; readonly choices: ReturnType<typeof choicesFor> }) {
  const isOverwrite = item.kind === 'order' && item.reason === 'DIFFERS';
  const create = item.kind === 'order' ? 'Send it' : 'Create a customer';
  return (
    <>
      <Note />
      <p class="dim">{meaningsFor(item)}</p>
      <div class="acts">
        {choices.includes('create') && (
          <button type="submit" name="choice" value="create" data-key="c">
            {create} <kbd>c</kbd>
          </button>
        )}
        <button type="submit" name="choice" value="ignore" data-key="i">
          Ignore <kbd>i</kbd>
        </button>
        <button type="submit" name="choice" value="later" data-key="l">
          Later <kbd>l</kbd>
        </button>
        {choices.includes('use') && !isOverwrite && (
          <span class="other">
            <Field label="Another customer" name="record" maxlength={200} autocomplete="off" placeholder="its id" />
            <Submit label="Use it" name="choice" value="use" />
          </span>
        )}
      </div>
    </>
  );
}
