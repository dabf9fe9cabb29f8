/**
 * Guards: a run that would write more than they allow pauses until a person approves it. Then it reads and decides again,
 * and writes only what the person has seen (engine/ledger/approval.ts).
 */
import { z } from 'zod';
import { formatCount } from '../base/counts.ts';

/** Options of syncs whose runs may pause for approval, or save or apply a plan. */
export const approvalOptions = z.object({
  approveAbove: z.number().optional(),
  approveAboveShare: z.number().optional(),
  /** A dry run that stores what it would write, for a plan file. */
  savePlan: z.boolean().optional(),
  /** The dry run whose plan the run applies. */
  plan: z.string().optional(),
});

type Guards = Pick<z.infer<typeof approvalOptions>, 'approveAbove' | 'approveAboveShare'>;

export interface Extent {
  /** Rows that the run would send. */
  readonly writes: number;
  /** All its rows, with the unchanged ones. */
  readonly of: number;
}

/** Whether a run with these guards may have to wait for approval. */
export function isGuarded({ approveAbove, approveAboveShare }: Guards): boolean {
  return approveAbove !== undefined || approveAboveShare !== undefined;
}

export function exceeds(guards: Guards, extent: Extent): boolean {
  return extent.writes > mostOf(guards, extent);
}

function mostOf({ approveAbove, approveAboveShare }: Guards, { of }: Extent): number {
  const share = approveAboveShare === undefined ? Number.POSITIVE_INFINITY : approveAboveShare * of;
  return Math.min(approveAbove ?? Number.POSITIVE_INFINITY, share);
}

/** What a paused run tells the person who approves it; the remedy of AWAITS_CONFIRMATION says how. `what`: the name of its rows. */
export function exceedsMessage(what: 'contacts' | 'rows', guards: Guards, extent: Extent): string {
  const [writes, of] = [formatCount(extent.writes), formatCount(extent.of)];
  const share = extent.writes * 200 < extent.of ? 'less than 1%' : `${Math.round((extent.writes / extent.of) * 100)}%`;
  const most = formatCount(Math.floor(mostOf(guards, extent)));
  return `The run would write ${writes} of ${of} ${what} (${share}), and needs approval to write more than ${most}. Nothing is sent.`;
}
