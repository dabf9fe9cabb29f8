/** Load a file, first step: choose the account, and a file or its text. */
import { z } from 'zod';
import { plural } from '../../base/counts.ts';
import { requireOperator } from '../access/guard.ts';
import type { Loads } from '../loads/loads.ts';
import type { Waiting } from '../loads/uploads.ts';
import { definePage } from '../page.ts';
import { addressOf, Foreign, Section, Table, Time } from '../parts/parts.tsx';

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
      isStill: true,
      head: <h1>Load a file of orders</h1>,
      body: (
        <>
          <form class="load-choose" method="post" action="/load" enctype="multipart/form-data">
            <label>
              Account
              <select name="account">
                {accounts.map((name) => (
                  <option value={name} selected={name === query.account}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
            <label>
              CSV, also gzip, of at most {Math.floor(loads.maxBytes / 1024 / 1024)} MiB: choose it or drop it here
              <input type="file" name="file" class="load-drop" />
            </label>
            <label>
              Or paste its lines, with the header
              <textarea name="text" rows={5} spellcheck={false} placeholder="order_id,customer_email,amount" />
            </label>
            <div class="acts">
              <button type="submit" class="primary">
                Upload
              </button>
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
    <Section title="Uploaded, and not loaded yet">
      <Table columns={['File', 'Account', 'Uploaded', { title: 'State', as: 'unseen' }]}>
        {waiting.slice(0, SHOWN).map(({ upload, uploadedAt, form }) => {
          const state = loads.stateOf(upload, form);
          return (
            <tr>
              <td>
                <a href={addressOf(`/load/${upload.id}`, form)}>
                  <Foreign text={upload.name} most={80} />
                </a>
              </td>
              <td>{upload.account}</td>
              <td class="nowrap">
                <Time at={uploadedAt} />
              </td>
              <td class="dim">
                {state?.status === 'checking' && `checking: ${plural(state.rows, 'row')} so far`}
                {state?.status === 'failed' && `not loaded: ${state.failure.code}`}
              </td>
            </tr>
          );
        })}
      </Table>
      <p class="dim">A file that no one loads is deleted after a day.</p>
    </Section>
  );
}
