/** Forms with a file: the file is written to disk while it arrives. */
import type {} from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { nothingSent, type Uploads, uploadTooLarge } from './uploads.ts';

/** The most bytes of a field that is no file. */
export const MAX_TEXT_BYTES = 8 * 1024 * 1024;

export interface SentParts {
  readonly given: Readonly<Record<string, string>>;
  /** In the folder of uploads, under this id; undefined if none was chosen, or if it is empty. */
  readonly file: { readonly id: string; readonly name: string } | undefined;
}

/** Keeps no file if it fails; `given` then has the fields that came before. @throws LockstepError UPLOAD_TOO_LARGE, UPLOAD_EMPTY, DISK_FULL */
export async function readParts(
  request: FastifyRequest,
  uploads: Uploads,
  maxBytes: number,
  given: Record<string, string> = {},
): Promise<SentParts> {
  if (!request.isMultipart()) throw nothingSent();
  let file: SentParts['file'];
  try {
    for await (const part of request.parts()) {
      if (part.type === 'field') {
        if (part.valueTruncated) throw uploadTooLarge('The text', MAX_TEXT_BYTES);
        given[part.fieldname] = String(part.value);
        continue;
      }
      file = { id: await uploads.write(part.file), name: part.filename };
      if (part.file.truncated) throw uploadTooLarge('The file', maxBytes);
      if (part.file.bytesRead > 0) continue;
      await uploads.remove(file.id);
      file = undefined;
    }
    return { given, file };
  } catch (error) {
    if (file) await uploads.remove(file.id);
    throw error;
  }
}
