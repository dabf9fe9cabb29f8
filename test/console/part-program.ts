/** Prints a part of a page. */
import { Command } from '../../src/console/parts/parts.tsx';

process.stdout.write(String(Command({ line: 'runs show <b>' })));
