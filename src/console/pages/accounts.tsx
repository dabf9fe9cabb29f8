/** Accounts: whether each may be called, its address, and its budget now. */
import { type AccountState, accountStates } from '../../operator/account-states.ts';
import { accountPath } from '../../operator/page-paths.ts';
import { definePage, type PageContext } from '../page.ts';
import { Facts, Foreign } from '../parts/parts.tsx';
import { AccountChips, AccountProblems } from './account-parts.tsx';

export const accounts = definePage({
  path: '/accounts',
  async show(context) {
    const states = await accountStates(context.pool, context.settings);
    return {
      title: 'Accounts',
      tab: 'accounts',
      command: 'accounts',
      head: <h1>Accounts</h1>,
      body: (
        <ul class="cards">
          {states.map((state) => (
            <Account state={state} context={context} />
          ))}
        </ul>
      ),
    };
  },
});

function Account({ state, context }: { readonly state: AccountState; readonly context: PageContext }) {
  const { account, url, allowed } = state;
  return (
    <li class="card">
      <div class="card-head">
        <a id={`account-${account}`} href={accountPath(account)}>
          {account}
        </a>
        <AccountChips state={state} />
      </div>
      <AccountProblems state={state} context={context} />
      {url !== null && (
        <Facts
          of={{
            Address: <Foreign text={url === 'embedded' ? 'the embedded service' : url} most={200} />,
            Budget: allowed,
          }}
        />
      )}
    </li>
  );
}
