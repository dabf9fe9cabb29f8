/** Makes dist/, the built package: the program in a few files, which load much faster than the sources, and its types. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rename, rm, symlink, utimes } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type BuildOptions, build, type Plugin } from 'esbuild';

const root = path.join(import.meta.dirname, '..');
const sources = path.join(root, 'src');

/** What is run and imported from outside, by the name of its file in dist/. */
const ENTRIES = {
  main: 'src/cli/main.ts',
  workspace: 'src/cli/start-workspace.ts',
  client: 'src/client/typed-client.ts',
};

/** What the program reads from its own folder at run time. */
const ASSETS = /\.(sql|sh|css|svg)$|console\/web\/.*\.js$/;

/**
 * Makes dist/ from the sources as they are now; an earlier one is replaced once the new one is complete. Its types take
 * longer than all else.
 * @throws where a source cannot be read
 */
export async function buildPackage({ hasTypes = true } = {}): Promise<void> {
  const startedAt = new Date();
  const made = path.join(root, `dist-${process.pid}`);
  await mkdir(made);
  try {
    await Promise.all([bundle(made), copyAssets(made), hasTypes && emitTypes(path.join(made, 'types'))]);
    await utimes(path.join(made, 'main.js'), startedAt, startedAt); // a source that changed meanwhile is newer
    await rm(path.join(root, 'dist'), { recursive: true, force: true });
    await rename(made, path.join(root, 'dist'));
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

/** dist/ replaces src/: a module finds its assets under the URL that its source would have there. */
async function bundle(outdir: string): Promise<void> {
  const urlOf = (file: string) => {
    const inSources = path.relative(sources, file).replaceAll(path.sep, '/');
    return `new URL(${JSON.stringify(`./${inSources}`)}, import.meta.url).href`;
  };
  await build({ ...BUNDLE, entryPoints: ENTRIES, outdir, plugins: [ownUrls(urlOf)] });
}

/** Bundles programs that tests and benchmarks start, by their files, into an empty folder; their assets stay beside their sources. */
export async function bundlePrograms(files: readonly string[], outdir: string): Promise<void> {
  await symlink(path.join(root, 'node_modules'), path.join(outdir, 'node_modules'), 'dir');
  const urlOf = (file: string) => JSON.stringify(pathToFileURL(file).href);
  await build({ ...BUNDLE, entryPoints: [...files], outdir, outbase: root, plugins: [ownUrls(urlOf)] });
}

const BUNDLE: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  logLevel: 'warning',
};

/** Gives each source the URL, an expression, that `urlOf` says: in a bundle `import.meta.url` is that of the bundle. */
function ownUrls(urlOf: (file: string) => string): Plugin {
  return {
    name: 'own-urls',
    setup({ onLoad }) {
      onLoad({ filter: /\.tsx?$/ }, async ({ path: file }) => {
        const text = await readFile(file, 'utf8');
        return { contents: text.replaceAll('import.meta.url', urlOf(file)), loader: file.endsWith('x') ? 'tsx' : 'ts' };
      });
    },
  };
}

async function copyAssets(outdir: string): Promise<void> {
  const files = (await readdir(sources, { recursive: true })).filter((file) => ASSETS.test(file));
  await Promise.all(files.map((file) => cp(path.join(sources, file), path.join(outdir, file))));
}

/** Errors are for `npm run types` to find. */
async function emitTypes(outDir: string): Promise<void> {
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  // Several checkers would each infer the types that files share.
  const emit = ['--project', 'tsconfig.types.json', '--outDir', outDir, '--checkers', '1'];
  await promisify(execFile)(process.execPath, [tsc, ...emit], { cwd: root });
}

/** Adds the types to a dist/ without them. */
export async function addTypes(): Promise<void> {
  const made = path.join(root, `dist-types-${process.pid}`);
  await emitTypes(made);
  await rename(made, path.join(root, 'dist/types'));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildPackage();
