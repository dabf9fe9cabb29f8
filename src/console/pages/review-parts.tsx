/** What the pages about review share: addresses, and decisions as a table. */
import type { Decision, listDecisions } from '../../engine/ledger/decisions.ts';
import { longId } from '../../operator/review.ts';
import { canUndo, stateOf } from '../../operator/review-decisions.ts';
import type { Group, GroupChoice } from '../actions/review-actions.ts';
import { addressOf, Foreign, Table, Time } from '../parts/parts.tsx';

export function itemAddress(id: string): string {
  return `/review/items/${encodeURIComponent(id)}`;
}

/** The page that asks before a group is decided. */
export function groupAddress({ reason, account, sync }: Group, choice: GroupChoice): string {
  return addressOf('/review/confirm', { choice, reason, account, sync });
}

export type Decisions = Awaited<ReturnType<typeof listDecisions>>;

export function DecisionTable({
  decisions,
  isOperator,
}: {
  readonly decisions: Decisions;
  readonly isOperator: boolean;
}) {
  return (
    <Table columns={['About', 'Decision', 'By', 'Time', 'State', 'Note', { title: 'Undo', as: 'unseen' }]}>
      {decisions.map((decision) => (
        <DecisionRow decision={decision} isOperator={isOperator} />
      ))}
    </Table>
  );
}

function DecisionRow({ decision, isOperator }: { readonly decision: Decision; readonly isOperator: boolean }) {
  const { entry, subject, label, choice, record, note, decidedBy, decidedAt, reason } = decision;
  const id = longId(decision);
  return (
    <tr>
      <td>
        <a id={`decision-${entry}`} href={itemAddress(id)}>
          <Foreign text={label === null || label === '' ? subject : label} most={60} />
        </a>
        <small class="id">
          <Foreign text={id} most={60} /> · {reason}
        </small>
      </td>
      <td>
        {choice} {record !== null && <Foreign text={record} most={40} />}
      </td>
      <td>
        <Foreign text={decidedBy} most={60} />
      </td>
      <td class="nowrap">
        <Time at={decidedAt} />
      </td>
      <td>{stateOf(decision)}</td>
      <td>{note !== null && <Foreign text={note} most={300} />}</td>
      <td>
        {canUndo(decision) && isOperator && (
          <form method="post" action={`${itemAddress(id)}/undo`}>
            <input type="hidden" name="entry" value={entry} />
            <button type="submit" id={`undo-${entry}`} aria-label={`Undo the decision about ${id}`}>
              Undo
            </button>
          </form>
        )}
      </td>
    </tr>
  );
}
