/**
 * The content of a webhook's call: as Standard Webhooks recommends it, or a CloudEvent with its attributes in the body or in
 * headers. Sources: the CloudEvents specification 1.0.2 and its HTTP protocol binding, at https://github.com/cloudevents/spec
 */
import type { Delivery } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import { type Rendered, renderer, viewOf } from '../render.ts';

export interface Content {
  readonly status: 'ok';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type ContentOf = (delivery: Delivery) => Content | Exclude<Rendered, { status: 'ok' }>;

const JSON_TYPE = { 'content-type': 'application/json' };

export function contents({ name, format, body }: Pick<SettingsOf<'webhook'>, 'name' | 'format' | 'body'>): ContentOf {
  const render =
    body === undefined ? undefined : renderer({ text: body, place: 'json', where: `targets.${name}.body` });
  return (delivery) => {
    const rendered = render?.(viewOf(delivery));
    if (rendered !== undefined && rendered.status !== 'ok') return rendered;
    return { status: 'ok', ...written(format, delivery, rendered?.text) };
  };
}

/** `transformed`: what a template made of the change, as JSON. */
function written(format: SettingsOf<'webhook'>['format'], delivery: Delivery, transformed: string | undefined) {
  const { account, sequence, seenAt, task } = delivery;
  const data = { account, sequence, task };
  switch (format) {
    case 'standard': {
      const whole = { type: typeOf(delivery), timestamp: seenAt.toISOString(), data };
      return { headers: JSON_TYPE, body: transformed ?? JSON.stringify(whole) };
    }
    case 'cloudevents': {
      const attributes = JSON.stringify({ ...attributesOf(delivery), datacontenttype: 'application/json' });
      // As the template wrote it: parsing would round long numbers.
      const body = `${attributes.slice(0, -1)},"data":${transformed ?? JSON.stringify(data)}}`;
      return { headers: { 'content-type': 'application/cloudevents+json; charset=utf-8' }, body };
    }
    case 'cloudevents-binary': {
      const attributes = Object.entries(attributesOf(delivery));
      const headers = Object.fromEntries(attributes.map(([name, value]) => [`ce-${name}`, headerValue(value)]));
      return { headers: { ...JSON_TYPE, ...headers }, body: transformed ?? JSON.stringify(data) };
    }
    default:
      return format satisfies never;
  }
}

function typeOf({ task, event }: Delivery): string {
  return `${task.kind}.${event}`;
}

function attributesOf(delivery: Delivery) {
  const { id, account, seenAt, task } = delivery;
  return {
    specversion: '1.0',
    id,
    source: `/lockstep/${encodeURIComponent(account)}`,
    type: `lockstep.${typeOf(delivery)}`,
    subject: `${task.kind}/${task.id}`,
    time: seenAt.toISOString(),
  };
}

/** The binding asks for percent-encoding of these characters. */
function headerValue(text: string): string {
  return text.replaceAll(/[^\x21\x23\x24\x26-\x7e]/gu, encodeURIComponent);
}
