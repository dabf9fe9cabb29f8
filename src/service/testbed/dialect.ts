/**
 * The form of all answers: the envelope, the path of a list, the answer to a create, and errors. The defaults are our
 * choices. The handlers do not depend on any of this.
 */
import { STATUS_CODES } from 'node:http';
import { failed, succeeded } from '../../contract/envelope.ts';
import type { Refused, Result, Written } from '../result.ts';
import type { Behaviour } from './behaviour.ts';
import { recordForm } from './record-form.ts';

export interface Answer {
  readonly httpStatus: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole text, or chunks of text if a list may be long. */
  readonly body: string | AsyncIterable<string>;
}

export interface Asked {
  /** The body alone, without the envelope (docs/contract.md, "Endpoints"). */
  readonly onlyBody: boolean;
  /** Members of the request's body that the operation does not know. */
  readonly ignored: readonly string[];
}

export interface Dialect {
  answer(result: Result, asked: Asked): Promise<Answer> | Answer;
  refusal(refused: Refused): Answer;
  /** A request's body, with ids in the form of the contract. */
  readBody(body: unknown): unknown;
}

export const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' } as const;
const NOTHING_IGNORED = json(200, JSON.stringify(succeeded(null)));

export function dialectOf(behaviour: Behaviour): Dialect {
  const form = recordForm(behaviour);
  const frames = framesOf(behaviour.listShape);
  return {
    readBody: form.readBody,
    refusal: (refused) => refusal(behaviour.errors, refused),
    answer(result, asked) {
      switch (result.status) {
        case 'record':
          return json(200, framed(asked.onlyBody ? BARE : frames.record, form.render(result.kind, result.json)));
        case 'list': {
          const frame = asked.onlyBody ? frames.listAlone : frames.list;
          const { kind, items } = result;
          if (typeof items === 'string') return json(200, framed(frame, `[${form.render(kind, items)}]`));
          return json(
            200,
            streamed(frame, items, (batch) => form.render(kind, batch)),
          );
        }
        case 'written':
          return written(result, asked.ignored);
        case 'refused':
          return refusal(behaviour.errors, result);
        default:
          return result satisfies never;
      }
    },
  };

  async function written(result: Written, ignored: readonly string[]): Promise<Answer> {
    const message = ignored.length === 0 ? 'OK' : `OK; ignored: ${ignored.join(', ')}`;
    switch (behaviour.createAnswers) {
      case 'nothing':
        return { httpStatus: 200, headers: {}, body: '' };
      case 'envelope':
        return ignored.length === 0 ? NOTHING_IGNORED : json(200, JSON.stringify(succeeded(null, message)));
      case 'id':
        return json(200, JSON.stringify(succeeded({ [form.idField(result.kind)]: form.id(result.id) }, message)));
      case 'record': {
        const record = (await result.read()) ?? 'null';
        return json(200, framed(frameOf(succeeded(SLOT, message)), form.render(result.kind, record)));
      }
      default:
        return behaviour.createAnswers satisfies never;
    }
  }
}

function refusal(errors: Behaviour['errors'], { httpStatus, message, headers = {} }: Refused): Answer {
  const words = `${httpStatus} ${STATUS_CODES[httpStatus] ?? ''}`;
  switch (errors) {
    case 'status':
      return json(httpStatus, JSON.stringify(failed(message)), headers);
    case 'envelope200': {
      const isKeptStatus = httpStatus === 429 || httpStatus >= 500;
      return json(isKeptStatus ? httpStatus : 200, JSON.stringify(failed(message)), headers);
    }
    case 'html': {
      const body = `<!doctype html><html><head><title>${words}</title></head><body><h1>${words}</h1></body></html>`;
      return { httpStatus, headers: { ...headers, 'content-type': 'text/html; charset=utf-8' }, body };
    }
    case 'empty':
      return { httpStatus, headers, body: '' };
    default:
      return errors satisfies never;
  }
}

function json(httpStatus: number, body: Answer['body'], headers: Readonly<Record<string, string>> = {}): Answer {
  return { httpStatus, headers: { ...JSON_TYPE, ...headers }, body };
}

/** The text before and after a content. */
type Frame = readonly [before: string, after: string];

const SLOT = '\u0001content\u0001';
const BARE: Frame = ['', ''];

function frameOf(around: unknown): Frame {
  const [before = '', after = ''] = JSON.stringify(around).split(JSON.stringify(SLOT));
  return [before, after];
}

function framesOf(shape: Behaviour['listShape']): { list: Frame; listAlone: Frame; record: Frame } {
  const enveloped = frameOf(succeeded(SLOT));
  if (shape === 'bare') return { list: BARE, listAlone: BARE, record: BARE };
  if (shape === 'content') return { list: enveloped, listAlone: BARE, record: enveloped };
  const [first = 'content', ...rest] = shape.path.split('.');
  const inner = rest.reduceRight<unknown>((content, name) => ({ [name]: content }), SLOT);
  const { status, message } = succeeded(null);
  return { list: frameOf({ status, [first]: inner, message }), listAlone: frameOf(inner), record: enveloped };
}

function framed([before, after]: Frame, content: string): string {
  return before + content + after;
}

/** The first chunk contains the first batch, so a list whose read fails at once is an error and not an incomplete 200. */
async function* streamed(
  frame: Frame,
  batches: AsyncIterable<string>,
  render: (batch: string) => string,
): AsyncGenerator<string> {
  let before = `${frame[0]}[`;
  for await (const batch of batches) {
    yield before + render(batch);
    before = ',';
  }
  yield `${before === ',' ? '' : before}]${frame[1]}`;
}
