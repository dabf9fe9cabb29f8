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

/** What a message is about, in any format. */
interface Envelope {
  readonly id: string;
  /** `task.completed`, or `test`. */
  readonly type: string;
  readonly at: Date;
  readonly account: string;
  readonly subject?: string;
  readonly data: unknown;
}

const JSON_TYPE = { 'content-type': 'application/json' };

export function contents({ name, format, body }: Pick<SettingsOf<'webhook'>, 'name' | 'format' | 'body'>) {
  const render =
    body === undefined ? undefined : renderer({ text: body, place: 'json', where: `targets.${name}.body` });
  return {
    of(delivery: Delivery): Content | Exclude<Rendered, { status: 'ok' }> {
      const rendered = render?.(viewOf(delivery));
      if (rendered !== undefined && rendered.status !== 'ok') return rendered;
      return written(format, envelopeOf(delivery), rendered?.text);
    },
    /** A message about nothing, without the template of changes. */
    test: (id: string, at: Date): Content => written(format, { id, type: 'test', at, account: '', data: {} }),
  };
}

function envelopeOf({ id, event, account, sequence, seenAt, task }: Delivery): Envelope {
  return {
    ...{ id, account, type: `${task.kind}.${event}`, at: seenAt, subject: `${task.kind}/${task.id}` },
    data: { account, sequence, task },
  };
}

/** `transformed`: what a template made of the change, as JSON. */
function written(format: SettingsOf<'webhook'>['format'], envelope: Envelope, transformed?: string): Content {
  const { type, at, data } = envelope;
  switch (format) {
    case 'standard': {
      const body = transformed ?? JSON.stringify({ type, timestamp: at.toISOString(), data });
      return { status: 'ok', headers: JSON_TYPE, body };
    }
    case 'cloudevents': {
      const attributes = JSON.stringify({ ...attributesOf(envelope), datacontenttype: 'application/json' });
      // As the template wrote it: parsing would round long numbers.
      const body = `${attributes.slice(0, -1)},"data":${transformed ?? JSON.stringify(data)}}`;
      return { status: 'ok', headers: { 'content-type': 'application/cloudevents+json; charset=utf-8' }, body };
    }
    case 'cloudevents-binary': {
      const attributes = Object.entries(attributesOf(envelope));
      const headers = Object.fromEntries(attributes.map(([name, value]) => [`ce-${name}`, headerValue(value)]));
      return { status: 'ok', headers: { ...JSON_TYPE, ...headers }, body: transformed ?? JSON.stringify(data) };
    }
    default:
      return format satisfies never;
  }
}

function attributesOf({ id, type, at, account, subject }: Envelope) {
  return {
    specversion: '1.0',
    id,
    source: account === '' ? '/lockstep' : `/lockstep/${encodeURIComponent(account)}`,
    type: `lockstep.${type}`,
    ...(subject !== undefined && { subject }),
    time: at.toISOString(),
  };
}

/** The binding asks for percent-encoding of these characters. */
function headerValue(text: string): string {
  return text.replaceAll(/[^\x21\x23\x24\x26-\x7e]/gu, encodeURIComponent);
}
