#!/usr/bin/env node
// Runs the built command. In a checkout that is not built, or if a source is newer than the build, it runs the sources.
import { isBuilt } from './is-built.mjs';
import './navigator.mjs';

const { main } = await (isBuilt() ? import('../../../dist/main.js') : importSources());
await main(process.argv.slice(2));

async function importSources() {
  const { enableTypeScript } = await import('../run-ts.mjs');
  await enableTypeScript();
  return import('../main.ts');
}
