/** Who decides or approves: the user that runs the command. */
import os from 'node:os';

/** The user and the host, such as `ann@office`. */
export function thisPerson(): string {
  return `${userName()}@${os.hostname()}`;
}

function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown'); // a user without a name
  }
}
