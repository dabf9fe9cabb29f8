// Runs a TypeScript file with Node's own type stripping if this Node has it (22.18+), otherwise with tsx's loader.
//   node src/cli/run-ts.mjs FILE [ARGS…]
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import './bin/small-heap.mjs';

/** Makes `import('….ts')` work in this process. */
export async function enableTypeScript() {
  if (process.features.typescript) return;
  const { register } = await import('tsx/esm/api');
  register();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const file = path.resolve(process.argv[2] ?? '');
  process.argv.splice(1, 2, file); // as if Node had been given the file itself
  await enableTypeScript();
  await import(pathToFileURL(file).href);
}
