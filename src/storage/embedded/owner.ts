/**
 * The users that run Postgres' programs if this process is root, because Postgres refuses to run as root.
 *
 * Postgres itself runs as the owner of the data directory if that is an ordinary user, who can then use it too. In a
 * directory that root owns, it runs as a user id of its own, derived from the directory: no other process has that id, so
 * none can read its files, connect to its socket or trace it. The id needs no entry in /etc/passwd; initdb and the
 * single-user mode do need one, so they borrow an account that no process runs as.
 */
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { codeOf, LockstepError } from '../../base/errors.ts';
import { notUnprivileged } from './errors.ts';

/** A user and group to run a program as. */
export interface RunAs {
  readonly uid: number;
  readonly gid: number;
}

/** What earlier versions ran Postgres as. */
const NOBODY_UID = 65_534;

/** Ids that systemd's table of ids calls unused; the second range is for containers that map 65,536 ids only. */
const OWN_IDS = [
  { first: 1_900_000_000, count: 2 ** 27 },
  { first: 60_578, count: 606 },
] as const;

/** The user who owns the folder `dir` of a Postgres; a folder that root owns is given to that user. Throws EMBEDDED_ROOT. */
export async function ownerFor(dir: string): Promise<RunAs> {
  const own = await fs.stat(dir);
  const parent = await fs.stat(path.dirname(dir));
  const isLeftByNobody = own.uid === NOBODY_UID && parent.uid === 0;
  if (own.uid !== 0 && !isLeftByNobody) return { uid: own.uid, gid: own.gid };
  const owner = parent.uid === 0 ? await ownId(own.ino) : { uid: parent.uid, gid: parent.gid };
  if (own.uid === 0) await refusingRoot(() => fs.lchown(dir, owner.uid, owner.gid));
  return owner;
}

/** Whether it is an id that only a Postgres has. */
export function isOwnId(uid: number): boolean {
  return OWN_IDS.some(({ first, count }) => uid >= first && uid < first + count);
}

/** Gives everything in `dir` to a user; the folder itself last, so that its owner shows whether everything was given. */
export async function giveTo(dir: string, { uid, gid }: RunAs): Promise<void> {
  if ((await fs.lstat(dir)).uid === uid) return;
  await promisify(execFile)('chown', ['-R', '-h', `${uid}:${gid}`, '.'], { cwd: dir });
}

/** `owner` itself if it has a name, otherwise an account that no process runs as. Throws EMBEDDED_ROOT. */
export async function namedUser(owner: RunAs): Promise<RunAs> {
  const accounts = await readAccounts();
  if (accounts.some(({ uid }) => uid === owner.uid)) return owner;
  const busy = await usersOfProcesses();
  const free = accounts.find(({ uid }) => uid !== 0 && !busy.has(uid));
  if (free) return free;
  throw notUnprivileged(new LockstepError('NO_ACCOUNT', 'a process runs as every account of /etc/passwd'));
}

async function ownId(seed: number): Promise<RunAs> {
  if (process.platform !== 'linux') {
    throw notUnprivileged(new LockstepError('NO_OWN_ID', 'root can give it a user id of its own only on Linux'));
  }
  const mapped = parseMap(await fs.readFile('/proc/self/uid_map', 'utf8'));
  const range = OWN_IDS.find(({ first, count }) => first + count <= mapped);
  if (!range) throw notUnprivileged(new LockstepError('NO_OWN_ID', 'this container maps too few user ids'));
  const id = range.first + (seed % range.count);
  return { uid: id, gid: id };
}

/** How many ids from 0 on this container maps; its own map has one line for each part. */
function parseMap(text: string): number {
  const parts = text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  parts.sort(([a = 0], [b = 0]) => a - b);
  let end = 0;
  for (const [first = 0, , count = 0] of parts) if (first === end) end += count;
  return end;
}

async function readAccounts(): Promise<RunAs[]> {
  const lines = (await fs.readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n');
  return lines
    .map((line) => line.split(':'))
    .filter(([name, , uid, gid]) => name && /^\d+$/.test(uid ?? '') && /^\d+$/.test(gid ?? ''))
    .map(([, , uid, gid]) => ({ uid: Number(uid), gid: Number(gid) }));
}

async function usersOfProcesses(): Promise<ReadonlySet<number>> {
  const users = new Set<number>();
  for (const pid of await fs.readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const status = await fs.readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''); // it may have ended
    for (const uid of /^Uid:\s+(.*)$/m.exec(status)?.[1]?.split(/\s+/) ?? []) users.add(Number(uid));
  }
  return users;
}

/** Some containers let root neither give files away nor become another user. */
async function refusingRoot(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw ['EPERM', 'EINVAL'].includes(codeOf(error) ?? '') ? notUnprivileged(error) : error;
  }
}
