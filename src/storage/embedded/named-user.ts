/** Runs the programs of Postgres that need a user with a name: initdb and the single-user mode. */
import os from 'node:os';
import { messageOf } from '../../base/errors.ts';
import { startFailed } from './errors.ts';
import { giveTo, namedUser } from './owner.ts';
import { type Paths, runAs } from './paths.ts';

/** Runs a program in the directory, with `input` on its stdin. Throws EMBEDDED_START_FAILED. */
export type RunNamed = (program: string, args: readonly string[], input?: string) => Promise<void>;

/** A container's arbitrary user id has no name, but may have a namespace of its own, in which it has one. */
const AS_A_NAMED_USER = ['--user', '--map-user=65534', '--map-group=65534'];

/** Runs `work` in `dir`, which belongs to the named user meanwhile and to the server's user before and after. */
export async function asNamedUser(paths: Paths, dir: string, work: (run: RunNamed) => Promise<void>): Promise<void> {
  const user = paths.runAs && (await namedUser(paths.runAs));
  const isNameless = !hasName();
  const run: RunNamed = async (program, args, input) => {
    const [first, before] = isNameless ? ['unshare', [...AS_A_NAMED_USER, program]] : [program, []];
    await runAs(user ? { runAs: user } : {}, first, [...before, ...args], dir, input).catch((error) => {
      const nameless = `, since user id ${process.geteuid?.()} has no name: add a line for it to /etc/passwd`;
      const name = program.split('/').at(-1);
      throw startFailed(paths.dataDir, `${name} failed${isNameless ? nameless : ''}: ${messageOf(error).trim()}`, '');
    });
  };
  if (user) await giveTo(dir, user);
  await work(run);
  if (paths.runAs) await giveTo(dir, paths.runAs);
}

function hasName(): boolean {
  if (process.geteuid?.() === 0) return true; // another user runs it then
  try {
    os.userInfo();
    return true;
  } catch {
    return false;
  }
}
