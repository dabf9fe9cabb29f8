/** A package registry on loopback that knows exactly the packages that are installed here: what a user gets from npm, offline. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

const root = path.join(import.meta.dirname, '../..');

export interface LocalRegistry {
  readonly url: string;
  close(): void;
}

/** One package as package-lock.json describes it, with what npm needs to choose and to link it. */
type Locked = { readonly version: string } & Readonly<Record<string, unknown>>;

export async function startRegistry(): Promise<LocalRegistry> {
  const lock = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8'));
  const folders = Object.entries<Locked>(lock.packages).filter(([folder]) => folder !== '');
  let url = '';
  const server = createServer((request, response) => {
    const [, tarballOf] = /^\/-tarball\/(.+)$/.exec(request.url ?? '') ?? [];
    if (tarballOf !== undefined) {
      const folder = decodeURIComponent(tarballOf);
      const { dir, base } = path.parse(path.join(root, folder));
      spawn('tar', ['-c', '--exclude', `${base}/node_modules`, '-C', dir, base]).stdout.pipe(response);
      return;
    }
    const name = decodeURIComponent((request.url ?? '').slice(1));
    const found = folders.filter(([folder]) => folder.endsWith(`node_modules/${name}`));
    const versions = found.map(([folder, { resolved: _, integrity: __, ...described }]) => {
      const tarball = `${url}/-tarball/${encodeURIComponent(folder)}`;
      return [described.version, { name, ...described, dist: { tarball } }] as const;
    });
    response.statusCode = versions.length > 0 ? 200 : 404;
    const latest = versions[0]?.[0];
    response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(versions) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // as: a server that listens on TCP has such an address
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, close: () => server.close() };
}
