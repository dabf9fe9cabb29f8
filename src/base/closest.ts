/** Guesses which of several names was meant. */
import { editDistance } from './edit-distance.ts';

/** The candidate closest to `word`: up to a third of its letters may differ; case, spaces, `_` and `-` are ignored. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const plainWord = plain(word);
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const target = plain(candidate);
    const allowed = Math.max(1, Math.floor(Math.max(plainWord.length, target.length) / 3));
    const distance = editDistance(plainWord, target);
    if (distance <= allowed && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { candidate, distance };
  }
  return best?.candidate;
}

function plain(word: string): string {
  return word
    .slice(0, 100)
    .toLowerCase()
    .replaceAll(/[-_\s]/g, '');
}
