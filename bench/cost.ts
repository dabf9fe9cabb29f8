/** What a piece of work costs: CPU of this process and of all processes of its Postgres (through /proc), and WAL. */
import fs from 'node:fs/promises';
import type pg from 'pg';

export interface Cost {
  readonly nodeCpuMs: number;
  readonly postgresCpuMs: number;
  readonly walBytes: number;
}

/** Linux counts the CPU of processes in hundredths of a second. */
const TICK_MS = 10;

/** Begins to measure; the returned function reports what was spent since. `pool` has to be on an embedded Postgres. */
export async function measureCost(pool: pg.Pool): Promise<() => Promise<Cost>> {
  const postmaster = await parentOf(await backendOf(pool));
  const before = await spent(pool, postmaster);
  return async () => {
    const after = await spent(pool, postmaster);
    return {
      nodeCpuMs: after.nodeCpuMs - before.nodeCpuMs,
      postgresCpuMs: after.postgresCpuMs - before.postgresCpuMs,
      walBytes: after.walBytes - before.walBytes,
    };
  };
}

async function spent(pool: pg.Pool, postmaster: number): Promise<Cost> {
  const wal = await pool.query<{ bytes: string }>(`select pg_current_wal_insert_lsn() - '0/0' as bytes`);
  const { user, system } = process.cpuUsage();
  return {
    nodeCpuMs: (user + system) / 1000,
    postgresCpuMs: await familyCpuMs(postmaster),
    walBytes: Number(wal.rows[0]?.bytes),
  };
}

/** Of its tables and their indexes. */
export async function ledgerBytes(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: string }>(
    `select sum(pg_total_relation_size(oid)) as bytes from pg_class where relkind = 'r' and relnamespace = 'ledger'::regnamespace`,
  );
  return Number(rows[0]?.bytes);
}

/** CPU that a process has used. */
export async function cpuMsOf(pid: number): Promise<number> {
  const [user, system] = (await statOf(pid)).slice(11, 13).map(Number);
  return ((user ?? 0) + (system ?? 0)) * TICK_MS;
}

/** CPU that a process and its children have used, including ended children. */
export async function familyCpuMs(pid: number): Promise<number> {
  const [own = [], ...others] = await Promise.all((await familyOf(pid)).map((one) => statOf(one).catch(() => [])));
  const ticks = [...own.slice(11, 15), ...others.flatMap((stat) => stat.slice(11, 13))];
  return ticks.reduce((sum, one) => sum + Number(one), 0) * TICK_MS;
}

/** A process and its children. */
export async function familyOf(pid: number): Promise<readonly number[]> {
  const children = (await fs.readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim();
  return [pid, ...(children === '' ? [] : children.split(' ').map(Number))];
}

/** A figure of a process in MB, such as `VmRSS` in `status`, or `Pss` in `smaps_rollup`, in which processes share what they share. */
export async function memoryMb(pid: number, name: string, file = 'status'): Promise<number> {
  const text = await fs.readFile(`/proc/${pid}/${file}`, 'utf8');
  return (Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]) * 1_024) / 1e6;
}

/** The most memory that this process has had; `resourceUsage` counts the memory of the process that started it, too. */
export const peakMemoryMb = (): Promise<number> => memoryMb(process.pid, 'VmHWM');

async function backendOf(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}

async function parentOf(pid: number): Promise<number> {
  return Number((await statOf(pid))[1]);
}

/** The fields of /proc/PID/stat after the command's name, from the state on. */
async function statOf(pid: number): Promise<readonly string[]> {
  const stat = await fs.readFile(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
