/** What tests compare most often: outcomes of deliveries and errors, of whose text they know a part. */
import { expect } from 'vitest';

/** The outcome of a delivery. `detail`: a part of the text. */
export function anOutcome(status: string, reason: string, detail: string | RegExp) {
  return { status, reason, detail: textWith(detail) };
}

/** An error of Lockstep. `message`: a part of the text. */
export function anError(code: string, message: string | RegExp, exitCode?: number) {
  return { code, message: textWith(message), ...(exitCode !== undefined && { exitCode }) };
}

function textWith(part: string | RegExp) {
  return typeof part === 'string' ? expect.stringContaining(part) : expect.stringMatching(part);
}
