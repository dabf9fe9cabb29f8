/**
 * Reads items ahead of their use, `most()` at once, and yields the results in the order of the items. It ends only when no read is
 * under way. @throws what `read` throws, once the results before it are used
 */
export async function* readAhead<Item, Result>(
  items: readonly Item[],
  read: (item: Item) => Promise<Result>,
  most: () => number,
): AsyncGenerator<Result> {
  const next = items.values();
  const underWay: Promise<Result>[] = [];
  try {
    for (;;) {
      while (underWay.length < most()) {
        const item = next.next();
        if (item.done === true) break;
        const reading = read(item.value);
        reading.catch(() => undefined); // it is thrown when its turn comes
        underWay.push(reading);
      }
      const first = underWay.shift();
      if (first === undefined) return;
      yield await first;
    }
  } finally {
    await Promise.allSettled(underWay);
  }
}
