/** Runs the command from its sources, built or not: `npm run dev -- runs`. */
import { main } from '../src/cli/main.ts';

await main(process.argv.slice(2));
