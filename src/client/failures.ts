/**
 * Why an exchange gave no whole answer, in words that lead to the remedy. Pure.
 * undici's and the system's own messages are not passed on: they differ between versions and may hold addresses.
 */
import { errors } from 'undici';
import { codeOf } from '../errors.ts';
import { StoppedError } from './exchange.ts';
import { ListProblem } from './list-stream.ts';
import type { NotSentReason, UnknownReason } from './outcome.ts';

const CERTIFICATE_CODES = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const UNREACHABLE_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused: is the service running there?',
  ENOTFOUND: 'the host name is not known: is the base URL right?',
  EAI_AGAIN: 'the host name could not be looked up: is there a network and a name server?',
  EHOSTUNREACH: 'there is no way to that host: is there a network?',
  ENETUNREACH: 'there is no way to that network: is there a network?',
  ETIMEDOUT: 'no connection came about in time: is the base URL right, and does a firewall stand between?',
  UND_ERR_CONNECT_TIMEOUT:
    'no connection came about in time: is the base URL right, and does a firewall stand between?',
  ECONNRESET: 'the connection was closed while it was set up',
  UND_ERR_SOCKET: 'the connection was closed while it was set up',
};

/** Nothing was sent. */
export function whyNotSent(error: unknown): { reason: NotSentReason; words: string } {
  if (error instanceof StoppedError) {
    if (error.reason === 'deadline')
      return { reason: 'deadline', words: 'not sent: the time in which it could be sent is over' };
    if (error.reason === 'aborted') return { reason: 'aborted', words: 'not sent: aborted' };
    return { reason: 'unreachable', words: 'no connection came about in time' };
  }
  const code = codeOf(error) ?? 'no code';
  if (CERTIFICATE_CODES.has(code)) {
    const remedy = 'is the base URL right? A private authority’s certificate goes into NODE_EXTRA_CA_CERTS';
    return { reason: 'certificate', words: `the server’s certificate is not accepted (${code}): ${remedy}` };
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
    const words = `the server does not speak TLS (${code}): should the base URL begin with http:// ?`;
    return { reason: 'unreachable', words };
  }
  if (code === 'UND_ERR_CLOSED' || code === 'UND_ERR_DESTROYED')
    return { reason: 'closed', words: 'not sent: the client is closed' };
  return { reason: 'unreachable', words: `${UNREACHABLE_WORDS[code] ?? 'the connection failed'} (${code})` };
}

/** It was sent, and no whole answer came. */
export function whyUnknown(error: unknown): { reason: UnknownReason; words: string } {
  if (error instanceof ListProblem) {
    const remedy = error.reason === 'html' ? ': is the base URL right?' : '';
    return { reason: error.reason, words: `answers ${error.message}${remedy}` };
  }
  if (error instanceof StoppedError) {
    if (error.reason === 'timeout') return { reason: 'timeout', words: error.message };
    if (error.reason === 'too-large') return { reason: 'too-large', words: `answers with ${error.message}` };
    if (error.reason === 'unpackable') return { reason: 'unreadable', words: `answers with ${error.message}` };
    return { reason: 'aborted', words: 'aborted while the answer was awaited' };
  }
  if (error instanceof errors.HTTPParserError) {
    return { reason: 'unreadable', words: 'what answers there does not speak HTTP: is the base URL right?' };
  }
  const code = codeOf(error) ?? 'no code';
  return { reason: 'broken-off', words: `the connection was closed before the whole answer was here (${code})` };
}
