/**
 * `client`, which awaits `note` before it returns the outcome of the first call that the service has accepted: what follows
 * from that call then rests on the note. A call rejects if `note` does, and the next one tries again.
 */
import type { Client } from '../../client/call/client.ts';
import type { Outcome, StreamOutcome } from '../../client/call/outcome.ts';

export function afterFirstAccepted(client: Client, note: () => Promise<void>): Client {
  let noted: Promise<void> | undefined;
  async function after<T extends Outcome | StreamOutcome>(outcome: T): Promise<T> {
    if (outcome.status !== 'applied') return outcome;
    noted ??= note().catch((error: unknown) => {
      noted = undefined;
      throw error;
    });
    await noted;
    return outcome;
  }
  return {
    ...client,
    call: async (operation, options) => after(await client.call(operation, options)),
    stream: async (operation, options) => after(await client.stream(operation, options)),
  };
}
