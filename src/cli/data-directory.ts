/** Which directories may be the data directory of a command. */
import { readdirSync } from 'node:fs';
import { codeOf, wrongUse } from '../base/errors.ts';

/** What Lockstep keeps in it. */
const POSTGRES = 'postgres';
const BESIDE_IT = ['keys', 'received', 'uploads', 'recent-runs'];
/** A new file system has it. */
const OF_THE_SYSTEM = 'lost+found';

/**
 * An empty directory may become one: services and containers find theirs so. @throws LockstepError DATA_MISSING if there is none
 * (unless `mayBeNew`), DATA_WITHOUT_POSTGRES if only its Postgres is not there (unless `mayBeNew`), DATA_FOREIGN if it has files of
 * something else only
 */
export function requireDataDirectory(dir: string, { mayBeNew = false } = {}): void {
  const names = namesIn(dir);
  // In the wrong directory, a command would work on a new, empty workspace and report that all is well.
  if (names === undefined && !mayBeNew)
    throw wrongUse(
      `There is no data directory ${dir}. Change to the right directory, or name yours with --data. ` +
        'To start a new workspace here, add --init. To see Lockstep at work first, run lockstep demo',
      'DATA_MISSING',
    );
  const others = names?.filter((name) => name !== OF_THE_SYSTEM) ?? [];
  if (others.length === 0 || others.includes(POSTGRES)) return;
  const wasUsed = others.some((name) => BESIDE_IT.includes(name));
  if (wasUsed && !mayBeNew)
    throw wrongUse(
      `${dir} was used, and has no Postgres. If the ledger is in another one, set DATABASE_URL as for the earlier commands. ` +
        'To start with an empty ledger here, add --init.',
      'DATA_WITHOUT_POSTGRES',
    );
  if (wasUsed || others.some((name) => name.startsWith('demo-'))) return;
  throw wrongUse(
    `${dir} has files, but no data of Lockstep, so it is not used. Name the data directory with --data; for a new workspace, name one that is empty or does not exist yet.`,
    'DATA_FOREIGN',
  );
}

/** Undefined if there is no such directory. */
function namesIn(dir: string): readonly string[] | undefined {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    return []; // what is wrong is said where it is opened
  }
}
