/**
 * Messages in Microsoft Teams, by the webhook of a workflow, which takes Adaptive Cards. Sources: learn.microsoft.com,
 * "Create incoming webhooks with Workflows", and adaptivecards.io/explorer (RichTextBlock, TextRun).
 */
import type { Target } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import { type ChatNeeds, chatTarget } from './chat.ts';

export function openTeams(settings: SettingsOf<'teams'>, needs: ChatNeeds): Target {
  return chatTarget('Teams', settings, teamsMessage, needs);
}

/** Text runs, in which Teams reads no Markdown. A mention would need a list of entities, which this card does not have. */
function teamsMessage(lines: readonly string[]) {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: lines.map((text) => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text }] })),
  };
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content };
  return { type: 'message', attachments: [attachment] };
}
