/**
 * Any system with an HTTP API, whose calls and answers the settings describe: it receives each change by one call (`send`), or
 * has items whose state follows the task (`items`).
 */
import { LongInteger } from '../../../client/call/json.ts';
import type { CallContext, DeliveryOutcome, Finding, ItemState, Target } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import type { HttpItems, HttpRequest } from '../../../settings/target-http.ts';
import { PATIENCE_MS, type TargetRequest } from '../calls/caller.ts';
import { withHeaders } from '../calls/with-headers.ts';
import { reach } from '../check-address.ts';
import { failed, fine } from '../findings.ts';
import { type Calls, type ItemNeeds, moved, renewing, sendEvent, tokensOf } from '../items/item-calls.ts';
import { httpNaming, type ItemNaming } from '../items/item-naming.ts';
import type { VendorAnswers } from '../items/item-outcome.ts';
import type { Asked } from '../items/item-target.ts';
import { markerAtEnd, markerOf } from '../items/marker.ts';
import { type VendorItems, vendorTarget } from '../items/vendor-target.ts';
import { SAMPLE, viewOf } from '../render.ts';
import { httpAnswers } from './http-answers.ts';
import { requestFiller } from './http-request.ts';
import { searchPages } from './http-search.ts';
import { isAbsent, valueAt } from './json-pointer.ts';
import { reading } from './reading.ts';

type HttpSettings = SettingsOf<'http'>;

interface HttpItem extends ItemState {
  /** The item as the system shows it. */
  readonly record: unknown;
}

export function openHttp(settings: HttpSettings, given: ItemNeeds): Target {
  const needs = withHeaders(given, settings.headers);
  const answers = httpAnswers(settings, new URL(settings.url).host);
  const { items, send } = settings;
  if (items !== undefined) return itemsTarget(settings, items, answers, needs);
  if (send !== undefined) return sendTarget(settings, send, answers, needs);
  throw new TypeError('the settings have either items or send');
}

/** The status of the answer decides, and its body only if it is a web page, or if the rules read it. */
function sendTarget(
  { name, answers: rules }: HttpSettings,
  send: HttpRequest,
  answers: VendorAnswers,
  needs: ItemNeeds,
): Target {
  const label = `${send.method} of ${answers.name}`;
  const where = `targets.${name}.send`;
  const requestFor = requestFiller(send, where);
  const hasRule = rules.error !== undefined || rules.success !== undefined;
  const readsBody = (status: number) => hasRule && status !== 204 && !rules.applied.includes(status);
  const tokens = tokensOf(needs);

  return {
    async deliver(delivery, context): Promise<DeliveryOutcome> {
      const request = requestFor(viewOf(delivery));
      if (request.status !== 'ok') return request;
      const { json, headers, ...call } = request.value;
      const type = json !== undefined && { 'content-type': 'application/json' };
      const first = await tokens.read();
      if (typeof first !== 'string') return first;
      return renewing(tokens, first, (token) => {
        const all = { accept: 'application/json', ...bearer(token), ...type, ...headers };
        const sent = { ...call, ...(json !== undefined && { body: json }), headers: all, secrets: [token] };
        return sendEvent(answers, label, sent, context, needs, { readsBody, place: `the url and ${where}.path` });
      });
    },
    check: (context) => checkWithoutSearch(needs, context),
    close: () => needs.caller.close(),
  };
}

