/** The console: where it listens, and who may use it. */
import { z } from 'zod';
import { baseUrl, choice, listenAddress, name, secret, textAs } from './fields.ts';

const ROLES = ['viewer', 'operator'] as const;

export type ConsoleRole = (typeof ROLES)[number];

const role = choice(ROLES, 'operator').describe(
  'viewer: sees everything and changes nothing; operator: also acts. Default: operator.',
);

/** The name of the user of `console.password`. */
export const OPERATOR = 'operator';

export const consoleSection = z
  .strictObject({
    listen: listenAddress
      .prefault('127.0.0.1:4000')
      .describe(
        'Address and port of the console, and of calls from outside systems (/hooks). Beyond this machine it needs a password. Default: 127.0.0.1:4000.',
      ),
    url: textAs(baseUrl)
      .optional()
      .describe('Address at which people open the console, for the links in alerts. Default: none, no links.'),
    password: secret
      .optional()
      .describe(
        'Password of the user operator: the text, or its hash from `lockstep settings hash-password`. Default: none.',
      ),
    users: z
      .record(
        name.refine((user) => user !== OPERATOR, `${OPERATOR} is the user of console.password: choose another name`),
        z.strictObject({
          password: secret.describe('The text, or its hash from `lockstep settings hash-password`.'),
          role,
        }),
      )
      .prefault({})
      .describe('People with a password of their own, by names of your choice.'),
    tokens: z
      .record(
        name,
        z.strictObject({ token: secret.describe('At least 20 characters, sent as Authorization: Bearer.'), role }),
      )
      .prefault({})
      .describe('Programs that use the API (/api/v1), by names of your choice.'),
    trustProxy: z
      .array(
        z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
          error: 'expected an IP address or a network, such as 10.0.0.0/8',
        }),
      )
      .prefault([])
      .describe('Addresses of proxies whose X-Forwarded-For, -Host and -Proto are believed. Default: none.'),
  })
  .prefault({})
  .describe('The console and the calls from outside systems (the role console).');
