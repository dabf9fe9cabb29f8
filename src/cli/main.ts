/** Entry point of the command line: runs one command in this process and sets the exit code. */
import { setTimeout as delay } from 'node:timers/promises';
import { commandFailure, DONE, type ExitCode } from './errors.ts';
import type { GlobalOptions } from './global-options.ts';
import { styled } from './print/colour.ts';
import { createOutput, OUTPUT_CLOSED } from './print/output.ts';
import { screenOf } from './print/screen.ts';
import { buildProgram } from './program.ts';
import type { Process, Session, Surroundings, Work } from './session.ts';

/** After a failure, closing may hang on a lost database; the command ends after this time anyway. */
const CLOSE_AFTER_FAILURE_MS = 5_000;
/** The process ends after this time even if a library has left a handle open. */
const LINGER_MS = 1_000;

/** Runs the command of `argv` (without node and the script) as the process it is in. */
export async function main(argv: readonly string[]): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', () => undefined); // the reader has gone, as in `lockstep runs | head`; `content` rejects
  }
  process.exitCode = await runCommand(argv, {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    signals: process,
    stdin: process.stdin,
    abort: end,
  });
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

/** Ends the process at once. `process.exit` would wait for a read that does not end, as of a pipe without a writer. */
function end(exitCode: number): never {
  if (process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'))) process.kill(process.pid, 'SIGKILL');
  process.exit(exitCode);
}

/** Never rejects: prints what failed and returns its exit code. */
export async function runCommand(argv: readonly string[], process: Process): Promise<ExitCode> {
  const { env } = process;
  const around = { ...process, stdout: screenOf(process.stdout, env), stderr: screenOf(process.stderr, env) };
  let exitCode: ExitCode = DONE;
  let session: Session | undefined;
  try {
    const work = async (options: GlobalOptions, command: Work<[]>): Promise<void> => {
      const { Session } = await import('./session.ts'); // help and usage errors need none
      session = new Session(around, options);
      const code = await command(session);
      if (typeof code === 'number') exitCode = code;
      await session.close();
    };
    await buildProgram(around, work).parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    const failed = tellFailure(argv, around, error, session);
    const closing = session?.close().catch(() => undefined);
    await Promise.race([closing, delay(CLOSE_AFTER_FAILURE_MS, undefined, { ref: false })]);
    return failed;
  }
}

function tellFailure(
  argv: readonly string[],
  { stdout, stderr }: Surroundings,
  error: unknown,
  session: Session | undefined,
): ExitCode {
  const failure = commandFailure(error, session?.database());
  if (failure === undefined) return DONE;
  // Without a session, parsing the options may be what failed.
  const out = session?.out ?? createOutput(stdout, stderr, { isJson: argv.includes('--json') });
  if (failure.code !== OUTPUT_CLOSED) out.complain(`${styled('bad', 'lockstep:')} ${failure.message}`);
  if (argv.includes('--verbose') && error instanceof Error) out.complain(error.stack ?? '');
  out.result({ error: { code: failure.code, message: failure.message } });
  return failure.exitCode;
}
