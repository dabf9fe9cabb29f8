/**
 * The creation of one row as a state machine (docs/protocol.md, "Creation"): the ledger, two processes, and a service that commits
 * and shows late. `explore` finds every state that can be reached. Times are in ticks, as ages, so equal situations are one state.
 */

/** What the protocol relies on. A test changes one of these to see that it is needed. */
export interface Rules {
  /** Ticks within which the service commits a request or drops it (A1), and within which reads show a commit (A2). */
  readonly settle: number;
  /** Ticks until a call is given up. */
  readonly timeout: number;
  /** Ticks for which a claim holds. */
  readonly lease: number;
  /** Ticks after which the service really has committed or dropped a request; more than `settle` breaks A1. */
  readonly commitsWithin: number;
  /** Ticks after the outcome became unknown before a read may prove that the record is absent. */
  readonly wait: number;
  /** Claims are durable before a request is sent. */
  readonly claimsFirst: boolean;
  /** No request leaves so late that its answer could come after the claim. */
  readonly minds: boolean;
  /** An outcome is recorded only under the claim it was sent under. */
  readonly fenced: boolean;
}

const SETTLE = 2;
export const RULES: Rules = {
  settle: SETTLE,
  timeout: 1,
  lease: 3,
  commitsWithin: SETTLE,
  wait: 2 * SETTLE,
  claimsFirst: true,
  minds: true,
  fenced: true,
};

interface Process {
  readonly at: 'idle' | 'holding' | 'calling' | 'acked' | 'gave-up';
  /** Ticks that its claim still holds, as it knows. */
  readonly lease: number;
  /** Its request; -1: none. */
  readonly request: number;
}

/** Ages are ticks since then; they stop growing where they no longer make a difference. */
export interface State {
  readonly row: 'ready' | 'claimed' | 'unknown' | 'created';
  /** The process with the claim; -1: none. */
  readonly owner: number;
  readonly lease: number;
  readonly unknownAge: number;
  readonly sends: number;
  /** Since the row was last sent. */
  readonly sentAge: number;
  readonly processes: readonly Process[];
  readonly requests: readonly { readonly age: number; readonly fate: 'open' | 'committed' | 'dropped' }[];
  /** Ages of the records that exist. */
  readonly records: readonly number[];
  /** How many records the audit saw; -1: it was not made. */
  readonly audited: number;
}

const MOST_SENDS = 3;
const IDLE: Process = { at: 'idle', lease: 0, request: -1 };
const START: State = {
  row: 'ready',
  owner: -1,
  lease: 0,
  unknownAge: 0,
  sends: 0,
  sentAge: 0,
  processes: [IDLE, IDLE],
  requests: [],
  records: [],
  audited: -1,
};

/** The states that can be reached, each once, in the order of the steps to them; at most until the caller stops. */
export function* explore(rules: Rules): Generator<State & { readonly isEnd: boolean }> {
  const seen = new Set([JSON.stringify(START)]);
  for (let frontier: State[] = [START]; frontier.length > 0; ) {
    const next: State[] = [];
    for (const state of frontier) {
      const followers = [...steps(state, rules)];
      yield { ...state, isEnd: followers.length === 0 };
      for (const follower of followers) {
        const key = JSON.stringify(follower);
        if (seen.has(key)) continue;
        seen.add(key);
        next.push(follower);
      }
    }
    frontier = next;
  }
}

function* steps(state: State, rules: Rules): Generator<State> {
  for (const [p, process] of state.processes.entries()) yield* ofProcess(state, p, process, rules);
  for (const [i, request] of state.requests.entries()) {
    if (request.fate !== 'open') continue;
    const decided = (fate: 'committed' | 'dropped') => state.requests.with(i, { ...request, fate });
    yield { ...state, requests: decided('committed'), records: [...state.records, 0] };
    yield { ...state, requests: decided('dropped') };
  }
  if (state.row === 'unknown' && state.unknownAge >= rules.wait) yield* afterRead(state, rules);
  const isOwed = state.row === 'created' && state.sends > 1 && state.audited < 0;
  if (isOwed && state.sentAge >= 3 * rules.settle) yield { ...state, audited: shown(state, rules).sure };
  yield* tick(state, rules);
}

