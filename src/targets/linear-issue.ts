/** An issue of Linear: how one is named, how a text names one, and which of its states are an end. Pure. */
import type { ItemState } from './target.ts';

export interface LinearIssue extends ItemState {
  /** The UUID. */
  readonly id: string;
  readonly teamId: string;
}

const KEY = '[A-Z][A-Z\\d]{0,9}-\\d{1,9}';
const UUID = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}';

/** Canceled and duplicate are an end, too: whoever chose one is not overruled by a task that is completed. */
export function isClosedType(type: string): boolean {
  return type === 'completed' || type === 'canceled' || type === 'duplicate';
}

export function isLinearId(itemId: string): boolean {
  return new RegExp(`^(?:${KEY}|${UUID})$`).test(itemId);
}

/** In the order of the text, each once: addresses of issues and `LINEAR: ABC-12`. */
export function linearItemsIn(text: string): string[] {
  const pattern = new RegExp(`(?:https?://linear\\.app/[\\w-]+/issue/|LINEAR:\\s*)(?<key>${KEY})(?!\\w)`, 'g');
  return [...new Set([...text.matchAll(pattern)].map(({ groups = {} }) => groups.key ?? ''))];
}
