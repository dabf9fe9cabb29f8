/** Finds the errors that the sources make: each code with its exit code and its messages as they are written. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAst } from 'vitest/node';

export interface FoundError {
  readonly code: string;
  /** `2`, `3`, both, or none where the command that meets the error decides. */
  readonly exitCodes: ReadonlySet<string>;
  /** Words in capitals stand for values, `…` for parts that are made at run time. */
  readonly messages: ReadonlySet<string>;
}

/** What makes an error out of a code and a message, in either order. */
export const MAKERS: ReadonlySet<string> = new Set([
  ...['LockstepError', 'RunFailed', 'RunPaused', 'OperationForbidden', 'super'],
  ...['ListProblem', 'StoppedError', 'UnclearFile'],
  ...['wrongUse', 'doubtfulAmount'],
]);
/** Errors whose code is this and their reason in capitals. */
const PREFIXES: Readonly<Record<string, string>> = { ListProblem: 'LIST_', StoppedError: 'CALL_' };
/** Makers that say the exit code themselves. */
const USAGE_MAKERS: ReadonlySet<string> = new Set(['UnclearFile', 'wrongUse', 'doubtfulAmount']);
/** Codes of makers; wrongUse may be given another one. */
const CODE_OF: Readonly<Record<string, string>> = { wrongUse: 'USAGE', doubtfulAmount: 'CSV_NO_AMOUNT_COLUMN' };
/** A value that a message shows: its name, without what reads or masks it. */
const NAMED =
  /^(?:(?:messageOf|reasonOf|quote|maskUrl)\()?(?:this\.#?)?(?:\w+\.)*?([a-zA-Z]\w*?)(?:\.(?:id|name|length))?\)?$/;
const CODE = /^[A-Z]{2,}(_[A-Z0-9]+)*$/;

/** A syntax node as parsers of JavaScript give it (ESTree); null where a member has none. */
type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<Record<string, unknown>>;

interface Constant {
  readonly name: string;
  readonly value: Node;
  /** Of the file, which holds it. */
  readonly statement: Node;
}

interface Source {
  readonly text: string;
  readonly statements: readonly Node[];
  readonly constants: readonly Constant[];
  /** Those of all files, outside of functions. */
  readonly shared: readonly Constant[];
}

export interface FoundErrors {
  /** By code, in alphabetical order. */
  readonly errors: readonly FoundError[];
  /** What makes errors with a code that only the run time knows: `RunFailed(reason)`, as often as it is written. */
  readonly others: readonly string[];
}

/** @param folders of the sources, absolute */
export function findErrors(folders: readonly string[]): FoundErrors {
  const others: string[] = [];
  const errors = new Map<string, { code: string; exitCodes: Set<string>; messages: Set<string> }>();
  for (const source of readSources(folders)) {
    for (const statement of source.statements) {
      for (const node of nodesIn(statement)) {
        for (const { code, exitCode, message } of errorsOf(node, new Texts(source, statement))) {
          if (!CODE.test(code)) {
            others.push(code);
            continue;
          }
          const error = errors.get(code) ?? { code, exitCodes: new Set(), messages: new Set() };
          errors.set(code, error);
          if (exitCode !== undefined) error.exitCodes.add(exitCode);
          if (!/^[A-Z_…]+$/.test(message)) error.messages.add(message.replaceAll('\n', ' '));
        }
      }
    }
  }
  return { errors: [...errors.values()].sort((a, b) => (a.code < b.code ? -1 : 1)), others: others.sort() };
}

function readSources(folders: readonly string[]): Source[] {
  const files = folders.flatMap(sourceFiles).map((file) => {
    const text = readFileSync(file, 'utf8');
    // The parser's types name every kind of node; these three members are all that the walk relies on.
    const statements = parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }).body as unknown as readonly Node[];
    return { text, statements, constants: statements.flatMap((statement) => [...constantsIn(statement)]) };
  });
  const shared = files.flatMap(({ constants }) => constants.filter(isOfFile));
  return files.map((file) => ({ ...file, shared }));
}

interface Made {
  /** No code where only the run time knows it. */
  readonly code: string;
  readonly exitCode?: string;
  readonly message: string;
}

function* errorsOf(node: Node, texts: Texts): Generator<Made> {
  if (node.type === 'ObjectExpression') yield* errorsOfObject(node, texts);
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return;
  const callee = nodeIn(node.callee);
  const maker = callee?.type === 'Super' ? 'super' : String(callee?.name);
  const values = nodesOf(node.arguments).map((argument) => texts.alternatives(argument));
  if (!MAKERS.has(maker)) return;
  const prefix = PREFIXES[maker];
  if (prefix) values[0] = (values[0] ?? []).map((reason) => prefix + reason.toUpperCase().replace('-', '_'));
  const coded = values.find((value) => value.some((one) => CODE.test(one)));
  const given = maker === 'wrongUse' ? nodesOf(node.arguments)[1] : nodesOf(node.arguments)[0];
  const own = maker === 'wrongUse' && given ? undefined : CODE_OF[maker];
  const codes = coded?.filter((one) => CODE.test(one)) ?? [own ?? []].flat();
  if (codes.length === 0 && maker !== 'super')
    yield { code: `${maker}(${given ? texts.written(given) : ''})`, message: '…' };
  const messages = values.find((value) => value !== coded) ?? ['…'];
  const exitCode = exitCodeOf(node) ?? (USAGE_MAKERS.has(maker) ? '2' : '3');
  for (const code of codes) for (const message of messages) yield { code, exitCode, message };
}

