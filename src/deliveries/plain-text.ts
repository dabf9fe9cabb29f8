/** What targets say, as the ledger keeps it: short, and harmless to terminals and to Postgres. */
import type { TargetAnswer } from '../targets/target.ts';

const MAX_LENGTH = 500;

/** Control characters become spaces; cut to 500 characters. */
export function plainText(text: string): string {
  const cut = text.slice(0, 4 * MAX_LENGTH); // no work on what is thrown away
  return cut
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, MAX_LENGTH)
    .replaceAll(/\p{Cs}/gu, '\ufffd'); // half a letter, such as one that was cut
}

export function plainAnswer({ httpStatus, text }: TargetAnswer): TargetAnswer {
  return { ...(httpStatus !== undefined && { httpStatus }), ...(text !== undefined && { text: plainText(text) }) };
}
