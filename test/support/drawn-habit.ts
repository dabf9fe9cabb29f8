/** Which habit (habits.ts) a drawn service has, and what it may cause. */
import { CUTS, type Drawn, type Paging, type PastEnd, REFUSABLE, randomFrom } from './drawn-service.ts';
import { HABITS, type Habit, REFUSABLE_HABITS } from './habits.ts';

export function isRefusable({ oddity, habit }: Drawn): boolean {
  return REFUSABLE.has(oddity) || REFUSABLE_HABITS.has(habit);
}

/** Whether its lists hide records, and its ids do not tell which: then the first record that is created may exist. */
export function mayHideTheFirst({ oddity, idForm, habit }: Drawn): boolean {
  const hasLookUp = habit !== 'has no single reads' && habit !== 'answers the first record for every id';
  const isAsked = (idForm === 'number' || idForm === 'digits') && hasLookUp;
  return (oddity === CUTS[0] || oddity === CUTS[1]) && !isAsked;
}

/** Few services are odd as well, because a run may then stop before its habit shows. */
const NOT_ODD: Partial<Drawn> = { oddity: 'none', mostListed: Number.POSITIVE_INFINITY };

/** `named`: a habit, `none`, or `each`: then the seed chooses one, in turn. */
export function withHabit(drawn: Drawn, named = 'none'): Drawn {
  const habit = named === 'each' ? HABITS[drawn.seed % HABITS.length] : HABITS.find((one) => one === named);
  if (habit === undefined && named !== 'none') throw new Error(`no habit is called ${named}`);
  if (habit === undefined) return drawn;
  const plain = randomFrom(drawn.seed + 8_000_009).chance(0.7) && isRefusable(drawn) ? NOT_ODD : {};
  return { ...drawn, ...plain, habit, ...choicesFor(habit, drawn) };
}

/** Other choices without which a habit would not show. */
function choicesFor(habit: Habit, drawn: Drawn): Partial<Drawn> {
  const { chance, int } = randomFrom(drawn.seed + 9_000_011);
  switch (habit) {
    case 'repeats the last page':
      return inPages('the last');
    case 'returns to the first page':
      return inPages('the first');
    case 'has pages of uneven sizes':
    case 'makes too large pages small':
    case 'refuses large pages':
    case 'fails on large pages':
      return inPages('empty', habit === 'has pages of uneven sizes' ? chance(0.5) : true);
    case 'has a replica that lags':
      return { lagMs: 120 };
    case 'counts hidden records':
      return { hiddenEvery: 3, beside: 'total' };
    case 'limits with 503':
    case 'limits with an envelope':
    case 'limits with 403':
    case 'has a wrong clock':
      return { mostPerSecond: 40, saysRetryAfter: true };
    case 'answers some calls with a web page':
    case 'resets connections':
      return { faults: 0.05 };
    case 'repeats records in lists':
    case 'shows amounts in cents':
    case 'splits names':
    case 'shows amounts with a sign':
      return { framework: 'contract' };
    case 'hides amounts': // nothing shows what an odd service makes of them
      return { framework: 'contract', ...NOT_ODD };
    case 'gives ids again':
    case 'writes whole numbers with a fraction':
      return { idForm: 'number' };
    case 'redirects to the other prefix':
      return { prefix: chance(0.5) ? '/api/v1' : '/v1' };
    default:
      return {};
  }

  function inPages(pastEnd: PastEnd, isSizeHonoured = chance(0.6)): Partial<Drawn> {
    const one = (): Extract<Paging, { kind: 'pages' }> => ({
      kind: 'pages',
      first: chance(0.7) ? 0 : 1,
      cap: 5 + int(12),
      isSizeHonoured,
      pastEnd,
      zero: chance(0.5) ? 'refused' : 'the first',
    });
    return {
      framework: 'contract',
      paging: { contacts: one(), customers: one(), orders: one(), tasks: { ...one(), isSizeHonoured: false } },
    };
  }
}
