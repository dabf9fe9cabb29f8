/** The decisions about rows in review: who took them, and what became of them. */
import { z } from 'zod';
import { listDecisions } from '../../engine/ledger/decisions.ts';
import { definePage } from '../page.ts';
import { addressOf, Crumbs, Empty, More } from '../parts/parts.tsx';
import { DecisionTable } from './review-parts.tsx';

const PER_PAGE = 50;

export const reviewDecisions = definePage({
  path: '/review/decisions',
  query: z.object({ after: z.coerce.number().int().optional() }),
  async show({ pool, canAct }, { query: { after } }) {
    const decisions = await listDecisions(pool, {}, { limit: PER_PAGE, after });
    const last = decisions.at(-1);
    return {
      title: 'Decisions',
      tab: 'review',
      command: 'review --decided',
      head: (
        <>
          <Crumbs to={{ '/review': 'Review' }} />
          <h1>Decisions</h1>
        </>
      ),
      body:
        last === undefined ? (
          <Empty title="There is no decision yet" />
        ) : (
          <>
            <DecisionTable decisions={decisions} canAct={canAct} />
            <More
              to={decisions.length < PER_PAGE ? undefined : addressOf('/review/decisions', { after: last.entry })}
            />
          </>
        ),
    };
  },
});
