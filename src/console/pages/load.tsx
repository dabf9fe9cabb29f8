/** Load a file, first step: choose the account, and a file or its text. */
import { z } from 'zod';
import { formatCount, plural } from '../../base/counts.ts';
import { requireOperator } from '../access/guard.ts';
import type { LoadState, Loads } from '../loads/loads.ts';
import type { Waiting } from '../loads/uploads.ts';
import { definePage } from '../page.ts';
import { Act, Button, Field, LongField, Select, Submit } from '../parts/inputs.tsx';
import { addressOf, Link, Section, Table, Time } from '../parts/parts.tsx';

const SHOWN = 20;

export const load = definePage({
  path: '/load',
  query: z.object({ account: z.string().optional() }),
  async show({ settings, person, loads }, { query }) {
    requireOperator(person);
    const accounts = Object.keys(settings.accounts);
    const waiting = await loads.uploads.waiting();
    return {
      title: 'Load a file',
      tab: 'load',
      command: 'orders load FILE --account NAME',
      assets: ['drop.js'],
      isStill: true,
      head: <h1>Load a file of orders</h1>,
      body: (
        <>
          <form class="load-choose" method="post" action="/load" enctype="multipart/form-data">
            <Select label="Account" name="account" options={accounts} value={query.account} none={null} />
            <Field
              label={`CSV, also gzip, of at most ${Math.floor(loads.maxBytes / 1024 / 1024)} MiB: choose it or drop it here`}
              type="file"
              name="file"
              class="load-drop"
            />
            <LongField
              label="Or paste its lines, with the header"
              name="text"
              rows={5}
              spellcheck={false}
              placeholder="order_id,customer_email,amount"
            />
            <div class="acts">
              <Submit label="Upload" primary />
              <span class="dim">
                Nothing is sent to the service yet: next you see how the file is read, and then what the load would do.
              </span>
            </div>
          </form>
          {waiting.length > 0 && <Uploaded loads={loads} waiting={waiting} />}
        </>
      ),
    };
  },
});

/** Files whose page was closed before they were loaded. */
function Uploaded({ loads, waiting }: { readonly loads: Loads; readonly waiting: readonly Waiting[] }) {
  return (
    <Section
      title="Uploaded, and not loaded yet"
      side={
        waiting.length > SHOWN && (
          <span class="dim">
            the newest {SHOWN} of {formatCount(waiting.length)}
          </span>
        )
      }
    >
      <Table
        columns={['File', 'Account', 'Uploaded', { title: 'State', as: 'unseen' }, { title: 'Remove', as: 'unseen' }]}
        rows={waiting
          .slice(0, SHOWN)
          .map(({ upload, uploadedAt, form }) => [
            <Link to={addressOf(`/load/${upload.id}`, form)} text={upload.name} most={80} />,
            upload.account,
            <Time at={uploadedAt} />,
            <span class="dim">{stateWords(loads.stateOf(upload, form))}</span>,
            upload.corrects === undefined ? (
              <Act path={`/load/${upload.id}/remove`} label="Remove" aria-label={`Remove ${upload.name}`} />
            ) : (
              <Button to={`/load/${upload.id}/remove`} label={['Remove ', <span class="unseen">{upload.name}</span>]} />
            ),
          ])}
      />
      <p class="dim">A file that no one loads is deleted after a day.</p>
    </Section>
  );
}

function stateWords(state: LoadState | undefined): string {
  if (state?.status === 'checking') return `checking: ${plural(state.rows, 'row')} so far`;
  return state?.status === 'failed' ? `not loaded: ${state.failure.code}` : '';
}
