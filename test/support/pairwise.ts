/**
 * Cases of many options. All-pairs cases: few cases in which every value of an option meets every value of every other one. They find a fault of
 * one option alone, or of two together; the full product of twenty options has thousands of millions of cases.
 */

/** Each option's name with the values it may have. */
export type Options = Readonly<Record<string, readonly unknown[]>>;
type Case<O extends Options> = { readonly [Name in keyof O]: O[Name][number] };

interface Choice {
  readonly option: number;
  readonly value: number;
}

/** As few cases as the option with the most values has values: every value is in one of them. Deterministic. */
export function allValues<O extends Options>(options: O): readonly Case<O>[] {
  const all = Object.entries(options);
  const cases = Array.from({ length: Math.max(...all.map(([, values]) => values.length)) }, (_, n) =>
    Object.fromEntries(all.map(([name, values], option) => [name, values[(n + option) % values.length]])),
  );
  return cases as Case<O>[]; // safe: each name has one of its values
}

/** Deterministic. Of two options at least, with one value each at least; the values may be anything. */
export function allPairs<O extends Options>(options: O): readonly Case<O>[] {
  const names = Object.keys(options);
  const sizes = names.map((name) => options[name]?.length ?? 0);
  // The widest options first: later options must fit in with them, and narrow ones do so easily.
  const order = names.map((_, option) => option).sort((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0));
  const open = openPairs(sizes);
  const used = sizes.map((size) => new Array<number>(size).fill(0));
  const cases: Case<O>[] = [];
  for (let next = first(open); next !== undefined; next = first(open)) {
    const chosen: Choice[] = [...next];
    for (const option of order) {
      if (!chosen.some((choice) => choice.option === option))
        chosen.push(best(option, chosen, open, used[option] ?? []));
    }
    for (const a of chosen) for (const b of chosen) open.delete(keyOf(a, b));
    for (const { option, value } of chosen) (used[option] ?? [])[value] = (used[option]?.[value] ?? 0) + 1;
    const values = chosen.map(({ option, value }) => [names[option], options[names[option] ?? '']?.[value]]);
    // Safe: there is one choice for each of the names, and its value is one of that option's.
    cases.push(Object.fromEntries(values) as Case<O>);
  }
  return cases;
}

type Pairs = Map<string, readonly [Choice, Choice]>;

function openPairs(sizes: readonly number[]): Pairs {
  const pairs: Pairs = new Map();
  for (const [option, values] of sizes.entries()) {
    for (let other = option + 1; other < sizes.length; other++) {
      for (let value = 0; value < values; value++) {
        for (let second = 0; second < (sizes[other] ?? 0); second++) {
          const pair = [
            { option, value },
            { option: other, value: second },
          ] as const;
          pairs.set(keyOf(...pair), pair);
        }
      }
    }
  }
  return pairs;
}

/** The value that meets most of the chosen ones for the first time; among equals the one used least, then the first. */
function best(option: number, chosen: readonly Choice[], open: Pairs, used: readonly number[]): Choice {
  const ranked = used.map((times, value) => {
    const choice = { option, value };
    return { choice, times, gain: chosen.filter((other) => open.has(keyOf(choice, other))).length };
  });
  ranked.sort((a, b) => b.gain - a.gain || a.times - b.times);
  return ranked[0]?.choice ?? { option, value: 0 };
}

function first(open: Pairs): readonly [Choice, Choice] | undefined {
  return open.values().next().value;
}

function keyOf(a: Choice, b: Choice): string {
  const [low, high] = a.option < b.option ? [a, b] : [b, a];
  return `${low.option}=${low.value},${high.option}=${high.value}`;
}
