/** The log on stderr, one line per entry: text on a terminal, otherwise JSON. Text has times once `info` is logged. */
import { format } from 'node:util';
import pino, { type Logger } from 'pino';
import { z } from 'zod';
import { formatTime } from '../operator/format.ts';
import type { Screen } from './print/screen.ts';

const entrySchema = z.looseObject({
  level: z.number(),
  time: z.number(),
  msg: z.string().default(''),
  err: z.object({ message: z.string(), stack: z.string().optional() }).optional(),
});

const MINUTE_MS = 60_000;
const FRAME = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'err']);

/** Without `isVerbose`: warnings and above, and no stacks. `clear` removes the line of progress at the bottom of a terminal. */
export function createLog(stderr: Screen, { isVerbose, clear }: { isVerbose: boolean; clear?: () => void }): Logger {
  const write = (line: string): void => {
    clear?.();
    const how = { isVerbose, hasTime: log.isLevelEnabled('info') };
    stderr.write(stderr.isTTY === true ? readable(line, how) : line);
  };
  const log = pino(
    {
      level: isVerbose ? 'debug' : 'warn',
      base: null,
      serializers: { err: isVerbose ? pino.stdSerializers.err : withoutStack },
      hooks: isVerbose ? {} : { logMethod: onceAMinute() },
    },
    { write },
  );
  return log;
}

/** Logs what happens, not only warnings: for a process that runs for long. */
export function logEvents(log: Logger): void {
  if (!log.isLevelEnabled('info')) log.level = 'info';
}

/** Logs what libraries write to the console, such as a warning about a server, until the function it returns is called. */
export function logConsole(log: Logger): () => void {
  const { warn } = console;
  console.warn = (...said: unknown[]) => log.warn(format(...said));
  return () => {
    console.warn = warn;
  };
}

/** A failure that repeats, as in an outage, is logged once a minute, and then with how often it came in between. */
function onceAMinute(): NonNullable<pino.LoggerOptions['hooks']>['logMethod'] {
  const failures = new Map<string, { readonly loggedAtMs: number; repeated: number }>();
  return function (args, method) {
    const [fields, message, ...rest] = args;
    if (!isFailure(fields)) return method.apply(this, args);
    const key = JSON.stringify(args, (_, value) => (value instanceof Error ? value.message : value));
    const before = failures.get(key);
    const now = performance.now();
    if (before !== undefined && now - before.loggedAtMs < MINUTE_MS) {
      before.repeated++;
      return undefined;
    }
    for (const [old, { loggedAtMs }] of failures) if (now - loggedAtMs >= MINUTE_MS) failures.delete(old);
    failures.set(key, { loggedAtMs: now, repeated: 0 });
    const { repeated = 0 } = before ?? {};
    return method.apply(this, repeated === 0 ? args : [{ ...fields, repeated }, message, ...rest]);
  };
}

function isFailure(fields: unknown): fields is { readonly err: unknown } {
  return typeof fields === 'object' && fields !== null && 'err' in fields;
}

function withoutStack(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return { type: error.name, message: error.message, ...('code' in error && { code: error.code }) };
}

function readable(line: string, { isVerbose, hasTime }: { isVerbose: boolean; hasTime: boolean }): string {
  const entry = entrySchema.parse(JSON.parse(line));
  const level = pino.levels.labels[entry.level] ?? 'log';
  const details = Object.entries(entry)
    .filter(([name]) => !FRAME.has(name))
    .map(
      ([name, value]) =>
        `${name}=${typeof value === 'string' ? value : JSON.stringify(value).replaceAll(/["{}]/g, '')}`,
    );
  const error = entry.err === undefined ? '' : `: ${entry.err.message}`;
  const stack = isVerbose && entry.err?.stack !== undefined ? `\n${entry.err.stack}` : '';
  const time = hasTime ? `${formatTime(new Date(entry.time))} ` : '';
  return `${time}${level}: ${[`${entry.msg}${error}`, ...details].join('  ')}${stack}\n`;
}
