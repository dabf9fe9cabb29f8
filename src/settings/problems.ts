/** The problems in a settings file: the list that a user reads, with every problem at once. */
import { visible } from '../base/visible.ts';

export interface Position {
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
}

export interface Problem {
  /** Keys and list indexes from the top of the file; empty for the file itself. */
  readonly path: readonly PathStep[];
  readonly message: string;
  /** Absent if the problem is not in the file, for example in the value of an environment variable. */
  readonly position: Position | undefined;
}

export type PathStep = string | number;

/** `accounts.demo.budget.per`, `syncs.mirror.targets[0]`, `accounts["my account"]`. */
export function formatPath(path: readonly PathStep[]): string {
  return path.map(formatStep).join('');
}

function formatStep(step: PathStep, index: number): string {
  if (typeof step === 'number') return `[${step}]`;
  if (!/^[\w$-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
  return index === 0 ? step : `.${step}`;
}

/** One line per problem, `file:line:column path: message`, in the order of the file. */
export function formatProblems(file: string, problems: readonly Problem[]): string {
  return problems
    .toSorted(byPosition)
    .map((problem) => formatProblem(file, problem))
    .join('\n');
}

/** One line: parsers repeat the text that they refuse, whatever characters it has. */
export function formatProblem(file: string, { path, message, position }: Problem): string {
  const location = position === undefined ? '' : `${file}:${position.line}:${position.column} `;
  const subject = formatPath(path);
  return visible(subject === '' ? `${location}${message}` : `${location}${subject}: ${message}`);
}

function byPosition(a: Problem, b: Problem): number {
  const [first, second] = [a.position, b.position];
  if (first === undefined || second === undefined) return Number(first === undefined) - Number(second === undefined);
  return first.line - second.line || first.column - second.column;
}
