/**
 * Why an exchange gave no complete answer, with what to do next. Pure. Messages of undici and the system are not passed
 * on: they differ between versions and may contain addresses.
 */
import { errors } from 'undici';
import { codeOf } from '../../base/errors.ts';
import { StoppedError } from '../http/exchange.ts';
import { ListProblem } from '../lists/list-stream.ts';
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
  ECONNREFUSED: 'connection refused: check that a server is running there',
  ENOTFOUND: 'host name not found: check the base URL',
  EAI_AGAIN: 'host name lookup failed: check the network and the name server',
  EHOSTUNREACH: 'host unreachable: check the network',
  ENETUNREACH: 'network unreachable: check the network',
  ETIMEDOUT: 'connection timed out: check the base URL and the firewall',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out: check the base URL and the firewall',
  ECONNRESET: 'connection closed during the handshake',
  UND_ERR_SOCKET: 'connection closed during the handshake',
};

/** Nothing was sent. */
export function whyNotSent(error: unknown): { reason: NotSentReason; words: string } {
  if (error instanceof StoppedError) {
    if (error.reason === 'deadline') return { reason: 'deadline', words: 'not sent: its send deadline has passed' };
    if (error.reason === 'aborted') return { reason: 'aborted', words: 'not sent: aborted' };
    return { reason: 'unreachable', words: 'connection timed out' };
  }
  const code = codeOf(error) ?? 'no code';
  if (CERTIFICATE_CODES.has(code)) {
    const remedy = 'check the base URL. For a private certificate authority, set NODE_EXTRA_CA_CERTS';
    return { reason: 'certificate', words: `the server’s certificate is not accepted (${code}): ${remedy}` };
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
    const words = `the server does not speak TLS (${code}): check whether the base URL should begin with http://`;
    return { reason: 'unreachable', words };
  }
  if (code === 'UND_ERR_CLOSED' || code === 'UND_ERR_DESTROYED')
    return { reason: 'closed', words: 'not sent: the client is closed' };
  return { reason: 'unreachable', words: `${UNREACHABLE_WORDS[code] ?? 'connection failed'} (${code})` };
}

/** The request was sent, and no complete answer came. */
export function whyUnknown(error: unknown): { reason: UnknownReason; words: string } {
  if (error instanceof ListProblem) {
    const remedy = error.reason === 'html' ? ': check the base URL' : '';
    return { reason: error.reason, words: `answers ${error.message}${remedy}` };
  }
  if (error instanceof StoppedError) {
    if (error.reason === 'timeout') return { reason: 'timeout', words: error.message };
    if (error.reason === 'too-large') return { reason: 'too-large', words: error.message };
    if (error.reason === 'unpackable') return { reason: 'unreadable', words: `answers with ${error.message}` };
    return { reason: 'aborted', words: 'aborted while waiting for the answer' };
  }
  if (error instanceof errors.HTTPParserError) {
    return { reason: 'unreadable', words: 'the server does not speak HTTP: check the base URL' };
  }
  const code = codeOf(error) ?? 'no code';
  return { reason: 'broken-off', words: `connection closed before the complete answer arrived (${code})` };
}
