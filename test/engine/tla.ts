/**
 * Explores a specification in TLA+ as its checker TLC does: every state that `Next` can reach from `Init`. The grammar is the one that
 * editors use; of the language this evaluates what docs/protocol.tla needs, and throws for anything else.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Language, type Node, Parser } from 'web-tree-sitter';

export type Value = number | boolean | string | readonly Value[] | Fields | ReadonlySet<Value>;
interface Fields {
  readonly [name: string]: Value;
}
/** The values of the variables. */
export type State = Fields;
export type Constants = Fields;

export interface Specification {
  /** Each state once, in the order of the steps to it. `isEnd`: nothing else follows. */
  states(constants: Constants): Generator<{ readonly state: State; readonly isEnd: boolean }>;
  /** Whether a definition of the specification is true in a state. */
  holds(definition: string, state: State, constants: Constants): boolean;
}

/** Parses the file. Throws where the grammar finds an error. */
export async function readSpecification(file: string): Promise<Specification> {
  await Parser.init();
  const grammar = createRequire(import.meta.url).resolve('@tlaplus/tree-sitter-tlaplus/tree-sitter-tlaplus.wasm');
  const parser = new Parser();
  parser.setLanguage(await Language.load(grammar));
  const root = parser.parse(await readFile(file, 'utf8'))?.rootNode;
  if (!root || root.hasError) throw new Error(`${file} is no TLA+`);
  const module = treeOf(root);
  const definitions = new Map<string, Tree>();
  const variables: string[] = [];
  for (const one of module.kids.flatMap(({ type, kids }) => (type === 'module' ? kids : []))) {
    if (one.type === 'operator_definition') definitions.set(part(one, 0).text, one);
    if (one.type === 'variable_declaration') variables.push(...one.kids.map(({ text }) => text));
  }
  const start = { type: 'identifier_ref', text: 'Init', kids: [] };
  const next = { ...start, text: 'Next' };
  return {
    *states(constants) {
      const key = (state: State) => JSON.stringify(variables.map((name) => state[name]));
      const meaning = { definitions, variables, constants };
      let frontier = [...act(start, { ...meaning, state: {} }, {})];
      const seen = new Set(frontier.map(key));
      while (frontier.length > 0) {
        const found: State[] = [];
        for (const state of frontier) {
          const here = key(state);
          const keys = new Map([...act(next, { ...meaning, state }, {})].map((one) => [key(one), one]));
          keys.delete(here);
          yield { state, isEnd: keys.size === 0 };
          for (const [name, follower] of keys) {
            if (seen.has(name)) continue;
            seen.add(name);
            found.push(follower);
          }
        }
        frontier = found;
      }
    },
    holds: (definition, state, constants) =>
      evaluate({ ...start, text: definition }, { definitions, variables, constants, state }) === true,
  };
}

/** A node of the grammar, with the children that mean something. */
interface Tree {
  readonly type: string;
  readonly text: string;
  readonly kids: readonly Tree[];
}

const PUNCTUATION = /comment|line$|^(all_map_to|[lr]angle_bracket|bullet_conj|bullet_disj|def_eq|set_in)$/;

function treeOf({ type, text, namedChildren }: Node): Tree {
  const kids = namedChildren.flatMap((child) => (child && !PUNCTUATION.test(child.type) ? [treeOf(child)] : []));
  return { type, text, kids };
}

function part({ kids, text }: Tree, n: number): Tree {
  const kid = kids[n];
  if (!kid) throw new Error(`not understood: ${text}`);
  return kid;
}

interface Meaning {
  readonly definitions: ReadonlyMap<string, Tree>;
  readonly variables: readonly string[];
  readonly constants: Constants;
  readonly state: State;
  /** Parameters and bound names. */
  readonly locals?: Fields;
}

