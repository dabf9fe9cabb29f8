// Runs a TypeScript file: Node's own type stripping where this Node has it (22.18+), tsx's loader otherwise.
//   node src/cli/run-ts.mjs FILE [ARGS…]
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import './small-heap.mjs';

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
