/** What is open at one address at a time, because the address is a secret that may change: opened at first use, and again after a change. */
export function openedAt<T>(open: (url: string) => T, close: (opened: T) => Promise<void>) {
  const closing: Promise<void>[] = [];
  let current: { readonly url: string; readonly opened: T } | undefined;

  function retire(): void {
    if (current) closing.push(close(current.opened));
    current = undefined;
  }

  return {
    at(url: string): T {
      if (current?.url === url) return current.opened;
      retire();
      current = { url, opened: open(url) };
      return current.opened;
    },
    async close(): Promise<void> {
      retire();
      await Promise.all(closing);
    },
  };
}