function itemsTarget(settings: HttpSettings, items: HttpItems, answers: VendorAnswers, needs: ItemNeeds): Target {
  const { name, columns, timeoutMs } = settings;
  const { noun, create, find } = items;
  const where = `targets.${name}.items`;
  const naming = httpNaming(items);
  const { isDeleted, itemOf, idAt } = recordReader(items, naming);
  const filler = <Key extends 'read' | 'complete' | 'reopen'>(key: Key) => requestFiller(items[key], `${where}.${key}`);
  const [read, complete, reopen] = [filler('read'), filler('complete'), filler('reopen')];
  const creation = create && { ...create, fill: requestFiller(create, `${where}.create`) };
  const search = find && { ...find, fill: requestFiller(find, `${where}.find`) };

  const itemsBy = (calls: Calls): VendorItems<HttpItem> => ({
    async read(itemId) {
      const request = read({ item: itemId });
      if (request.status !== 'ok') return request;
      const { record: at } = items.read;
      const answer = reading((body) => {
        const record = valueAt(body, at);
        return isAbsent(body, at) || isDeleted(record) ? { item: undefined } : wrapped(itemOf(record, itemId));
      }, `it has no state at "${at}${items.state.at}" (${where}.read.record and state.at)`);
      const asked = await calls.ask(request.value, answer);
      if (asked.status !== 'ok') return asked;
      const { item } = asked.value;
      return item
        ? { status: 'ok', value: item }
        : { status: 'missing', detail: `${answers.name} has no ${noun} ${itemId}` };
    },
    async write({ itemId, record }, wanted, delivery) {
      const isCompleting = wanted.status === 'completed';
      const request = (isCompleting ? complete : reopen)({ ...viewOf(delivery), item: itemId, record });
      if (request.status !== 'ok') return request;
      return calls.ask({ ...request.value, takesText: true }, moved(isCompleting ? 'completed' : 'open'));
    },
    async find(delivery) {
      if (search === undefined) return { status: 'ok', value: undefined }; // a repeated creation creates nothing
      const request = search.fill(viewOf(delivery));
      if (request.status !== 'ok') return request;
      const marker = markerOf(delivery);
      return searchPages(calls, {
        url: settings.url,
        request: request.value,
        more: search.more,
        itemsOf(body) {
          const records = valueAt(body, search.list);
          if (!Array.isArray(records)) return undefined;
          const found: unknown = records.find(
            (record) => carries(valueAt(record, search.marker), marker) && !isDeleted(record),
          );
          const id = idAt(found, search.itemId);
          const item = id === undefined ? undefined : itemOf(found, id);
          return found === undefined ? [] : item && [item];
        },
        lack: `it has no list at "${search.list}" (${where}.find.list), or its item with the marker has no id or no state (find.itemId, state.at)`,
        remedy: `${answers.name} shows only a part of its items, and none of them has the marker ${marker}: let ${where}.find search for the marker, then replay`,
      });
    },
    async add(delivery) {
      if (creation === undefined) throw new TypeError('without create no item is added');
      const request = creation.fill(viewOf(delivery));
      if (request.status !== 'ok') return request;
      return calls.ask(
        request.value,
        reading(
          (body) => idAt(body, creation.newId),
          `it has no id at "${creation.newId}" (${where}.create.newId) of the form that items.id describes`,
        ),
      );
    },
  });

  const target = vendorTarget({ name, columns, create: create !== undefined }, needs, {
    ...answers,
    ...naming,
    noun,
    headersOf: bearer,
    itemsBy,
    container: 'such address for new items',
    // The ledger counts from its record of the call, which may have been sent and applied as late as this.
    settleMs: find === undefined ? 0 : find.settleMs + PATIENCE_MS + timeoutMs,
    ...(search && { admin: { check: async (calls) => [searchFinding(await itemsBy(calls).find(SAMPLE), name)] } }),
  });
  return search === undefined ? { ...target, check: (context) => checkWithoutSearch(needs, context) } : target;
}

/** Reads items and their ids from the records that the system shows. */
function recordReader({ state, read }: HttpItems, { isItemId }: Pick<ItemNaming, 'isItemId'>) {
  const { deleted } = read;

  /** Some systems leave a member without a value out: it counts as null where the settings say what null means. */
  function isLeftOut(record: unknown): boolean {
    const isNamed = [...(state.completed ?? []), ...(state.open ?? [])].includes(null);
    return isNamed && typeof valueAt(record, state.at.replace(/\/[^/]*$/, '')) === 'object';
  }

  return {
    isDeleted: (record: unknown) => deleted !== undefined && isOneOf(valueAt(record, deleted.at), deleted.values),

    /** An item by its record; undefined if the record does not show the state. */
    itemOf(record: unknown, itemId: string): HttpItem | undefined {
      const shown = valueAt(record, state.at);
      const value = shown === undefined && isLeftOut(record) ? null : shown;
      if (value === undefined || (typeof value === 'object' && value !== null && !(value instanceof LongInteger)))
        return undefined;
      const isCompleted = state.open === undefined ? isOneOf(value, state.completed) : !isOneOf(value, state.open);
      const isNamed = value !== null && typeof value !== 'boolean';
      return { itemId, isCompleted, status: isNamed ? String(value) : isCompleted ? 'completed' : 'open', record };
    },

    idAt(record: unknown, pointer: string): string | undefined {
      const id = valueAt(record, pointer);
      const text = id instanceof LongInteger || Number.isSafeInteger(id) ? String(id) : id;
      return typeof text === 'string' && isItemId(text) ? text : undefined;
    },
  };
}

/** The token that an OAuth client was given, if there is one; other secrets are in the headers of the settings. */
function bearer(token: string): TargetRequest['headers'] {
  return token === '' ? {} : { authorization: `Bearer ${token}` };
}

async function checkWithoutSearch(needs: ItemNeeds, context: CallContext): Promise<readonly Finding[]> {
  const reached = await reach(needs.caller, context);
  const token = await needs.tokens?.read();
  if (token === undefined) return reached;
  return [...reached, typeof token === 'string' ? fine('token', 'a token was issued') : failed('token', token, '')];
}

/** A search for an item of no task reads with the credentials of every call. */
function searchFinding(asked: Asked<unknown>, name: string): Finding {
  const what = 'find';
  return asked.status === 'ok'
    ? fine(what, 'the search for created items works')
    : failed(what, asked, `check the url and targets.${name}.items.find.path`);
}

/** Many systems write numbers and flags as texts. */
function isOneOf(value: unknown, values: readonly unknown[] = []): boolean {
  return values.some((one) => String(one) === String(value));
}

function carries(value: unknown, marker: string): boolean {
  return typeof value === 'string' ? markerAtEnd(value) === marker : (JSON.stringify(value) ?? '').includes(marker);
}

/** Distinguishes an item without a readable state, which is undefined, from no item. */
function wrapped(item: HttpItem | undefined) {
  return item && { item };
}
