import { afterEach } from 'vitest';

interface Closable {
  close(): Promise<void>;
}

/** For the file that calls it: returns what tracks something that is closed after the test, the last one first. */
export function closedAfterEach() {
  const open: Closable[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
  });
  return <T extends Closable>(one: T): T => {
    open.push(one);
    return one;
  };
}
