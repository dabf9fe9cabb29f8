/** Messages of targets as the ledger stores them: short, and safe for terminals and Postgres. */
import type { TargetAnswer } from '../../contract/target.ts';

const MAX_LENGTH = 500;

/** Control characters become spaces; cut to 500 characters. */
export function plainText(text: string): string {
  const cut = text.slice(0, 4 * MAX_LENGTH); // only the part that is kept is processed
  return cut
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, MAX_LENGTH)
    .replaceAll(/\p{Cs}/gu, '\ufffd'); // half of a surrogate pair, for example where the text was cut
}

export function plainAnswer({ httpStatus, text }: TargetAnswer): TargetAnswer {
  return { ...(httpStatus !== undefined && { httpStatus }), ...(text !== undefined && { text: plainText(text) }) };
}
