/**
 * Any system with an HTTP API, whose calls and answers the settings describe: it receives each change by one call (`send`), or
 * has items whose state follows the task (`items`).
 */
import type { DeliveryOutcome, Target, TargetFailure } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import type { HttpItems, HttpRequest } from '../../../settings/target-http.ts';
import { PATIENCE_MS, type TargetRequest } from '../calls/caller.ts';
import { withHeaders } from '../calls/with-headers.ts';
import { type Calls, type ItemNeeds, mapAsked, moved, renewing, sendEvent, tokensOf } from '../items/item-calls.ts';
import { httpNaming } from '../items/item-naming.ts';
import type { VendorAnswers } from '../items/item-outcome.ts';
import type { Asked } from '../items/item-target.ts';
import { type VendorItems, vendorTarget } from '../items/vendor-target.ts';
import { stateWord } from '../items/wanted-state.ts';
import { viewOf } from '../render.ts';
import { httpAnswers } from './http-answers.ts';
import { checkSearch, checkWithoutSearch } from './http-check.ts';
import { itemFinder } from './http-find.ts';
import { type HttpItem, recordReader } from './http-record.ts';
import { requestFiller } from './http-request.ts';
import { isAbsent, reading, valueAt } from './json-pointer.ts';

type HttpSettings = SettingsOf<'http'>;

export function openHttp(settings: HttpSettings, given: ItemNeeds): Target {
  const needs = withHeaders(given, settings.headers);
  const answers = httpAnswers(settings, new URL(settings.url).host);
  const { items, send } = settings;
  if (items !== undefined) return itemsTarget(settings, items, answers, needs);
  if (send !== undefined) return sendTarget(settings, send, answers, needs);
  throw new TypeError('the settings have either items or send');
}

/** The status of the answer decides, and its body only if it is a web page, or if the rules read it. */
function sendTarget(settings: HttpSettings, send: HttpRequest, answers: VendorAnswers, needs: ItemNeeds): Target {
  const { name, answers: rules } = settings;
  const label = `${send.method} of ${answers.name}`;
  const where = `targets.${name}.send`;
  const requestFor = requestFiller(send, where);
  const hasRule = rules.error !== undefined || rules.success !== undefined;
  const readsBody = (status: number) => hasRule && status !== 204 && !rules.applied.includes(status);
  const tokens = tokensOf(needs);
  const headersOf = tokenHeader(settings);

  return {
    async deliver(delivery, context): Promise<DeliveryOutcome> {
      const request = requestFor(viewOf(delivery));
      if (request.status !== 'ok') return request;
      const { content, headers, ...call } = request.value;
      const type = content !== undefined && { 'content-type': 'application/json' };
      const first = await tokens.read();
      if (typeof first !== 'string') return first;
      return renewing(tokens, first, (token) => {
        const all = { ...headersOf(token), ...type, ...headers };
        const sent = { ...call, ...(content !== undefined && { body: content }), headers: all, secrets: [token] };
        return sendEvent(answers, sent, context, needs, { call: label, readsBody, place: `the url and ${where}.path` });
      });
    },
    check: (context) => checkWithoutSearch(needs, context),
    close: () => needs.caller.close(),
  };
}

