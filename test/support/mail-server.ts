/** A real SMTP server on loopback that keeps the e-mails it accepts. */
import { once } from 'node:events';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { CERTIFICATE } from './certificate.ts';

export const MAIL_USER = { user: 'lockstep', password: 'the-password-of-the-mail-user' };

export interface MailServer {
  readonly port: number;
  /** The e-mails as sent, with their headers. */
  readonly mails: readonly string[];
  close(): Promise<void>;
}

/** It asks for a user, also without TLS, unless `options` say otherwise. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: string[] = [];
  const server = new SMTPServer({
    ...CERTIFICATE,
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, done) {
      const isRight = username === MAIL_USER.user && password === MAIL_USER.password;
      // As careless servers do, it repeats the password.
      done(isRight ? null : new Error(`wrong password ${password}`), { user: username });
    },
    onData(stream, _session, done) {
      let text = '';
      stream.on('data', (bytes) => {
        text += bytes;
      });
      stream.on('end', () => {
        mails.push(text);
        done(null);
      });
    },
    ...options,
  });
  server.on('error', () => undefined); // connections that clients break off
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('the mail server has no port');
  return { port: address.port, mails, close: () => new Promise((resolve) => server.close(() => resolve())) };
}
