/** Load a file, first step: choose the account, and a file or its text. */
import { z } from 'zod';
import { requireOperator } from '../access/guard.ts';
import { definePage } from '../page.ts';

export const load = definePage({
  path: '/load',
  params: z.object({}),
  query: z.object({}),
  async show({ settings, person, loads }) {
    requireOperator(person);
    const accounts = Object.keys(settings.accounts);
    return {
      title: 'Load a file',
      tab: 'load',
      command: 'orders load FILE --account NAME',
      isStill: true,
      head: <h1>Load a file of orders</h1>,
      body: (
        <form class="load-choose" method="post" action="/load" enctype="multipart/form-data">
          <label>
            Account
            <select name="account">
              {accounts.map((name) => (
                <option value={name}>{name}</option>
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
      ),
    };
  },
});