function itemsTarget(settings: HttpSettings, items: HttpItems, answers: VendorAnswers, needs: ItemNeeds): Target {
  const { name, columns, timeoutMs } = settings;
  const { noun, create, find, whenGone } = items;
  const where = `targets.${name}.items`;
  const naming = httpNaming(items);
  const records = recordReader(items, naming);
  const filler = <Key extends 'read' | 'complete' | 'reopen'>(key: Key) => requestFiller(items[key], `${where}.${key}`);
  const [read, complete, reopen] = [filler('read'), filler('complete'), filler('reopen')];
  const creation = create && { ...create, fill: requestFiller(create, `${where}.create`) };
  const from = { where, url: settings.url, host: answers.name, idAt: records.idAt, read: readItem };
  const search = find && itemFinder({ find, ...from });
  /** The states in which items have been read: proof that `state` tells them apart. */
  const seen = new Set<boolean>();

  async function readItem(calls: Calls, itemId: string): Promise<Asked<HttpItem>> {
    const request = read({ item: itemId });
    if (request.status !== 'ok') return request;
    const { record: at } = items.read;
    const answer = reading((body) => {
      const record = valueAt(body, at);
      if (isAbsent(body, at)) return { missing: `${answers.name} has no ${noun} ${itemId}` };
      if (records.isDeleted(record)) return { missing: `${noun} ${itemId} counts as deleted (${where}.read.deleted)` };
      const item = records.itemOf(record, itemId);
      return item && { item };
    }, `it has no state at "${at}${items.state.at}" (${where}.read.record and state.at)`);
    const asked = await calls.ask({ ...request.value, isRead: true }, answer);
    if (asked.status !== 'ok') return asked;
    const { item, missing: detail = '' } = asked.value;
    if (item === undefined) return { status: 'missing', detail };
    seen.add(item.isCompleted);
    return { status: 'ok', value: item };
  }

  const itemsBy = (calls: Calls): VendorItems<HttpItem> => ({
    read: (itemId) => readItem(calls, itemId),
    async write({ itemId, record }, wanted, delivery) {
      const isCompleting = wanted.status !== 'open'; // also if the task is gone
      const request = (isCompleting ? complete : reopen)({ ...viewOf(delivery), item: itemId, record });
      if (request.status !== 'ok') return request;
      const to = stateWord(isCompleting);
      const written = await calls.ask({ ...request.value, takesText: true }, moved(to));
      if (written.status !== 'ok' || (!items.confirm && seen.has(isCompleting))) return written;
      const after = await readItem(calls, itemId);
      if (items.confirm) return mapAsked(after, ({ isCompleted }) => ({ to, shown: stateWord(isCompleted) }));
      return after.status === 'ok' && after.value.isCompleted !== isCompleting
        ? unproven(after.value, to, where)
        : written;
    },
    // Without a search, a repeated creation creates nothing.
    find: async (delivery) => (search === undefined ? { status: 'ok', value: undefined } : search(calls, delivery)),
    async add(delivery) {
      if (creation === undefined) throw new TypeError('without create no item is added');
      const request = creation.fill(viewOf(delivery));
      if (request.status !== 'ok') return request;
      return calls.ask(
        request.value,
        reading(
          (body) => records.idAt(body, creation.newId),
          `it has no id at "${creation.newId}" (${where}.create.newId) of the form that items.id describes`,
        ),
      );
    },
  });

  const settleMs = find === undefined ? 0 : find.settleMs + PATIENCE_MS + timeoutMs;

  const target = vendorTarget({ name, columns, create: create !== undefined, whenGone }, needs, {
    ...answers,
    ...naming,
    noun,
    headersOf: tokenHeader(settings),
    itemsBy,
    container: 'such address for new items',
    // The ledger counts from its record of the call, which may have been sent and applied as late as this.
    settleMs,
    ...(search && {
      admin: { check: async (calls) => [await checkSearch(calls, { ...from, log: needs.log, settleMs, search })] },
    }),
  });
  return search === undefined ? { ...target, check: (context) => checkWithoutSearch(needs, context) } : target;
}

/** The token that an OAuth client was given, if there is one; other secrets are in the headers of the settings. */
function tokenHeader({ oauthClient }: HttpSettings) {
  return (token: string): TargetRequest['headers'] =>
    oauthClient === undefined ? {} : { authorization: `${oauthClient.scheme} ${token}` };
}

/** Such an item would seem to have been changed by people, and its task would follow it. */
function unproven({ itemId, status }: HttpItem, to: string, where: string): TargetFailure {
  const detail = `${itemId} is ${status} after the call that makes it ${to}, and no item has been ${to} since Lockstep started: correct the call, or set ${where}.state to the value that this call writes`;
  return { status: 'later', reason: 'STATE_UNSEEN', detail };
}
