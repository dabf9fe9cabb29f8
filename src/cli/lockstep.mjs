#!/usr/bin/env node
import { enableTypeScript } from './run-ts.mjs';

await enableTypeScript();
const { main } = await import('./main.ts');
await main(process.argv.slice(2));
