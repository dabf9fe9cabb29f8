/** Links: which task is linked with which item of a target; import and removal. */
import type { z } from 'zod';
import { plural } from '../../base/counts.ts';
import { withOptions } from '../../base/reasons/template.ts';
import type { ListedLink } from '../../mirror/links/list-links.ts';
import { linkableTargets } from '../../operator/link-import.ts';
import { linkPageQuery, pageOfLinks } from '../api/filters.ts';
import { definePage } from '../page.ts';
import { Act, Check, Field, Hidden, LongField, Select, Submit } from '../parts/inputs.tsx';
import { addressOf, Empty, Foreign, More, NoMore, Section, Table, Time } from '../parts/parts.tsx';

const PER_PAGE = 50;

export const links = definePage({
  path: '/links',
  query: linkPageQuery,
  async show({ pool, settings, canAct }, { query }) {
    const { target, account, q, file } = query;
    const { links: found, total, next } = await pageOfLinks(pool, query, PER_PAGE);
    const [targets, accounts] = [linkableTargets(settings), Object.keys(settings.accounts)];
    return {
      title: 'Links',
      tab: 'links',
      command: withOptions('links', { target, account }),
      head: (
        <>
          <h1>Links</h1>
          <form class="filters" method="get" action="/links">
            <Select label="Target" name="target" options={targets} value={target} />
            <Select label="Account" name="account" options={accounts} value={account} />
            <Field
              grows
              label="Task or item"
              type="search"
              name="q"
              value={q ?? ''}
              maxlength={200}
              placeholder="task:12, ABC-12"
            />
            <button type="submit">Find</button>
          </form>
          {canAct && targets.length > 0 && !file && <Import targets={targets} accounts={accounts} />}
          {canAct && file && <Checked query={query} />}
        </>
      ),
      body:
        found.length === 0 && query.after !== undefined ? (
          <NoMore to={addressOf('/links', { target, account, q })} />
        ) : found.length === 0 ? (
          <Empty title="No linked tasks found">
            <p>A delivery of a task to a target with items, such as issues, links the task with its item.</p>
          </Empty>
        ) : (
          <Section
            title={plural(total, 'link')}
            side={
              <a class="button" id="links-csv" href={addressOf('/links.csv', { target, account, q })} download>
                Download as CSV
              </a>
            }
          >
            <List links={found} canAct={canAct} />
            <More to={next && addressOf('/links', { target, account, q, after: next })} />
          </Section>
        ),
    };
  },
});

function List({ links, canAct }: { readonly links: readonly ListedLink[]; readonly canAct: boolean }) {
  return (
    <Table
      columns={['Task', 'Account', 'Item', 'Target', 'Linked', canAct && { title: 'Remove', as: 'unseen' }]}
      rows={links.map((link) => [
        <Foreign text={link.task} most={80} />,
        link.account,
        <Foreign text={link.itemId} most={120} />,
        link.target,
        <>
          <Time at={link.linkedAt} /> {link.run === null ? 'by a person' : <a href={`/runs/${link.run}`}>by a run</a>}
        </>,
        <Removal {...link} />,
      ])}
    />
  );
}

function Removal({ target, account, task }: ListedLink) {
  const words = `Remove the link of ${task.slice(0, 80)} at ${target}`;
  return <Act path="/links/remove" values={{ target, account, task }} label="Remove" aria-label={words} />;
}

/** The file that was just checked, to be imported without choosing it again. */
function Checked({
  query: { target, account, file, name, replace },
}: {
  readonly query: z.output<typeof linkPageQuery>;
}) {
  return (
    <form class="load-choose" method="post" action="/links/import" enctype="multipart/form-data">
      <p>
        Checked: <Foreign text={name ?? 'links.csv'} most={120} />, links of tasks of {account} with items of {target}
        {replace === 'yes' && ', existing links are replaced'}. Nothing is written yet.
      </p>
      <Hidden values={{ target, account, file, name, replace }} />
      <div class="acts">
        <Submit label="Import what was checked" primary />
        <a href="/links">Choose other lines</a>
      </div>
    </form>
  );
}

function Import({ targets, accounts }: { readonly targets: readonly string[]; readonly accounts: readonly string[] }) {
  return (
    <details class="change">
      <summary>Link many tasks at once</summary>
      <form class="load-choose" method="post" action="/links/import" enctype="multipart/form-data">
        <p class="dim">
          A CSV with a column for the task (12, subtask:12 or card:12) and one for the item (its id or its address). All
          lines are checked first; those that are wrong, or whose task or item has another link, are skipped. Removing a
          link or replacing it does not change the item.
        </p>
        <Select label="Target" name="target" options={targets} value={undefined} none={null} />
        <Select label="Account of the tasks" name="account" options={accounts} value={undefined} none={null} />
        <Field label="File" type="file" name="file" accept=".csv,.txt,.tsv,.gz,text/csv" />
        <LongField
          label="Or its lines, with the header"
          name="text"
          rows={5}
          spellcheck={false}
          placeholder="task_id,item_id"
        />
        <Check label="Replace existing links" name="replace" />
        <div class="acts">
          <Submit label="Check" name="dry" value="yes" />
          <Submit label="Import" primary />
        </div>
      </form>
    </details>
  );
}
