/** Asks a person on the terminal. */
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { Screen } from './print/screen.ts';

interface Terminal {
  readonly stdin?: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Pick<Screen, 'write'>;
}

export class Question {
  readonly #terminal: Terminal;
  #isAsked = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  get canAsk(): boolean {
    return this.#terminal.stdin?.isTTY === true;
  }

  /** Undefined if the signal aborts or the input ends. */
  async ask(question: string, signal: AbortSignal): Promise<'yes' | 'no' | undefined> {
    const { stdin, stdout } = this.#terminal;
    if (!stdin) return undefined;
    const asking = createInterface({ input: stdin });
    try {
      stdout.write(`${question} [y/N] `);
      this.#isAsked = true;
      // At the end of the input, the question itself never settles.
      const ended = once(asking, 'close').then(() => undefined);
      const answer = await Promise.race([asking.question('', { signal }), ended]);
      if (answer === undefined) return undefined;
      return /^y(es)?$/i.test(answer.trim()) ? 'yes' : 'no';
    } catch {
      return undefined; // stopped
    } finally {
      this.#isAsked = false;
      asking.close();
    }
  }

  /** Ends the line of a question that is open. */
  breakOff(): void {
    if (this.#isAsked) this.#terminal.stdout.write('\n');
  }
}
