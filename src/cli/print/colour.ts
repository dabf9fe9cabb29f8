/**
 * Colours on a terminal. A styled text has marks, characters that no text uses, until the output turns them into colours or
 * leaves them out: so control characters in other texts stay escaped.
 */

const STYLES = {
  good: { mark: '\ufdd0', code: '32' },
  bad: { mark: '\ufdd1', code: '31' },
  warn: { mark: '\ufdd2', code: '33' },
  dim: { mark: '\ufdd3', code: '2' },
  strong: { mark: '\ufdd4', code: '1' },
} as const;
const END = '\ufdd5';

export type Style = keyof typeof STYLES;

export function styled(style: Style, text: string): string {
  return text === '' ? '' : `${STYLES[style].mark}${text}${END}`;
}

/** Control codes for a terminal; without colour, the plain text. */
export function paint(text: string, isColour: boolean): string {
  return text.replace(MARKS, (mark) => (isColour ? `\u001b[${CODES.get(mark) ?? '0'}m` : ''));
}

const CODES = new Map<string, string>(Object.values(STYLES).map(({ mark, code }) => [mark, code]));
const MARKS = new RegExp(`[${[...CODES.keys()].join('')}${END}]`, 'g');

/** Whether to colour: only a terminal, unless FORCE_COLOR is set; never with NO_COLOR (https://no-color.org). */
export function wantsColour(isTTY: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0';
  return isTTY && env.TERM !== 'dumb';
}
