/** What the outbox knows of each channel. */
import type { Queryable } from '../../storage/queryable.ts';

export interface ChannelState {
  /** Name of the channel in the outbox. */
  readonly target: string;
  /** Null if none was sent yet. */
  readonly lastSentAt: Date | null;
  readonly waiting: number;
  readonly dead: number;
  /** The newest message, if it was tried and not accepted. */
  readonly refused: {
    /** False: it is retried. */
    readonly isDead: boolean;
    readonly detail: string;
    /** When it was queued. */
    readonly since: Date;
  } | null;
}

export async function channelStates(db: Queryable, targets: readonly string[]): Promise<readonly ChannelState[]> {
  const found = await db.query<Omit<ChannelState, 'refused'> & { isDead: boolean; detail: string | null; since: Date }>(
    `select c.target, counted.*, coalesce(newest.verdict = 'dead', false) as "isDead", newest.created_at as since,
       case when newest.verdict = 'dead' or newest.state <> 'ended' and newest.attempts > 0
         then coalesce(newest.detail, newest.reason, '') end as detail
     from unnest($1::text[]) with ordinality c(target, n)
       cross join lateral (select max(d.ended_at) filter (where d.verdict = 'delivered') as "lastSentAt",
           (count(*) filter (where d.state <> 'ended'))::int as waiting, (count(*) filter (where d.verdict = 'dead'))::int as dead
         from ledger.deliveries d where d.target = c.target) counted
       left join lateral (select * from ledger.deliveries d where d.target = c.target order by d.sequence desc limit 1) newest on true
     order by c.n`,
    [targets],
  );
  return found.rows.map(({ isDead, detail, since, ...state }) => ({
    ...state,
    refused: detail === null ? null : { isDead, detail, since },
  }));
}
