/** `lockstep call`: one operation of the service's contract, through the account's client and rate budget. */
import { InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import { closest } from '../../base/closest.ts';
import { wrongUse } from '../../base/errors.ts';
import type { Outcome } from '../../client/call/outcome.ts';
import type { Operation } from '../../contract/operation.ts';
import { isOperationName, type OperationName, operationNames, operations } from '../../contract/operations.ts';
import { formatTook } from '../../operator/format.ts';
import { didYouMean, oneOf, quote } from '../../settings/message-parts.ts';
import { accountChosen } from '../../settings/settings.ts';
import type { Command } from '../command.ts';
import { DONE, DONE_WITH_PROBLEMS, type ExitCode, FAILED } from '../errors.ts';
import type { Perform, Session } from '../session.ts';
import { ACCOUNT_WORDS } from './arguments.ts';
import { readJsonArgument } from './json-argument.ts';

interface CallOptions {
  readonly account?: string;
  readonly param?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly list?: boolean;
}

export function define(command: Command, perform: Perform): void {
  command
    .description(
      'Calls one operation of the contract with the key, the dialect and the rate budget of an account, and prints the ' +
        'answer. --list shows the 27 operations and their parameters. Exits with 0 if the service applied the call, 1 if ' +
        'it refused, and 3 if the outcome is unknown or the call could not be sent.',
    )
    .argument('[operation]', 'name of the operation, such as contacts.search')
    .option('--account <name>', ACCOUNT_WORDS)
    .option('--param <name=value>', 'a parameter of the path or the query; can be repeated', collectParam)
    .option('--body <json>', 'the body: JSON or @FILE')
    .option('--list', 'list the operations')
    .examples(`
  $ lockstep call --list
  $ lockstep call contacts.search --account demo --param search_term=smith
  $ lockstep call contacts.create --account demo --body '{"first_name": "Ann", "email": "ann@example.com"}'
  $ lockstep call tasks.complete --account demo --param task_id=7 --body '{"isCompleted": true}'`)
    .action(
      perform((session, operation: string | undefined, options: CallOptions) =>
        options.list ? list(session) : call(session, operation, options),
      ),
    );
}

function collectParam(text: string, earlier: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Expected NAME=VALUE.');
  return { ...earlier, [text.slice(0, at)]: text.slice(at + 1) };
}

async function list({ out }: Session): Promise<void> {
  const described = operationNames.map((name) => ({ name, ...describeOperation(operations[name]) }));
  const rows = described.map(({ name, method, path, params, body, summary }) => [
    name,
    `${method} ${path}`,
    params.map((param) => (param.required ? param.name : `[${param.name}]`)).join(' '),
    body.length > 0 ? 'body' : '',
    summary,
  ]);
  out.table(['OPERATION', 'PATH', 'PARAMS', '', 'SUMMARY'], rows);
  out.say(
    '',
    'Parameters in brackets are optional. For the fields of a body, see /docs of the service or lockstep call --list --json.',
  );
  out.result({ operations: described });
}

function describeOperation({ method, path, summary, params, query, body }: Operation) {
  const inPath = Object.keys(params.shape).map((name) => ({ name, in: 'path', required: true }));
  const inQuery = Object.entries(query.shape).map(([name, schema]) => ({
    name,
    in: 'query',
    required: !schema.safeParse(undefined).success,
  }));
  return { method, path, summary, params: [...inPath, ...inQuery], body: body ? Object.keys(body.shape) : [] };
}

async function call(session: Session, name: string | undefined, options: CallOptions): Promise<ExitCode> {
  const operation = operationNamed(name);
  const { path, query } = splitParams(operation, options.param ?? {});
  const body = await readBody(session, operation, options.body);
  const account = accountChosen(await session.settings(), options.account);
  const signal = session.untilStopped('Waiting for the answer. Press Ctrl-C again to stop at once.');
  const workspace = await session.openWorkspace();
  const { client } = await workspace.accounts.inspect(account.name);
  const outcome = await client.call(operation, {
    lane: 'interactive',
    path,
    query,
    signal,
    body,
  });
  tell(session, operation, outcome);
  return exitCodeFor(outcome);
}

function operationNamed(name: string | undefined): OperationName {
  if (name === undefined) throw wrongUse('The operation is missing. List all operations with: lockstep call --list');
  if (isOperationName(name)) return name;
  throw wrongUse(
    `No operation named ${quote(name)}${didYouMean(name, operationNames) || '.'} List all operations with: lockstep call --list`,
  );
}

/** Splits parameters into path and query. @throws LockstepError USAGE if one is unknown or missing */
function splitParams(
  name: OperationName,
  given: Readonly<Record<string, string>>,
): { path: Record<string, string>; query: Record<string, string> } {
  const operation: Operation = operations[name];
  const { params } = describeOperation(operation);
  const names = params.map((param) => param.name);
  for (const one of Object.keys(given)) {
    if (names.includes(one)) continue;
    const known = names.length === 0 ? `${name} has none` : `${name} has ${oneOf(names)}`;
    const body = operation.body ? '; the fields of its record go into --body' : '';
    throw wrongUse(`No parameter named ${quote(one)}${didYouMean(one, names)} (${known}${body})`);
  }
  const absent = params.filter((param) => param.required && given[param.name] === undefined);
  if (absent.length > 0) {
    throw wrongUse(`${name} needs ${absent.map((param) => `--param ${param.name}=…`).join(' and ')}`);
  }
  const of = (location: string) =>
    Object.fromEntries(
      Object.entries(given).filter(([one]) => params.some((param) => param.name === one && param.in === location)),
    );
  return { path: of('path'), query: of('query') };
}

async function readBody({ cwd, out }: Session, name: OperationName, text: string | undefined): Promise<unknown> {
  if (text === undefined) return undefined;
  const operation: Operation = operations[name];
  if (!operation.body) throw wrongUse(`${name} takes no body`);
  const body: unknown = await readJsonArgument(text, { option: '--body', cwd });
  for (const warning of unknownFields(name, operation.body, body)) out.complain(`lockstep: Warning: ${warning}`);
  return body;
}

/** A service may have more fields than the contract, so such a body is sent. */
function unknownFields(name: OperationName, { shape }: z.ZodObject, body: unknown): readonly string[] {
  const known = Object.keys(shape);
  return Object.keys(body ?? {})
    .filter((field) => !known.includes(field))
    .map((field) => {
      const guess = closest(field, known);
      const hint = guess === undefined ? `It has ${oneOf(known)}.` : `Did you mean ${quote(guess)}?`;
      return `the body of ${name} has no field ${quote(field)} in the contract. It is sent unchanged. ${hint}`;
    });
}

function tell({ out }: Session, name: OperationName, outcome: Outcome): void {
  if (outcome.status === 'applied') {
    out.say(`${name}: applied (HTTP ${outcome.httpStatus})`);
    if (outcome.content !== undefined) out.say(JSON.stringify(outcome.content, undefined, 2));
  } else {
    const http = 'httpStatus' in outcome && outcome.httpStatus !== undefined ? ` (HTTP ${outcome.httpStatus})` : '';
    const why =
      'message' in outcome ? outcome.message : `the service asked for a pause of ${formatTook(outcome.retryAfterMs)}`;
    out.complain(`lockstep: ${name}: ${outcome.status}${http}: ${why}`);
  }
  out.result({ operation: name, outcome });
}

function exitCodeFor({ status }: Outcome): ExitCode {
  if (status === 'applied') return DONE;
  return status === 'refused' ? DONE_WITH_PROBLEMS : FAILED;
}