/** What a process may do next; it may also do nothing for any time, or die. */
function* ofProcess(state: State, p: number, process: Process, rules: Rules): Generator<State> {
  const becomes = (next: Process, more: Partial<State> = {}): State => ({
    ...state,
    ...more,
    processes: state.processes.with(p, next),
  });
  const isFree = state.owner < 0 || state.lease === 0;
  const release = { owner: -1, lease: 0, row: 'unknown', unknownAge: 0 } as const;
  switch (process.at) {
    case 'idle':
      if (state.row === 'ready' && isFree && state.sends < MOST_SENDS) {
        const claim = rules.claimsFirst ? ({ row: 'claimed', owner: p, lease: rules.lease } as const) : {};
        yield becomes({ at: 'holding', lease: rules.lease, request: -1 }, claim);
      }
      // Takes over: the claim has expired, and the row may have been sent.
      if (state.row === 'claimed' && state.lease === 0) yield { ...state, ...release };
      return;
    case 'holding': {
      yield* died();
      if (rules.minds && process.lease < rules.timeout) yield becomes(IDLE);
      else if (state.sends < MOST_SENDS)
        yield becomes(
          { ...process, at: 'calling', request: state.requests.length },
          { requests: [...state.requests, { age: 0, fate: 'open' }], sends: state.sends + 1, sentAge: 0 },
        );
      return;
    }
    case 'calling': {
      yield* died();
      const request = state.requests[process.request];
      if (request?.fate === 'committed' && request.age <= rules.timeout) yield becomes({ ...process, at: 'acked' });
      yield becomes({ ...process, at: 'gave-up' });
      return;
    }
    case 'acked':
    case 'gave-up': {
      yield* died();
      const isOurs = state.row === 'claimed' && state.owner === p;
      const recorded = process.at === 'acked' ? ({ row: 'created', owner: -1, lease: 0 } as const) : release;
      if (rules.fenced && rules.claimsFirst && !isOurs) yield becomes(IDLE);
      else yield becomes(IDLE, recorded);
    }
  }
  /** The process is killed. Its claim is given back at once where that is noticed, or expires. */
  function* died(): Generator<State> {
    yield becomes(IDLE);
    if (state.owner === p) yield becomes(IDLE, release);
  }
}

/** A complete read of the list: records that are younger than `settle` may be missing. */
function* afterRead(state: State, rules: Rules): Generator<State> {
  const { sure, most } = shown(state, rules);
  if (most > 0) yield { ...state, row: 'created' };
  if (sure === 0) yield { ...state, row: 'ready' };
}

function shown({ records }: State, { settle }: Rules): { readonly sure: number; readonly most: number } {
  return { sure: records.filter((age) => age >= settle).length, most: records.length };
}

/** Time passes, unless the service has to decide first. */
function* tick(state: State, rules: Rules): Generator<State> {
  const isDue = ({ age, fate }: State['requests'][number]) => fate === 'open' && age >= rules.commitsWithin;
  if (state.requests.some(isDue)) return;
  const older = (age: number, most: number) => Math.min(age + 1, most);
  const less = (left: number) => Math.max(0, left - 1);
  const next: State = {
    ...state,
    lease: less(state.lease),
    unknownAge: state.row === 'unknown' ? older(state.unknownAge, rules.wait) : 0,
    sentAge: state.sends > 0 ? older(state.sentAge, 3 * rules.settle) : 0,
    processes: state.processes.map((one) => ({ ...one, lease: less(one.lease) })),
    requests: state.requests.map((one) => ({ ...one, age: older(one.age, rules.commitsWithin) })),
    records: state.records.map((age) => older(age, rules.settle)),
  };
  if (JSON.stringify(next) !== JSON.stringify(state)) yield next;
}
