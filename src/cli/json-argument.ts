/** An argument that is JSON, or the name of a file that holds it, led by @. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseJson } from '../client/json.ts';
import { messageOf } from '../errors.ts';
import { wrongUse } from './errors.ts';

/** The value; `option` names it in messages. @throws LockstepError USAGE */
export async function readJsonArgument(
  text: string,
  { option, cwd }: { option: string; cwd: string },
): Promise<unknown> {
  const isFile = text.startsWith('@');
  const source = isFile ? await readText(path.resolve(cwd, text.slice(1)), option) : text;
  try {
    return parseJson(source);
  } catch (error) {
    const where = isFile ? `the file ${text.slice(1)}` : 'its value';
    throw wrongUse(`${option}: ${where} is no JSON (${messageOf(error)}); for a file write @FILE`);
  }
}

async function readText(file: string, option: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw wrongUse(`${option}: the file ${file} cannot be read (${messageOf(error)})`);
  }
}
