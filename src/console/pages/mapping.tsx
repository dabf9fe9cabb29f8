/** What the mapping of a contact sync makes of ten contacts, which are read live. */
import { z } from 'zod';
import { plural } from '../../base/counts.ts';
import { type CheckedContact, checkMapping, mappedSync } from '../../operator/check-mapping.ts';
import { definePage } from '../page.ts';
import { Crumbs, Foreign, Section, Table } from '../parts/parts.tsx';
import { Words } from '../parts/words.tsx';
import { accountOf } from '../records/parts.tsx';
import { liveReadOptions } from '../records/read.ts';

export const mapping = definePage({
  path: '/syncs/:sync/mapping',
  params: z.object({ sync: z.string() }),
  async show(context, { params }) {
    const sync = mappedSync(context.settings, params.sync);
    const { contacts, read, neverSet } = await checkMapping(
      sync,
      await accountOf(context, sync.account),
      liveReadOptions(),
    );
    return {
      title: `Mapping of ${sync.name}`,
      tab: 'syncs',
      command: 'settings check --live',
      isStill: true,
      body: (
        <>
          <Crumbs to={{ '/syncs': 'Syncs' }} />
          <h1>Mapping of {sync.name}</h1>
          <p class="dim">
            What a run would make of the first contacts of {sync.account}: {plural(read, 'contact')} read now, nothing
            is written.
          </p>
          {neverSet.map((name) => (
            <p class="notice warn">
              None of the contacts that were read has a value in <code>{name}</code>.
            </p>
          ))}
          <div class="aligned">
            {contacts.map((one) => (
              <Contact {...one} />
            ))}
          </div>
        </>
      ),
    };
  },
});

function Contact({ contact, label, isSelected, fields, problems }: CheckedContact) {
  const isMapped = fields.some(({ from }) => Object.keys(from).length > 0);
  const title = (
    <>
      <Foreign text={label || 'without a name'} most={80} /> <small class="dim">contact {contact}</small>
    </>
  );
  if (!isSelected) return <Section title={title}>Left out by the filter of the sync.</Section>;
  return (
    <Section title={title}>
      {problems.map((problem) => (
        <p class="notice bad">
          <Words text={problem} most={600} />
        </p>
      ))}
      <Table columns={['Field of the customer', isMapped && 'From the contact', 'Result']}>
        {fields.map(({ field, from, result }) => (
          <tr>
            <th scope="row">{field}</th>
            {isMapped && (
              <td>
                {Object.entries(from).map(([name, value]) => (
                  <p>
                    <code>{name}</code> <Foreign text={value || '(empty)'} most={120} />
                  </p>
                ))}
              </td>
            )}
            <td>
              <Foreign text={result || '(empty)'} most={200} />
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}
