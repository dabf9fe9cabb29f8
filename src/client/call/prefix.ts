/**
 * Which of the two documented prefixes an operation answers under. The contract lists some operations under /api/v1, some
 * under /v1, some under both (docs/contract.md, "Endpoints"), so `auto` detects it for each operation.
 *
 * A 404 that may mean "no such route" is tried once under the other prefix, and so is a 200 whose envelope says so; that
 * is safe for writes too, since a refusal applied nothing (assumption A3 in docs/protocol.md). Only an answer that must
 * come from a route decides the prefix of an operation: a record's 404 never does, and is tried under the other prefix too until
 * the prefix is decided. So does a redirect to the other prefix; a write is sent there once a read has shown that it was not applied.
 */
import { kindOf, listOf } from '../../contract/kinds.ts';
import { type Operation, PREFIXES, type Prefix } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import type { Outcome, StreamOutcome } from './outcome.ts';

export type LearntPrefixes = Readonly<Partial<Record<OperationName, Prefix>>>;

export interface Prefixes {
  /** The prefix to call an operation under. */
  first(operation: OperationName): Prefix;
  /** Records the outcome of a call under a prefix. */
  saw(operation: OperationName, prefix: Prefix, outcome: Outcome | StreamOutcome): void;
  /** The prefix to try once after this outcome; undefined if the outcome is final. */
  other(operation: OperationName, prefix: Prefix, outcome: Outcome | StreamOutcome): Prefix | undefined;
  /** What is certain so far, for the caller to store. */
  learnt(): LearntPrefixes;
}

/** `known` is what an earlier process learnt: the starting point, corrected if it is wrong. */
export function createPrefixes(setting: 'auto' | Prefix, known: LearntPrefixes = {}): Prefixes {
  if (setting !== 'auto') {
    return { first: () => setting, saw: () => {}, other: () => undefined, learnt: () => ({}) };
  }
  const settled = new Map<OperationName, Prefix>();
  const decided = (operation: OperationName) => settled.get(operation) ?? known[operation];
  return {
    // The list shows the prefix of the other operations of its kind; customers/import, listed separately, does not.
    first: (operation) => decided(operation) ?? decided(listOf(kindOf(operation))) ?? PREFIXES[0],
    saw(operation, prefix, outcome) {
      if (provesRoute(outcome)) settled.set(operation, prefix);
      else if (outcome.status === 'unknown' && outcome.wantsPrefix) settled.set(operation, outcome.wantsPrefix);
    },
    other(operation, prefix, outcome) {
      // A call may have been under way when another one settled the prefix.
      if (settled.get(operation) === prefix) return undefined;
      if (!mayLackRoute(operation, outcome, decided(operation) !== undefined)) return undefined;
      return PREFIXES.find((candidate) => candidate !== prefix);
    },
    learnt: () => Object.fromEntries(settled),
  };
}

/** 401, 403 and 429 may come from a gateway that knows no routes. */
function provesRoute(outcome: Outcome | StreamOutcome): boolean {
  if (outcome.status === 'applied') return true;
  return outcome.status === 'refused' && outcome.json === true && [400, 409, 422].includes(outcome.httpStatus);
}

/** `isDecided`: calls to the path of the operation have reached it before. */
export function mayLackRoute(name: OperationName, outcome: Outcome | StreamOutcome, isDecided: boolean): boolean {
  const operation: Operation = operations[name];
  if (outcome.status === 'unknown') {
    // Some servers answer every unknown path with a 200 and their start page, or redirect to the other prefix.
    const isElsewhere = outcome.reason === 'html' || outcome.wantsPrefix !== undefined;
    return operation.method === 'GET' && operation.result !== undefined && isElsewhere;
  }
  if (outcome.status !== 'refused') return false;
  if (outcome.httpStatus === 405) return true;
  const isOfRoute =
    !isDecided || operation.list !== undefined || name === 'customers.import' || name.endsWith('.create');
  // A service that answers every error with a 200 reports an unknown path only in its message.
  if (outcome.httpStatus === 200) return isOfRoute && MISSING_ROUTE.test(outcome.message);
  return outcome.httpStatus === 404 && (isOfRoute || outcome.json === false);
}

const MISSING_ROUTE =
  /\b404\b|\bnot[ _-]?found\b|\bno such\b|\bno route\b|\bunknown (operation|route|path|endpoint|resource|url)\b|\bcannot (get|post|put)\b|\bdoes(n.t| not) exist\b/i;
