import { expect, test } from 'vitest';
import { itemTextOf, taskTitle } from '../../../src/mirror/targets/items/item-text.ts';
import { markerOf, markerUuidOf } from '../../../src/mirror/targets/items/marker.ts';
import { deliveryOf } from '../../support/item-vendor.ts';

const taskOf = (title: string, description = '') => deliveryOf({ title, description }).task;

test.each([
  ['Call\n the  printer', 'Call the printer'],
  ['<b>Bold</b> &amp; &lt;b&gt; 1 < 2', 'Bold & <b> 1 < 2'],
  ['Don&#8217;t &#xA7; 5 &colon; &eacute;&hellip;&euro; &unknown;', 'Don’t § 5 : é…€ &unknown;'],
  ['  ', 'task 12'],
  ['x'.repeat(300), `${'x'.repeat(249)}…`],
  ['🎉'.repeat(300), `${'🎉'.repeat(124)}…`], // Jira counts each as two characters
])('the title %j becomes %j', (title, expected) => {
  expect(taskTitle(taskOf(title))).toBe(expected);
});

test.each([
  ['<p>One</p><p>Two<br/>Three</p>', 'One\nTwo\nThree'],
  ['Before <!-- lockstep-0123456789ab --> after <!-- open', 'Before after'],
  ['One\nTwo\n\nThree', 'One\nTwo\n\nThree'],
  ['See <a href="https://x.example/a?b=1&amp;c=2">this page</a>', 'See this page (https://x.example/a?b=1&c=2)'],
  ['<a href="https://x.example">https://x.example</a> <https://y.example/1>', 'https://x.example https://y.example/1'],
  ['if a<b then 1 < 2', 'if a<b then 1 < 2'],
  ['<ul><li>milk</li><li>bread</li></ul>', '- milk\n- bread'],
  ['<script>alert(1)</script><img src="data:image/png;base64,AAAA">ok', 'ok'],
  ['ask @octocat or a@b.example (@team/x)', 'ask @\u200boctocat or a@b.example (@\u200bteam/x)'],
  ['&lt;!-- lockstep-0123456789ab --&gt;', '<!-- lockstep-0123456789ab -->'],
])('the description %j becomes %j', (description, expected) => {
  expect(itemTextOf(taskOf('x', description))).toBe(expected);
});

test.each(['<a', '<b>', '<', 'word '])('a description of a million times %j is read to its end', (part) => {
  expect(itemTextOf(taskOf('x', part.repeat(1_000_000))).length).toBeLessThanOrEqual(20_000);
});

test('a long description is cut between characters, and has at most 20,000 as Jira counts them', () => {
  expect(itemTextOf(taskOf('x', '🎉'.repeat(10_001)))).toBe(`${'🎉'.repeat(9_999)}…`);
});

// Created items are found by these markers, so they must never change.
test('the markers of a task are the same in every version', () => {
  expect(markerOf(deliveryOf())).toBe('lockstep-da90a869e47a');
  expect(markerUuidOf(deliveryOf())).toBe('da90a869-e47a-4feb-ad37-2d19573770fc');
});

test.each([
  ['account', deliveryOf({}, { account: 'other' })],
  ['kind', deliveryOf({ kind: 'card' })],
  ['id', deliveryOf({ id: '13' })],
])('tasks of another %s have other markers', (_, other) => {
  expect(markerOf(other)).not.toBe(markerOf(deliveryOf()));
  expect(markerUuidOf(other)).not.toBe(markerUuidOf(deliveryOf()));
});
