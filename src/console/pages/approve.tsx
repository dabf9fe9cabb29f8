/** Asks for the number of writes before a large load is approved. */
import { z } from 'zod';
import { formatCount } from '../../base/counts.ts';
import { awaitsApproval } from '../../engine/ledger/approval.ts';
import { readRun } from '../../engine/ledger/runs.ts';
import { planOf, writesOf } from '../../operator/run-plan.ts';
import { requireOperator } from '../access/guard.ts';
import { definePage } from '../page.ts';
import { Button, Field, Hidden, Submit } from '../parts/inputs.tsx';
import { Foreign } from '../parts/parts.tsx';
import { Plan } from './plan.tsx';

export const approve = definePage({
  path: '/runs/:run/approve',
  params: z.object({ run: z.string() }),
  async show({ pool, settings, person }, { params }) {
    requireOperator(person);
    const run = await readRun(pool, params.run);
    if (!awaitsApproval(run)) return { path: `/runs/${run.id}` };
    const plan = await planOf(pool, run, settings);
    const writes = formatCount(writesOf(plan));
    return {
      title: 'Approve',
      tab: 'runs',
      command: `runs resume ${run.id}`,
      isStill: true,
      body: (
        <>
          <h1>
            Approve <Foreign text={run.title} most={80} />?
          </h1>
          <p>The run writes what the plan shows, and nothing else. What is written cannot be undone here.</p>
          <Plan run={run} plan={plan} />
          <form class="filters" method="post" action={`/runs/${run.id}/approve`}>
            <Hidden values={{ plan: run.planId }} />
            <Field
              label={`Type ${writes}, the number of orders to write`}
              name="writes"
              inputmode="numeric"
              autocomplete="off"
              required
            />
            <Submit label="Approve" primary />
            <Button to={`/runs/${run.id}`} label="Back" />
          </form>
        </>
      ),
    };
  },
});
