/** A pipeline as a board: its columns and cards, read live. A card moves by drag, by buttons and by arrow keys. */
import { z } from 'zod';
import { CARD_MODULE } from '../../contract/records.ts';
import type { Column } from '../../mirror/tasks/cards.ts';
import { definePage } from '../page.ts';
import { Hidden, Submit } from '../parts/inputs.tsx';
import { Foreign, Items, Title } from '../parts/parts.tsx';
import { shownOf } from '../records/fields.ts';
import { accountOf, Kinds, openCallsOf, Unread, WriteForm } from '../records/parts.tsx';
import { type Board, readBoard } from '../records/read.ts';
import { callCommand, recordPath, recordTitle } from '../records/record-words.ts';

const SHOWN_COMMENTS = 20;

export const board = definePage({
  path: '/records/:account/pipelines/:id',
  params: z.object({ account: z.string(), id: z.string().max(200) }),
  async show(context, { params: { account: name, id } }) {
    const account = await accountOf(context, name);
    const read = await readBoard(account, id);
    const title = recordTitle('pipelines', id, (read.status === 'read' && read.value.record) || {});
    return {
      title,
      tab: 'records',
      assets: ['board.js'],
      isStill: true,
      command: callCommand({ operation: 'pipelines.get', account: name, params: { pipeline_id: id } }),
      body: (
        <>
          <Kinds account={name} kind="pipelines" />
          <Title text={title} most={120} />
          {await openCallsOf(context, account)}
          {read.status === 'failed' ? (
            <Unread why={read.why} />
          ) : (
            <Columns board={read.value} account={name} id={id} canAct={context.canAct} />
          )}
        </>
      ),
    };
  },
});

interface BoardProps {
  readonly board: Board;
  readonly account: string;
  readonly id: string;
  readonly canAct: boolean;
}

function Columns({ board: { columns }, account, id, canAct }: BoardProps) {
  return (
    <>
      {canAct && (
        <p class="dim">
          Move a card with its buttons, by dragging it, or with the arrow keys after you have chosen it with Tab.
        </p>
      )}
      <section class="board" aria-label="Columns" tabindex={0}>
        {columns.map((column, at) => (
          <section class="board-column" aria-label={column.name} data-column={column.id}>
            <h2>
              <Foreign text={column.name} most={60} /> <span class="dim">{column.cards.length}</span>
            </h2>
            <ol>
              {column.cards.map((card, position) => (
                <Card
                  card={card}
                  position={position}
                  column={column}
                  sides={[columns[at - 1], columns[at + 1]]}
                  form={canAct ? { account, pipeline: id, page: recordPath(account, 'pipelines', id) } : undefined}
                />
              ))}
            </ol>
            {column.cards.length === 0 && <p class="dim">No cards</p>}
          </section>
        ))}
      </section>
    </>
  );
}

interface CardProps {
  readonly card: Column['cards'][number];
  readonly position: number;
  readonly column: Column;
  /** The columns to the left and to the right. */
  readonly sides: readonly [Column | undefined, Column | undefined];
  /** Undefined if the person may only look. */
  readonly form: { readonly account: string; readonly pipeline: string; readonly page: string } | undefined;
}

function Card({ card: { id, title, record }, position, column, sides: [left, right], form }: CardProps) {
  const name = title || `card ${id}`;
  const shown = shownOf('pipelines.moveCard', { column_id: column.id ?? null });
  const moves: readonly Move[] = [
    { key: 'ArrowLeft', sign: '←', to: left, at: left?.cards.length, words: `to ${left?.name}` },
    { key: 'ArrowUp', sign: '↑', to: position > 0 ? column : undefined, at: position - 1, words: 'up' },
    {
      key: 'ArrowDown',
      sign: '↓',
      to: column.cards.length > position + 1 ? column : undefined,
      at: position + 1,
      words: 'down',
    },
    { key: 'ArrowRight', sign: '→', to: right, at: right?.cards.length, words: `to ${right?.name}` },
  ];
  return (
    <li class="board-card" id={`card-${id}`} tabindex={form ? 0 : undefined} draggable={form !== undefined}>
      <Foreign text={name} most={200} />
      <Comments record={record} />
      {form && (
        <>
          <WriteForm {...form} operation="pipelines.moveCard" page={`${form.page}#card-${id}`} class="moves">
            <Hidden values={{ card_id: id, pipeline: form.pipeline, shown }} />
            {moves.map(({ key, sign, to, at, words }) =>
              to?.id === undefined ? null : (
                <Submit
                  label={sign}
                  name="to"
                  value={`${to.id}:${at}`}
                  data-move={key}
                  aria-label={`Move ${name} ${words}`}
                />
              ),
            )}
          </WriteForm>
          <details>
            <summary>Comment</summary>
            <WriteForm {...form} operation="pipelines.comment" page={`${form.page}#card-${id}`} class="write">
              <Hidden values={{ module_type: CARD_MODULE, module_id: id }} />
              <label>
                <span class="unseen">Comment on {name}</span>
                <textarea name="comment_text" rows={2} required />
              </label>
              <button type="submit">Add</button>
            </WriteForm>
          </details>
        </>
      )}
    </li>
  );
}

interface Move {
  readonly key: string;
  readonly sign: string;
  readonly to: Column | undefined;
  readonly at: number | undefined;
  readonly words: string;
}

function Comments({ record: { comments } }: Pick<Column['cards'][number], 'record'>) {
  const texts = z
    .array(z.looseObject({ comment_text: z.string() }))
    .catch([])
    .parse(comments);
  if (texts.length === 0) return null;
  const shown = texts.slice(-SHOWN_COMMENTS).map(({ comment_text }) => <Foreign text={comment_text} most={300} />);
  return <Items as="comments" of={shown} />;
}