/** The states that an action leads to. `next` has the primed variables that are known already. */
function* act(tree: Tree, meaning: Meaning, next: State): Generator<State> {
  const { type, kids } = tree;
  const of = (n: number) => part(tree, n);
  const operator = type.startsWith('bound_') ? kids.find(({ type: is }) => OPERATORS.has(is))?.type : type;
  if (operator === 'land' || type === 'conj_list') return yield* all(kids.filter(isOperand), meaning, next);
  if (operator === 'lor' || type === 'disj_list') {
    for (const kid of kids.filter(isOperand)) yield* act(kid, meaning, next);
  } else if (type === 'conj_item' || type === 'disj_item' || type === 'parentheses') {
    yield* act(of(0), meaning, next);
  } else if (type === 'if_then_else') {
    yield* act(of(evaluate(of(0), meaning) === true ? 1 : 2), meaning, next);
  } else if (type === 'bounded_quantification' && of(0).type === 'exists') {
    for (const bound of bindings(of(1), meaning)) yield* act(of(2), bound, next);
  } else if (operator === 'unchanged') {
    const names = namesIn(of(1), meaning);
    yield* assign(Object.fromEntries(names.map((name) => [name, meaning.state[name] as Value])), next);
  } else if (operator === 'eq' && of(0).kids[1]?.type === 'prime') {
    yield* assign({ [part(of(0), 0).text]: evaluate(of(2), meaning) }, next);
  } else if (type === 'bound_op' || (type === 'identifier_ref' && meaning.definitions.has(tree.text))) {
    const [body, within] = call(tree, meaning);
    yield* act(body, within, next);
  } else if (operator === 'eq' && Object.keys(meaning.state).length === 0) {
    yield* assign({ [of(0).text]: evaluate(of(2), meaning) }, next);
  } else if (evaluate(tree, meaning) === true) yield next;
}

const OPERATORS = new Set(['land', 'lor', 'unchanged', 'eq', 'prime']);
const isOperand = ({ type }: Tree) => !OPERATORS.has(type);

function* all([first, ...rest]: readonly Tree[], meaning: Meaning, next: State): Generator<State> {
  if (!first) yield next;
  else for (const known of act(first, meaning, next)) yield* all(rest, meaning, known);
}

/** Nothing where a variable would have two values. */
function* assign(values: Fields, next: State): Generator<State> {
  if (Object.entries(values).every(([name, value]) => !(name in next) || isEqual(next[name], value)))
    yield { ...next, ...values };
}

function namesIn(tree: Tree, meaning: Meaning): readonly string[] {
  if (meaning.variables.includes(tree.text)) return [tree.text];
  const { kids } = tree.type === 'identifier_ref' ? call(tree, meaning)[0] : tree;
  return kids.flatMap((kid) => namesIn(kid, meaning));
}

/** The body of a definition, and what its parameters mean. */
function call(tree: Tree, meaning: Meaning): [body: Tree, within: Meaning] {
  const [name, ...given] = tree.type === 'bound_op' ? tree.kids : [tree];
  const definition = meaning.definitions.get(name?.text ?? '');
  if (!definition) throw new Error(`not defined: ${tree.text}`);
  const parameters = definition.kids.slice(1, -1).map(({ text }) => text);
  const locals = Object.fromEntries(parameters.map((one, n) => [one, evaluate(given[n] ?? tree, meaning)]));
  return [part(definition, definition.kids.length - 1), { ...meaning, locals }];
}

function* bindings(bound: Tree, meaning: Meaning): Generator<Meaning> {
  for (const value of listOf(evaluate(part(bound, 1), meaning))) yield bind(part(bound, 0).text, value, meaning);
}

const bind = (name: string, value: Value, meaning: Meaning): Meaning => ({
  ...meaning,
  locals: { ...meaning.locals, [name]: value },
});

