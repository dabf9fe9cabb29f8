/** E-mail by SMTP. */
import { lookup } from 'node:dns';
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { createTransport, type SMTPSentMessageInfo } from 'nodemailer';
import { codeOf, messageOf } from '../../../base/errors.ts';
import { withoutSecrets } from '../../../base/without-secrets.ts';
import { certificateProblem } from '../../../client/call/failures.ts';
import type { CallContext, DeliveryOutcome, TargetFailure } from '../../../contract/target.ts';
import { addressProblem, guardedLookup } from '../../../mirror/targets/calls/address-guard.ts';
import { addressRefused, excerpt } from '../../../mirror/targets/calls/call-answers.ts';
import { secretUnread } from '../../../mirror/targets/calls/secret-unread.ts';
import type { ChannelOf } from '../../../settings/schema-alert.ts';
import { bodyLines, subjectLine } from '../message.ts';
import type { Alert, Channel, ChannelNeeds } from './channel.ts';

const IMPLICIT_TLS_PORT = 465;

const AUTH_CODES: ReadonlySet<string> = new Set(['EAUTH', 'ENOAUTH']);
/** Errors about one e-mail: its sender, addresses or text. */
const MAIL_CODES: ReadonlySet<string> = new Set(['EENVELOPE', 'EMESSAGE']);
/** RFC 4954 and RFC 3207: the server wants a user, or TLS, before any e-mail. */
const NEEDS_AUTH = 530;

interface MailFailure {
  readonly response?: string;
  readonly responseCode?: number;
  /** Of the system. */
  readonly originalCode?: string;
}

export function openEmail(settings: ChannelOf<'email'>, { readSecret }: ChannelNeeds): Channel {
  const { name, host, port, from, to, timeoutMs } = settings;
  const server = `${host}:${port}`;
  const ofConnection = `check alerts.${name}.port and alerts.${name}.security`;
  /** The addresses that have an alert, while others are refused for now. */
  const reached = new Map<string, readonly string[]>();

  async function send({ id, seenAt, message }: Alert, context: CallContext): Promise<DeliveryOutcome> {
    const pass = settings.password && (await readSecret(settings.password).catch(secretUnread));
    if (typeof pass === 'object') return pass;
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(timeoutMs)]);
    const connection = await reach(settings, signal);
    if ('status' in connection) return context.signal.aborted ? aborted(server) : connection;
    const transport = transportTo(settings, connection, pass);
    const had = reached.get(id) ?? [];
    try {
      const sent = await transport.sendMail({
        from,
        to: [...to],
        envelope: { from, to: to.filter((address) => !had.includes(address)) },
        subject: subjectLine(message),
        text: `${bodyLines(message).join('\n\n')}\n`,
        // The same in all attempts, so a mailbox can recognise an e-mail that arrives twice.
        messageId: `<${id}@${from.slice(from.indexOf('@') + 1)}>`,
        date: seenAt,
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal,
      });
      return outcomeOf(id, sent, pass);
    } catch (error) {
      if (context.signal.aborted) return aborted(server);
      if (signal.aborted)
        return { status: 'later', reason: 'TIMEOUT', detail: `${server}: no answer in time: ${ofConnection}` };
      return failureOf(error, pass);
    } finally {
      transport.close();
      connection.destroy();
    }
  }

  function outcomeOf(
    id: string,
    { rejected, accepted, rejectedErrors = [] }: SMTPSentMessageInfo,
    pass: string | undefined,
  ): DeliveryOutcome {
    const refused = `the mail server refused ${rejected.length} of ${to.length} addresses`;
    const passing = rejectedErrors.find(({ responseCode = 0 }) => responseCode < 500);
    if (passing !== undefined) {
      reached.set(id, [...(reached.get(id) ?? []), ...accepted]);
      const detail = `${server}: ${refused}: ${said(passing.response ?? '', pass)}`;
      return { status: 'later', reason: 'SERVER_ERROR', detail };
    }
    reached.delete(id);
    return rejected.length === 0 ? { status: 'delivered' } : { status: 'delivered', detail: refused };
  }

  function failureOf(error: unknown, pass: string | undefined): TargetFailure {
    const { response, responseCode = 0, originalCode } = error as MailFailure; // as Nodemailer documents
    const code = codeOf(error) ?? 'no code';
    const detail = `${server}: ${said(response ?? messageOf(error), pass)}`;
    if (responseCode >= 400 && responseCode < 500) return { status: 'later', reason: 'SERVER_ERROR', detail };
    if (AUTH_CODES.has(code) || responseCode === NEEDS_AUTH) {
      const security = responseCode === NEEDS_AUTH ? `, and alerts.${name}.security` : '';
      const remedy = `check alerts.${name}.user and alerts.${name}.password${security}`;
      return { status: 'disabled', reason: 'TOKEN_REFUSED', detail: `${detail}: ${remedy}` };
    }
    if (MAIL_CODES.has(code) && responseCode >= 500) {
      const remedy = `check alerts.${name}.from and alerts.${name}.to`;
      return { status: 'refused', reason: 'REJECTED', detail: `${detail}: ${remedy}` };
    }
    const isAnswer = MAIL_CODES.has(code) || (code === 'EPROTOCOL' && responseCode >= 500);
    return isAnswer
      ? { status: 'later', reason: 'SERVER_ERROR', detail }
      : notReached(`${detail} (${code})`, originalCode);
  }

  /** `why`: as Nodemailer words it. */
  function notReached(why: string, code = ''): TargetFailure {
    const certificate = certificateProblem({ code });
    if (certificate !== undefined) {
      const detail = `${server}: the server’s certificate is not accepted (${code}): ${certificate}`;
      return { status: 'later', reason: 'CERTIFICATE', detail };
    }
    const detail = code.startsWith('ERR_SSL_') ? `${server}: the TLS handshake failed (${code})` : why;
    return { status: 'later', reason: 'UNREACHABLE', detail: `${detail}: ${ofConnection}` };
  }

  return { send, close: async () => undefined };
}

function transportTo(settings: ChannelOf<'email'>, connection: Socket, pass = '') {
  const { host, port, user, timeoutMs } = settings;
  const { security = port === IMPLICIT_TLS_PORT ? 'tls' : 'starttls' } = settings;
  return createTransport({
    host,
    port,
    connection,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(user !== undefined && { auth: { user, pass }, forceAuth: true }),
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** What the server said; some repeat the password. */
function said(text: string, pass = ''): string {
  return excerpt(withoutSecrets(text, [pass]));
}

/** A connection to an address that may be called. */
async function reach(
  { name, host, port, allowPrivate }: ChannelOf<'email'>,
  signal: AbortSignal,
): Promise<Socket | TargetFailure> {
  const server = `${host}:${port}`;
  const problem = allowPrivate || isIP(host) === 0 ? undefined : addressProblem(host);
  if (problem !== undefined) return addressRefused(server, `the address is ${problem}`);
  const socket = connect({ host, port, lookup: allowPrivate ? lookup : guardedLookup(lookup) });
  socket.on('error', () => undefined); // later errors are reported to the transport
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    if (codeOf(error) === 'ADDRESS_REFUSED') return addressRefused(server, messageOf(error));
    const why = signal.aborted ? 'no connection in time' : `the connection failed (${codeOf(error) ?? 'no code'})`;
    const remedy = `check alerts.${name}.host and alerts.${name}.port`;
    return { status: 'later', reason: 'UNREACHABLE', detail: `${server}: ${why}: ${remedy}` };
  }
}

function aborted(server: string): TargetFailure {
  return { status: 'later', reason: 'ABORTED', detail: `${server}: not sent: aborted` };
}
