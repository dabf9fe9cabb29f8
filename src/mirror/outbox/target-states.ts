/** The states of targets that all processes share: disabled, paused, or not answering. */
import type { Queryable } from '../../storage/queryable.ts';

export interface TargetState {
  readonly target: string;
  /** Undefined if it is enabled. */
  readonly disabled: { readonly reason: string; readonly detail: string; readonly at: Date } | undefined;
  readonly blockedUntil: Date | undefined;
  /** Undefined while it answers. */
  readonly failing: { readonly detail: string; readonly since: Date } | undefined;
}

interface StateRow {
  readonly target: string;
  readonly disabledReason: string | null;
  readonly disabledDetail: string | null;
  readonly disabledAt: Date | null;
  readonly blockedUntil: Date | null;
  readonly failingSince: Date | null;
  readonly failingDetail: string | null;
}

/** The targets that are disabled, paused or failing, by name. */
export async function targetStates(db: Queryable): Promise<readonly TargetState[]> {
  const found = await db.query<StateRow>(
    `select target, disabled_reason as "disabledReason", disabled_detail as "disabledDetail", disabled_at as "disabledAt",
       case when blocked_until > clock_timestamp() then blocked_until end as "blockedUntil",
       failing_since as "failingSince", failing_detail as "failingDetail"
     from ledger.target_states
     where disabled_at is not null or blocked_until > clock_timestamp() or failing_since is not null order by target`,
  );
  return found.rows.map((row) => ({
    target: row.target,
    disabled: row.disabledAt
      ? { reason: row.disabledReason ?? '', detail: row.disabledDetail ?? '', at: row.disabledAt }
      : undefined,
    blockedUntil: row.blockedUntil ?? undefined,
    failing: row.failingSince ? { detail: row.failingDetail ?? '', since: row.failingSince } : undefined,
  }));
}

/** The present state of a target, for a process that sends to it. */
export interface Standing {
  readonly isDisabled: boolean;
  /** 0 if it asks for no pause. */
  readonly blockedForMs: number;
  readonly isFailing: boolean;
}

export async function standingOf(db: Queryable, target: string, now: Date | undefined): Promise<Standing> {
  const found = await db.query<Standing>(
    `select disabled_at is not null as "isDisabled", failing_since is not null as "isFailing",
       coalesce(greatest(0, extract(epoch from blocked_until - coalesce($2::timestamptz, clock_timestamp())) * 1000), 0)
         ::float8 as "blockedForMs"
     from ledger.target_states where target = $1`,
    [target, now],
  );
  return found.rows[0] ?? { isDisabled: false, blockedForMs: 0, isFailing: false };
}

/** Disables a target: no process sends to it until a person enables it. False if it was disabled already. */
export async function disableTarget(
  db: Queryable,
  target: string,
  { reason, detail, now }: { readonly reason: string; readonly detail: string; readonly now: Date | undefined },
): Promise<boolean> {
  const disabled = await db.query(
    `insert into ledger.target_states (target, disabled_reason, disabled_detail, disabled_at)
     values ($1, $2, $3, coalesce($4::timestamptz, clock_timestamp()))
     on conflict (target) do update set disabled_reason = excluded.disabled_reason,
       disabled_detail = excluded.disabled_detail, disabled_at = excluded.disabled_at
     where ledger.target_states.disabled_at is null`,
    [target, reason, detail, now],
  );
  return disabled.rowCount === 1;
}

/** Enables disabled targets; returns which of them were disabled. */
export async function enableTargets(db: Queryable, targets: readonly string[]): Promise<readonly string[]> {
  const enabled = await db.query<{ target: string }>(
    `update ledger.target_states set disabled_at = null, disabled_reason = null, disabled_detail = null
     where target = any($1) and disabled_at is not null returning target`,
    [targets],
  );
  return enabled.rows.map(({ target }) => target);
}

/** Pauses a target: no process sends to it for this long. */
export async function blockTarget(
  db: Queryable,
  target: string,
  { forMs, now }: { readonly forMs: number; readonly now: Date | undefined },
): Promise<void> {
  await db.query(
    `insert into ledger.target_states (target, blocked_until)
     values ($1, coalesce($3::timestamptz, clock_timestamp()) + $2 * interval '1 ms')
     on conflict (target) do update
       set blocked_until = greatest(ledger.target_states.blocked_until, excluded.blocked_until)`,
    [target, forMs, now],
  );
}

export async function disabledTargets(db: Queryable): Promise<ReadonlySet<string>> {
  const found = await db.query<{ target: string }>(
    'select target from ledger.target_states where disabled_at is not null',
  );
  return new Set(found.rows.map(({ target }) => target));
}

/** False if it was failing already. */
export async function noteFailing(
  db: Queryable,
  target: string,
  { detail, now }: { readonly detail: string; readonly now: Date | undefined },
): Promise<boolean> {
  const noted = await db.query(
    `insert into ledger.target_states (target, failing_since, failing_detail)
     values ($1, coalesce($3::timestamptz, clock_timestamp()), $2)
     on conflict (target) do update set failing_detail = excluded.failing_detail, failing_since = excluded.failing_since
     where ledger.target_states.failing_since is null`,
    [target, detail, now],
  );
  if (noted.rowCount === 1) return true;
  await db.query('update ledger.target_states set failing_detail = $2 where target = $1', [target, detail]);
  return false;
}

/** False if it was not failing. */
export async function noteAnswering(db: Queryable, target: string): Promise<boolean> {
  const noted = await db.query(
    `update ledger.target_states set failing_since = null, failing_detail = null
     where target = $1 and failing_since is not null`,
    [target],
  );
  return noted.rowCount === 1;
}

/** Those that a process sends to, or is ready to; and those that fail: the process may not even be able to open them. */
export async function servedTargets(db: Queryable): Promise<ReadonlySet<string>> {
  const found = await db.query<{ target: string }>(
    `select target from ledger.delivery_claims where expires_at > clock_timestamp()
     union select target from ledger.target_states where failing_since is not null`,
  );
  return new Set(found.rows.map(({ target }) => target));
}
