/**
 * Messages in Slack. Sources: docs.slack.dev/messaging/sending-messages-using-incoming-webhooks,
 * …/messaging/formatting-message-text (characters to escape) and …/reference/block-kit/composition-objects/text-object.
 */
import type { Target } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import { type ChatNeeds, chatTarget } from './chat.ts';

/** The longest text of a block. */
const MAX_BLOCK = 3000;

export function openSlack(settings: SettingsOf<'slack'>, needs: ChatNeeds): Target {
  return chatTarget('Slack', settings, slackMessage, needs);
}

/** Blocks of plain text, in which Slack reads no markup. `text` is what notifications show, and is read as markup. */
function slackMessage(lines: readonly string[]) {
  return {
    text: escaped(lines[0] ?? ''),
    blocks: texts(lines).map((text) => ({ type: 'section', text: { type: 'plain_text', text, emoji: false } })),
  };
}

/** Lines joined to texts that fit into a block each: Slack allows 50 blocks. */
function texts(lines: readonly string[]): readonly string[] {
  const all: string[] = [];
  for (const line of lines) {
    const joined = `${all.at(-1)}\n${line}`;
    if (all.length === 0 || joined.length > MAX_BLOCK) all.push(line);
    else all[all.length - 1] = joined;
  }
  return all;
}

/** A message without blocks, which systems that imitate Slack understand too; its first line is bold. */
export function simpleMessage([first = '', ...rest]: readonly string[]) {
  return { text: [`*${escaped(first)}*`, ...rest.map(escaped)].join('\n') };
}

/** `<!channel>` and `<@U12>` mention people; some programs that imitate Slack also read `@name`. */
function escaped(text: string): string {
  const entities = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return entities.replaceAll(/@(?!\u200b)/g, '@\u200b');
}
