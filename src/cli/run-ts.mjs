// Runs a TypeScript file with the loader of tsx: Node's own type stripping does not read .tsx files.
//   node src/cli/run-ts.mjs FILE [ARGS…]
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import './bin/small-heap.mjs';

/** Makes `import('….ts')` work in this process. */
export async function enableTypeScript() {
  const { register } = await import('tsx/esm/api');
  // Not that of the directory from which the command is started: .tsx files need the options of this one.
  register({ tsconfig: fileURLToPath(new URL('../../tsconfig.json', import.meta.url)) });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const file = path.resolve(process.argv[2] ?? '');
  process.argv.splice(1, 2, file); // as if Node had been given the file itself
  await enableTypeScript();
  await import(pathToFileURL(file).href);
}
