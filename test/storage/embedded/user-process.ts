/** Processes that use an embedded Postgres, for tests that end them in every possible way. */
import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { programFile } from '../../support/programs.ts';

const said = z.object({
  connection: z
    .object({
      host: z.string(),
      port: z.number(),
      user: z.string(),
      password: z.string(),
      database: z.string(),
      ssl: z.literal(false),
    })
    .optional(),
  code: z.string().optional(),
  message: z.string().optional(),
});

export interface UserProcess {
  /** Its report: the connection once it is ready, or the error's code and message. Rejects if it dies before. */
  readonly said: Promise<z.infer<typeof said>>;
  /** Ends it cleanly. */
  close(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

export function startUser(dataDir: string, options: Pick<SpawnOptions, 'uid' | 'gid' | 'env'> = {}): UserProcess {
  const args = [programFile('test/storage/embedded/user-program'), dataDir];
  const child = spawn(process.execPath, args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const line = new Promise<string>((resolve, reject) => {
    createInterface(child.stdout)
      .once('line', resolve)
      .once('close', () => reject(new Error('it ended in silence')));
  });
  const answer = line.then((text) => said.parse(JSON.parse(text)));
  answer.catch(() => undefined); // a test that kills it early does not wait for it
  return {
    said: answer,
    close: async () => {
      child.stdin.end();
      await exited;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
