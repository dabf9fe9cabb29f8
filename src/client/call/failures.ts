/**
 * Why an exchange gave no complete answer, with what to do next. Pure. Messages of undici and the system are not passed
 * on: they differ between versions and may contain addresses.
 */
import { errors } from 'undici';
import { codeOf, messageOf } from '../../base/errors.ts';
import { StoppedError } from '../http/exchange.ts';
import { ListProblem } from '../lists/list-stream.ts';
import type { NotSentReason, UnknownReason } from './outcome.ts';

const OTHER_HOST = 'it is for another host name: check the host in the address';
const UNKNOWN_AUTHORITY =
  'its authority is not known here: set NODE_EXTRA_CA_CERTS to the file of that authority, or of the certificate if it is self-signed';

const CERTIFICATE_WORDS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'it has expired: renew it at the server, and check the clock of this machine',
  CERT_NOT_YET_VALID: 'it is not valid yet: check the clock of this machine, and the certificate of the server',
  CERT_REVOKED: 'it was revoked: renew it at the server',
  CERT_SIGNATURE_FAILURE: 'its signature is wrong: renew it at the server',
  CERT_UNTRUSTED: UNKNOWN_AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  ERR_TLS_CERT_ALTNAME_INVALID: OTHER_HOST,
  HOSTNAME_MISMATCH: OTHER_HOST,
  INVALID_CA: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
};

/** What OpenSSL says about bytes that are not TLS, in a code (with `_`) or in the message of an EPROTO. */
const NOT_TLS = /wrong.version.number|packet.length.too.long|http.request|unknown.protocol/i;

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

/** Why a certificate is not accepted, with what to do; undefined for any other error. */
export function certificateProblem(error: unknown): string | undefined {
  return CERTIFICATE_WORDS[codeOf(error) ?? ''];
}

/** Nothing was sent. */
export function whyNotSent(error: unknown): { reason: NotSentReason; words: string } {
  if (error instanceof StoppedError) {
    if (error.reason === 'deadline') return { reason: 'deadline', words: 'not sent: its send deadline has passed' };
    if (error.reason === 'aborted') return { reason: 'aborted', words: 'not sent: aborted' };
    return { reason: 'unreachable', words: 'connection timed out' };
  }
  const code = codeOf(error) ?? 'no code';
  const certificate = certificateProblem(error);
  if (certificate !== undefined) {
    return { reason: 'certificate', words: `the server’s certificate is not accepted (${code}): ${certificate}` };
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
    const words = NOT_TLS.test(`${code} ${messageOf(error)}`)
      ? `the server does not speak TLS (${code}): check whether the base URL should begin with http://`
      : `the TLS handshake failed (${code}): check that the server supports TLS 1.2 or later, and which certificates it asks for`;
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
