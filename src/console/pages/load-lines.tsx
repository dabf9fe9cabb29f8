/** The first lines of a file as they are. */
import type { Preview } from '../../syncs/orders/preview-load.ts';
import type { LoadForm } from '../loads/load-form.ts';
import type { Upload } from '../loads/uploads.ts';
import { addressOf, Foreign } from '../parts/parts.tsx';

interface FirstLinesProps {
  readonly upload: Upload;
  readonly form: LoadForm;
  readonly lines: readonly string[];
  readonly at?: Pick<Preview['table'], 'format' | 'headerLine'>;
}

/** A click on a line makes it the header. */
export function FirstLines({ upload, form: { headless: _, ...form }, lines, at }: FirstLinesProps) {
  if (lines.length === 0) return null;
  return (
    <details class="load-lines" open={at === undefined}>
      <summary>Choose the line of the header</summary>
      <ol>
        {lines.map((text, index) => (
          <li>
            <a
              href={addressOf(`/load/${upload.id}`, { ...form, header: index + 1 })}
              aria-current={at?.format.hasHeader && at.headerLine === index + 1 ? 'true' : undefined}
            >
              <Foreign text={text || '(empty)'} most={200} />
            </a>
          </li>
        ))}
      </ol>
    </details>
  );
}