/** An error described by an object, which something else makes. */
function* errorsOfObject(node: Node, texts: Texts): Generator<Made> {
  const [code, what, ...said] = ['code', 'what', 'message', 'remedy'].map((name) => memberOf(node, name));
  const parts = said.flatMap((part) => (part ? texts.alternatives(part).slice(0, 1) : []));
  if (!code || parts.length === 0) return;
  const message = [...(what ? [...texts.alternatives(what), '…'] : []), ...parts].join(' ');
  for (const one of texts.alternatives(code)) if (CODE.test(one)) yield { code: one, message };
}

function exitCodeOf(call: Node): string | undefined {
  const options = nodesOf(call.arguments).map((argument) => memberOf(argument, 'exitCode'));
  const value = options.find((option) => option !== undefined);
  if (value?.type === 'Literal') return String(value.value);
  return value?.name === 'WRONG_USE' ? '2' : value && '3';
}

/** What expressions of one statement of a file say. */
class Texts {
  readonly #source: Source;
  readonly #statement: Node;

  constructor(source: Source, statement: Node) {
    this.#source = source;
    this.#statement = statement;
  }

  /** Each text that the expression may be. */
  alternatives(expression: Node): string[] {
    const [left, right, consequent, alternate] = ['left', 'right', 'consequent', 'alternate'].map((side) =>
      nodeIn(expression[side]),
    );
    if (expression.type === 'ConditionalExpression' && consequent && alternate) {
      return [...this.alternatives(consequent), ...this.alternatives(alternate)];
    }
    if (expression.type === 'LogicalExpression' && left && right) {
      return [...this.alternatives(left), ...this.alternatives(right)];
    }
    const constant = expression.type === 'Identifier' ? this.#constant(expression) : undefined;
    return constant ? this.alternatives(constant) : [this.#text(expression)];
  }

  #text(expression: Node): string {
    switch (expression.type) {
      case 'Literal':
        return typeof expression.value === 'string' ? expression.value : '…';
      case 'BinaryExpression': {
        if (expression.operator !== '+') return '…'; // a number
        const both = [expression.left, expression.right].map((side) => this.#part(nodeIn(side))).join('');
        return /[a-z]/.test(both) ? both : '…'; // a sum has no words
      }
      case 'TemplateLiteral': {
        const values = nodesOf(expression.expressions).map((value) => this.#part(value));
        const texts = nodesOf(expression.quasis).map(({ value }) => String(Object(value).cooked));
        return texts
          .map((text, i) => text + (values[i] ?? ''))
          .join('')
          .replace(/…+/g, '…');
      }
      case 'CallExpression': {
        const [command] = nodesOf(expression.arguments);
        return nodeIn(expression.callee)?.name === 'hint' && command ? `lockstep ${this.#part(command)}` : '…';
      }
      default:
        return '…';
    }
  }

  /** An expression as it is written. */
  written({ start, end }: Node): string {
    return this.#source.text.slice(start, end);
  }

  /** A text that is known, or the name of the value in capitals. */
  #part(expression: Node | undefined): string {
    if (expression === undefined) return '…';
    const known = this.alternatives(expression);
    if (known.length === 1 && known[0] !== '…') return known[0] ?? '…';
    if (known.includes('')) return '…'; // a part that may be left out
    const name = NAMED.exec(this.written(expression))?.[1];
    return name === undefined ? '…' : name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
  }

  #constant({ name, start }: Node): Node | undefined {
    const { constants, shared } = this.#source;
    const own = constants.filter((one) => one.name === name);
    const near = own.findLast(({ value, statement }) => statement === this.#statement && value.start < start);
    const top = own.find(isOfFile);
    return (near ?? top ?? shared.find((one) => one.name === name && own.length === 0))?.value;
  }
}

/** Variables, and what parameters are where nothing is given. */
function* constantsIn(statement: Node): Generator<Constant> {
  for (const node of nodesIn(statement)) {
    const id = nodeIn(node.type === 'AssignmentPattern' ? node.left : node.id);
    const value = nodeIn(node.type === 'AssignmentPattern' ? node.right : node.init);
    if (typeof id?.name === 'string' && value) yield { name: id.name, value, statement };
  }
}

/** Not of a function. */
function isOfFile({ value, statement }: Constant): boolean {
  const declaration = nodeIn(statement.declaration) ?? statement;
  return nodesOf(declaration.declarations).some(({ init }) => init === value);
}

function* nodesIn(node: Node): Generator<Node> {
  yield node;
  for (const child of Object.values(node).flatMap((member) =>
    Array.isArray(member) ? nodesOf(member) : (nodeIn(member) ?? []),
  )) {
    yield* nodesIn(child);
  }
}

function memberOf(node: Node, name: string): Node | undefined {
  const member = nodesOf(node.properties).find(({ key }) => nodeIn(key)?.name === name);
  return member && nodeIn(member.value);
}

function nodeIn(value: unknown): Node | undefined {
  return typeof value === 'object' && value !== null && 'type' in value ? (value as Node) : undefined; // only nodes have a type
}

function nodesOf(value: unknown): Node[] {
  return Array.isArray(value) ? value.flatMap((one) => nodeIn(one) ?? []) : [];
}

function sourceFiles(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
  return names.sort().map((name) => path.join(folder, name));
}
