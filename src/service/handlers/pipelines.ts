/** Pipelines, moving a card, and comments. Comments on contacts and on cards share one path. */
import { CARD_MODULE, CONTACT_MODULE } from '../../contract/records.ts';
import { absent, found, invalid, type Result } from '../result.ts';
import type { Call, Handlers } from './handler.ts';

export const pipelineHandlers = {
  async 'pipelines.getall'({ records }) {
    return { status: 'list', kind: 'pipeline', items: await records.pipelines() };
  },
  async 'pipelines.get'({ query, records }) {
    return found('pipeline', query.pipeline_id, await records.pipeline(query.pipeline_id));
  },
  async 'pipelines.moveCard'({ body, records }) {
    const { card_id: cardId, column_id: columnId, position } = body;
    const outcome = await records.moveCard({ cardId, columnId, position });
    switch (outcome.status) {
      case 'moved':
        return { status: 'written', kind: 'card', id: cardId, read: () => records.card(cardId) };
      case 'no-card':
        return absent('card', cardId);
      case 'no-column':
        return invalid('column_id', `no column ${columnId} in the card's pipeline`);
      default:
        return outcome satisfies never;
    }
  },
  'pipelines.comment': addComment,
  'contacts.comment': addComment,
} satisfies Partial<Handlers>;

/** `module_type` decides whether the comment belongs to a contact or a card. */
async function addComment({ body, records }: Call<'pipelines.comment' | 'contacts.comment'>): Promise<Result> {
  const { comment_text: text, module_type: type, module_id: id } = body;
  if (type !== CONTACT_MODULE && type !== CARD_MODULE) {
    return invalid('module_type', `expected "${CONTACT_MODULE}" or "${CARD_MODULE}"`);
  }
  if (id === undefined) return invalid('module_id', `expected the id of the ${type}`);
  if (text === undefined) return invalid('comment_text', 'expected the text of the comment');
  const commentId = await records.addComment({ type, id }, text);
  if (commentId === undefined) return absent(type, id);
  return { status: 'written', kind: 'comment', id: commentId, read: () => records.comment(commentId) };
}
