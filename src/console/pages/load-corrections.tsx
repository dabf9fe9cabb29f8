/** What else has the corrected lines that a file has: a part of the page that shows how the file is read. */

import type { Upload, Waiting } from '../loads/uploads.ts';
import type { PageContext } from '../page.ts';
import { addressOf, Link, Time } from '../parts/parts.tsx';

/** Files with corrected lines of the same run, which other people have made, or the same person in another tab. */
export async function otherCorrections({ loads }: PageContext, { id, corrects }: Upload): Promise<readonly Waiting[]> {
  if (corrects === undefined) return [];
  const waiting = await loads.uploads.waiting();
  return waiting.filter(({ upload }) => upload.corrects === corrects && upload.id !== id);
}

export function OtherCorrections({
  of,
  corrects,
}: {
  readonly of: readonly Waiting[];
  readonly corrects: string | undefined;
}) {
  if (of.length === 0) return null;
  return (
    <p class="notice warn">
      Corrected lines of run <a href={`/runs/${corrects}`}>{corrects}</a> are also in{' '}
      {of.map(({ upload, uploadedAt, form }, i) => (
        <>
          {i > 0 && ', '}
          <Link to={addressOf(`/load/${upload.id}`, form)} text={upload.name} most={80} /> of{' '}
          <Time at={uploadedAt} exact />
        </>
      ))}
      . Load only one of these files: the others are then refused.
    </p>
  );
}
