/** Asks before an uploaded file is removed: lines that a person has corrected are nowhere else. */
import { z } from 'zod';
import { requireOperator } from '../access/guard.ts';
import { definePage } from '../page.ts';
import { Button, Submit } from '../parts/inputs.tsx';
import { Foreign } from '../parts/parts.tsx';

export const removeUpload = definePage({
  path: '/load/:upload/remove',
  params: z.object({ upload: z.string() }),
  async show({ loads, person }, { params }) {
    requireOperator(person);
    const { id, name, checked, corrects } = await loads.uploads.read(params.upload);
    if (checked) return { path: `/load/${id}` };
    return {
      title: `Remove ${name}`,
      tab: 'load',
      isStill: true,
      body: (
        <>
          <h1>
            Remove <Foreign text={name} most={120} />?
          </h1>
          {corrects === undefined ? (
            <p>Lockstep deletes its copy of the file. To load the file later, upload it again.</p>
          ) : (
            <p>
              It is the only place that has these corrections. The lines of run{' '}
              <a href={`/runs/${corrects}`}>{corrects}</a> can then be corrected again.
            </p>
          )}
          <form class="acts" method="post" action={`/load/${id}/remove`}>
            <Submit label="Remove" primary />
            <Button to={`/load/${id}`} label="Back" />
          </form>
        </>
      ),
    };
  },
});
