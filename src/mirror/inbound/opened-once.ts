/** Targets that are opened at their first use, and closed together. */
import type { Target } from '../../contract/target.ts';

export interface OpenedOnce {
  /** The same target every time. */
  open(name: string): Promise<Target>;
  /** The next use opens it again. */
  closeAll(): Promise<void>;
}

export function openedOnce(targets: { open(name: string): Promise<Target> }): OpenedOnce {
  const opened = new Map<string, Promise<Target>>();
  return {
    open(name) {
      const known = opened.get(name);
      if (known) return known;
      const opening = targets.open(name);
      opened.set(name, opening);
      opening.catch(() => opened.delete(name)); // the next use tries again: the secret may be available by then
      return opening;
    },
    async closeAll() {
      const all = [...opened.values()];
      opened.clear();
      await Promise.all(all.map(async (opening) => (await opening).close()));
    },
  };
}
