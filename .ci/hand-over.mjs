// Hands this process over to another program: its input and output, its signals, its exit code.
import { spawn } from 'node:child_process';

/** Runs `file` with this Node. This process ends with the same exit code or signal. */
export function handOver(file, args, options = {}) {
  const child = spawn(process.execPath, [file, ...args], { stdio: 'inherit', ...options });
  // A terminal sends SIGINT to both processes; a signal to this process alone is passed on to the program.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(name, () => {
      if (!(name === 'SIGINT' && process.stdin.isTTY)) child.kill(name);
    });
  }
  child.once('error', (error) => {
    process.stderr.write(`${file} cannot be started: ${error.message}\n`);
    process.exit(3);
  });
  child.once('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 3);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