function evaluate(tree: Tree, meaning: Meaning): Value {
  const { type, text, kids } = tree;
  const at = (n: number) => evaluate(part(tree, n), meaning);
  switch (type) {
    case 'nat_number':
      return Number(text);
    case 'string':
      return text.slice(1, -1);
    case 'boolean':
      return text === 'TRUE';
    case 'identifier_ref':
      return (
        meaning.locals?.[text] ?? meaning.state[text] ?? meaning.constants[text] ?? evaluate(...call(tree, meaning))
      );
    case 'parentheses':
    case 'conj_item':
    case 'disj_item':
      return at(0);
    case 'conj_list':
      return kids.every((kid) => evaluate(kid, meaning));
    case 'disj_list':
      return kids.some((kid) => evaluate(kid, meaning));
    case 'if_then_else':
      return at(at(0) ? 1 : 2);
    case 'bounded_quantification': {
      const found = [...bindings(part(tree, 1), meaning)].map((bound) => evaluate(part(tree, 2), bound));
      return part(tree, 0).type === 'exists' ? found.includes(true) : !found.includes(false);
    }
    case 'tuple_literal':
      return kids.map((kid) => evaluate(kid, meaning));
    case 'finite_set_literal':
      return new Set(kids.map((kid) => evaluate(kid, meaning)));
    case 'record_literal':
      return Object.fromEntries(
        kids.flatMap((kid, n) => (n % 2 === 0 ? [[kid.text, evaluate(part(tree, n + 1), meaning)]] : [])),
      );
    case 'function_literal':
      return [...bindings(part(tree, 0), meaning)].map((bound) => evaluate(part(tree, 1), bound));
    case 'record_value':
      return pick(at(0), part(tree, 1).text);
    case 'function_evaluation':
      return pick(at(0), Number(at(1)) - 1);
    case 'except':
      return kids.slice(1).reduce((value, update) => {
        const path = part(update, 0).kids.map((step) =>
          step.type === 'except_update_fn_appl' ? Number(evaluate(part(step, 0), meaning)) - 1 : part(step, 0).text,
        );
        return replaced(value, path, evaluate(part(update, 1), meaning));
      }, at(0));
    case 'bound_prefix_op':
      return part(tree, 0).type === 'negative' ? -Number(at(1)) : !at(1);
    case 'bound_infix_op':
      return infix(part(tree, 1).type, at(0), () => at(2));
    case 'bound_op':
      return builtIn(tree, meaning) ?? evaluate(...call(tree, meaning));
    default:
      throw new Error(`not understood: ${type} in ${text}`);
  }
}

function infix(operator: string, left: Value, right: () => Value): Value {
  if (operator === 'land') return left === true && right();
  if (operator === 'lor') return left === true || right();
  if (operator === 'implies') return left === false || right();
  const [a, b] = [Number(left), right()];
  const known: Readonly<Record<string, () => Value>> = {
    eq: () => isEqual(left, b),
    neq: () => !isEqual(left, b),
    lt: () => a < Number(b),
    leq: () => a <= Number(b),
    gt: () => a > Number(b),
    geq: () => a >= Number(b),
    plus: () => a + Number(b),
    minus: () => a - Number(b),
    mul: () => a * Number(b),
    in: () => listOf(b).includes(left),
    dots_2: () => new Set(Array.from({ length: Math.max(0, Number(b) - a + 1) }, (_, n) => a + n)),
  };
  const compute = known[operator];
  if (!compute) throw new Error(`not understood: the operator ${operator}`);
  return compute();
}

/** The operators of the module Sequences. */
function builtIn(tree: Tree, meaning: Meaning): Value | undefined {
  const [name, , other] = tree.kids;
  const list = () => listOf(evaluate(part(tree, 1), meaning));
  if (name?.text === 'Len') return list().length;
  if (name?.text === 'Append' && other) return [...list(), evaluate(other, meaning)];
  if (name?.text !== 'SelectSeq' || other?.type !== 'lambda') return undefined;
  return list().filter((value) => evaluate(part(other, 1), bind(part(other, 0).text, value, meaning)));
}

function listOf(value: Value): readonly Value[] {
  if (value instanceof Set) return [...value];
  if (Array.isArray(value)) return value;
  throw new Error(`not a set or a sequence: ${JSON.stringify(value)}`);
}

function pick(value: Value, key: string | number): Value {
  const found = (value as Readonly<Record<string | number, Value>>)[key]; // safe: what has no such key gives undefined
  if (found === undefined) throw new Error(`${JSON.stringify(value)} has no ${key}`);
  return found;
}

function replaced(value: Value, [key, ...rest]: readonly (string | number)[], to: Value): Value {
  if (key === undefined) return to;
  const inner = replaced(pick(value, key), rest, to);
  return Array.isArray(value) ? value.with(Number(key), inner) : { ...(value as Fields), [key]: inner };
}

function isEqual(a: Value | undefined, b: Value | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
