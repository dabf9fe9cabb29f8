/** Parses the text of the settings into `Settings`, or into the list of all problems. Pure: reads no file. */
import { dirname } from 'node:path';
import type { z } from 'zod';
import { readDocument, type SettingsDocument } from './document.ts';
import { guessDocument } from './guesses.ts';
import type { Hidden } from './hidden.ts';
import { explainIssue, listIssues, type Mistake, UNKNOWN_KEY } from './issues.ts';
import { placeFinder } from './misplaced.ts';
import { formatPath, formatProblem, type Problem } from './problems.ts';
import { checkReferences } from './references.ts';
import { type Overrides, resolveSettings } from './resolve.ts';
import { databaseUrl, redisUrl, settingsFile, settingsJsonSchema, VARIANTS } from './schema.ts';
import type { Settings } from './settings.ts';
import { findWarnings } from './warnings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type ParsedSettings =
  | { readonly status: 'valid'; readonly settings: Settings }
  | { readonly status: 'invalid'; readonly problems: readonly Problem[] };

export interface SettingsSource {
  readonly text: string;
  /** Absolute path of the file. Relative paths of secrets start at its directory. */
  readonly file: string;
  /** DATABASE_URL and REDIS_URL override the file; an empty variable counts as unset. */
  readonly env: Environment;
}

const EMPTY: Problem = {
  path: [],
  message: 'the settings are empty: expected at least accounts, with one account',
  position: { line: 1, column: 1 },
};

/** Reports all problems at once; never throws. */
export function parseSettings({ text, file, env }: SettingsSource): ParsedSettings {
  const document = readDocument(text);
  const { overrides, problems: envProblems } = readOverrides(env);
  if (document.value === undefined) return { status: 'invalid', problems: [...document.problems, ...envProblems] };
  if (document.value === null) return { status: 'invalid', problems: [...document.problems, EMPTY, ...envProblems] };
  const parsed = settingsFile.safeParse(document.value, { error: explainIssue });
  const mistakes = unique([
    ...(parsed.success ? [] : findAll(document.value, parsed.error.issues)),
    ...checkReferences(document.value, dirname(file)),
  ]).filter(({ path }) => !path.includes('__proto__')); // the document has already refused this key
  const problems = [...document.problems, ...locateAll(document, mistakes), ...envProblems];
  if (!parsed.success || problems.length > 0) return { status: 'invalid', problems };
  const warnings = locateAll(document, findWarnings(parsed.data)).map((problem) => formatProblem(file, problem));
  return { status: 'valid', settings: { ...resolveSettings(parsed.data, file, overrides), warnings } };
}

/** With these issues, what the schema finds only once names and types are right. */
function findAll(value: unknown, issues: readonly z.core.$ZodIssue[]): Mistake[] {
  const check = (document: unknown) => settingsFile.safeParse(document, { error: explainIssue }).error?.issues ?? [];
  const guessed = guessDocument(value, VARIANTS);
  // A wrong type below a wrong name is found in the document that has the right names and no other guess.
  const further = [...check(guessDocument(value, {}).value), ...check(guessed.value)];
  return listIssues([...issues, ...further])
    .flatMap((mistake) => guessed.original(mistake) ?? [])
    .map((mistake) => (mistake.message === UNKNOWN_KEY ? withPlace(mistake) : mistake));
}

const rightPlace = placeFinder(settingsJsonSchema);

/** Says in which map the key belongs. */
function withPlace(mistake: Mistake): Mistake {
  const place = rightPlace(mistake.path);
  return place === undefined
    ? mistake
    : {
        ...mistake,
        message: `${mistake.message}; it belongs ${place.length === 0 ? 'at the top level' : `in ${formatPath(place)}`}`,
      };
}

function unique(mistakes: readonly Mistake[]): Mistake[] {
  const seen = new Map(mistakes.map((mistake) => [JSON.stringify([mistake.path, mistake.message]), mistake]));
  return [...seen.values()];
}

function locateAll(document: SettingsDocument, mistakes: readonly Mistake[]): Problem[] {
  return mistakes.map(({ path, message, part }) => ({ path, message, position: document.locate(path, part) }));
}

function readOverrides(env: Environment): { overrides: Overrides; problems: Problem[] } {
  const problems: Problem[] = [];
  const read = (variable: string, schema: z.ZodType<Hidden | undefined>) => {
    const text = env[variable]?.trim() ?? '';
    const parsed = text === '' ? undefined : schema.safeParse(text);
    for (const { message } of parsed?.error?.issues ?? []) {
      problems.push({ path: [], message: `environment variable ${variable}: ${message}`, position: undefined });
    }
    return parsed?.success ? { url: parsed.data } : undefined;
  };
  const overrides = { database: read('DATABASE_URL', databaseUrl), redis: read('REDIS_URL', redisUrl) };
  return { overrides, problems };
}
