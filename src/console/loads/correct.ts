/** Makes a new file of the lines of a load that were not accepted, with the corrections of a person. */
import { awaitsApproval } from '../../engine/ledger/approval.ts';
import { readRun } from '../../engine/ledger/runs.ts';
import { cancelRun } from '../../operator/run-actions.ts';
import { refuseCorrected } from '../../syncs/orders/begin-load.ts';
import { ordersRunOptions } from '../../syncs/orders/options.ts';
import { byWords, keeping, type Taking } from '../actions/actions.ts';
import type { SharedNeeds } from '../shared-needs.ts';
import { badFile, type Fixes, fixedFile } from './fixes.ts';
import { formOfLoad } from './load-form.ts';
import type { Upload } from './uploads.ts';

export interface Corrected {
  readonly upload: Upload;
  /** The choices that read it as the load was read. */
  readonly form: Readonly<Record<string, string>>;
}

/**
 * `createsCustomers`: also if the load did not. A load that awaits approval is declined.
 * @throws LockstepError RUN_IS_NO_LOAD, LOAD_NOT_ENDED, LINES_CORRECTED, CONSOLE_NOT_ALLOWED
 */
export function correctLoad(
  needs: SharedNeeds,
  taking: Taking,
  id: string,
  { fixes, createsCustomers }: { readonly fixes: Fixes; readonly createsCustomers: boolean },
): Promise<Corrected> {
  const { pool, loads } = needs;
  return keeping(needs, taking, 'correct-lines', id, async () => {
    const run = await readRun(pool, id);
    const { name, load } = await badFile(pool, id);
    await refuseCorrected(pool, id);
    if (awaitsApproval(run)) await cancelRun(pool, run, byWords(taking));
    const written = await loads.uploads.write(fixedFile(pool, id, fixes));
    const upload = await loads.uploads.keep(written, { name, account: run.account, corrects: id });
    const options = ordersRunOptions.parse(run.options);
    const createCustomers = options.createCustomers || createsCustomers;
    return { said: `${name} was made.`, upload, form: formOfLoad(load, { ...options, createCustomers }) };
  });
}
