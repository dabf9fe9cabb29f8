/** An argument that is JSON, or @FILE: the name of a file that contains it. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf, wrongUse } from '../../base/errors.ts';
import { parseJson } from '../../client/call/json.ts';

/** The value; `option` names it in messages. @throws LockstepError USAGE */
export async function readJsonArgument(
  text: string,
  { option, cwd }: { option: string; cwd: string },
): Promise<unknown> {
  const file = text.startsWith('@') ? text.slice(1) : undefined;
  const unreadable = (error: unknown): never => {
    throw wrongUse(`${option}: the file ${file} cannot be read (${messageOf(error)})`);
  };
  const source = file === undefined ? text : await readFile(path.resolve(cwd, file), 'utf8').catch(unreadable);
  try {
    return parseJson(source);
  } catch (error) {
    const where = file === undefined ? 'its value' : `the file ${file}`;
    throw wrongUse(`${option}: ${where} is not JSON (${messageOf(error)}); to read a file, write @FILE`);
  }
}
