/** What the pages about review share: addresses, and decisions as a table. */
import type { Decision, listDecisions } from '../../engine/ledger/decisions.ts';
import { longId } from '../../operator/review.ts';
import { canUndo, decisionState } from '../../operator/review-decisions.ts';
import type { Group, GroupChoice } from '../actions/review-actions.ts';
import { Act } from '../parts/inputs.tsx';
import { addressOf, Foreign, Link, Table, Time } from '../parts/parts.tsx';
import { Words } from '../parts/words.tsx';

export function itemAddress(id: string): string {
  return `/review/items/${encodeURIComponent(id)}`;
}

/** The page that asks before a group is decided. */
export function groupAddress({ reason, account, sync }: Group, choice: GroupChoice): string {
  return addressOf('/review/confirm', { choice, reason, account, sync });
}

export type Decisions = Awaited<ReturnType<typeof listDecisions>>;

interface DecisionTableProps {
  readonly decisions: Decisions;
  readonly canAct: boolean;
}

export function DecisionTable({ decisions, canAct }: DecisionTableProps) {
  return (
    <Table
      columns={['About', 'Decision', 'By', 'Time', 'State', 'Note', { title: 'Undo', as: 'unseen' }]}
      rows={decisions.map((decision) => [
        <About decision={decision} />,
        [decision.choice, ' ', decision.record !== null && <Foreign text={decision.record} most={40} />],
        <Foreign text={decision.decidedBy} most={60} />,
        <Time at={decision.decidedAt} />,
        <Words text={decisionState(decision)} />,
        decision.note !== null && <Foreign text={decision.note} most={300} />,
        canUndo(decision) && canAct && <Undo decision={decision} />,
      ])}
    />
  );
}

function About({ decision }: { readonly decision: Decision }) {
  const { entry, subject, label, reason } = decision;
  const id = longId(decision);
  return (
    <>
      <Link id={`decision-${entry}`} to={itemAddress(id)} text={label || subject} most={60} />
      <small class="id">
        <Foreign text={id} most={60} /> · {reason}
      </small>
    </>
  );
}

function Undo({ decision }: { readonly decision: Decision }) {
  const { entry } = decision;
  const id = longId(decision);
  const named = { id: `undo-${entry}`, 'aria-label': `Undo the decision about ${id}` };
  return <Act path={`${itemAddress(id)}/undo`} values={{ entry }} label="Undo" {...named} />;
}
